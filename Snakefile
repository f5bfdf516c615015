# Targets and includes only; rules live by topic in workflow/rules.
configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/leaderboard.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        [f"{plan.folder}/manifest.json" for plan in STUDY.present],
        [f"{run.snapshot}/seal.json" for run in STUDY.benchmarks],
        f"{S}/manifests/leaderboard.json",
        expand(f"{S}/manifests/plot_{{figure}}.json", figure=FIGURES),
        [f"{S}/manifests/evaluation.json", f"{S}/report/evaluation.html"]
        if CYCLES
        else [],
        f"{S}/manifests/report.json",
        f"{S}/report/index.html",
