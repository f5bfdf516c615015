rule build_report:
    input:
        script="scripts/build_report.py",
        leaderboard=f"{S}/manifests/leaderboard.json",
        figures=expand(f"{S}/manifests/plot_{{figure}}.json", figure=FIGURES),
        shards=[f"{plan.folder}/manifest.json" for plan in STUDY.present],
    output:
        index=report(
            f"{S}/report/index.html", category="Report", caption="../report/report.rst"
        ),
        seal=f"{S}/manifests/report.json",
    log:
        f"results/logs/build_report/{STUDY.name}.log",
    benchmark:
        f"results/benchmarks/build_report/{STUDY.name}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        study=lambda w, input: str(Path(input.leaderboard).parents[1]),
        shards=[str(plan.folder) for plan in STUDY.present],
        out=lambda w, output: str(Path(output.index).parent),
        spec=STUDY.report_parameters,
        code=code("build_report.py"),
    message:
        "Writing the report"
    shell:
        "python {input.script} --leaderboard {params.study:q}/leaderboard.json"
        " --tables {params.study:q}/tables --figures {params.study:q}/figures"
        " --out {params.out:q}"
        # printf is a part of the shell: what a program is given may not be so long.
        " @<(printf '%s\\0' --spec {params.spec:q} --shards {params.shards:q})"
        " --verify {input.leaderboard:q} {input.figures:q} --seal {output.seal:q}"
        " --code {params.code} > {log:q} 2>&1"
