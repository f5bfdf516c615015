# The bare floor of benchmarks/dag.py: as many rules, jobs, inputs, outputs and parameters of the
# same length as the workflow makes for a study, with a log, a benchmark, resources, an environment
# and a message each, and no logic: no function, no check, no import.
MODELS, BENCHMARKS = config["models"], config["benchmarks"]
SHARDS = expand("records/{m}/{b}/run/manifest.json", m=MODELS, b=BENCHMARKS)
SEALS = expand("snapshots/{b}/all/seal.json", b=BENCHMARKS)
PLOTS = expand("plots/{figure}.json", figure=config["figures"])
TABLES = expand(
    "tables/{table}.{kind}", table=config["tables"], kind=["csv", "parquet"]
)
ITEMS, WEIGHTS = "sources/{b}.json", "models/{m}.json"
SNAPSHOT = [
    f"snapshots/{{b}}/all/{name}" for name in ("items", "manifest", "seal.json")
]
RECORDS = [
    f"records/{{m}}/{{b}}/run/{name}" for name in ("lines", "prompts", "manifest.json")
]
OWN = [f"records/{{m}}/{b}/run/manifest.json" for b in BENCHMARKS]
#: Of each cycle: the step, what it reads, and what it writes.
STEPS = {
    "normalize": (OWN, ["records", "inputs", "normalize.json"]),
    "diagnose": (["normalize.json"], ["diagnosis", "diagnose.json"]),
    "propose": (["diagnosis", "diagnose.json"], ["proposed", "propose.json"]),
    "compare": (
        ["proposed", "normalize.json", "propose.json"],
        ["compared", "compare.json"],
    ),
    "decide": (
        ["normalize.json", "diagnose.json", "propose.json", "compare.json"],
        ["report", "markdown", "hypotheses", "prompt", "decide.json"],
    ),
}
#: Rule → what it reads, what it writes, parameters beside its specification, lists included.
RULES = {
    "fetch_items": ([], [ITEMS], ["digest", ""]),
    "build_snapshot": ([ITEMS], SNAPSHOT, ["digest", "folder"]),
    "fetch_model": ([], [WEIGHTS], ["digest", ""]),
    "collect": ([SNAPSHOT[2], WEIGHTS], RECORDS, ["digest", "auto", "", 0]),
    "analyze": (
        SHARDS,
        [*TABLES, "numbers", "analysis.json"],
        ["digest", "folder", SHARDS],
    ),
    "report": (
        ["analysis.json", *PLOTS, *SHARDS],
        ["index", "report.json"],
        ["digest", "folder", "out", SHARDS],
    ),
    "evaluation": (
        expand("cycles/{m}/decide.json", m=MODELS),
        ["page", "evaluation.json"],
        ["digest", expand("cycles/{m}", m=MODELS), []],
    ),
}
for FIGURE in config["figures"]:
    written = [f"plots/{FIGURE}.{kind}" for kind in ("pdf", "png", "json")]
    RULES[FIGURE] = (["analysis.json"], written, ["digest", "tables"])
for STEP, (read, written) in STEPS.items():
    read = read if read is OWN else [f"cycles/{{m}}/{name}" for name in read]
    written = [f"cycles/{{m}}/{name}" for name in written]
    RULES[STEP] = (read, written, ["digest", "records"])


rule all:
    input:
        SHARDS,
        SEALS,
        PLOTS,
        "analysis.json",
        "evaluation.json",
        "report.json",


for RULE, (read, written, beside) in RULES.items():
    wild = [name for name in ("m", "b") if f"{{{name}}}" in written[0]]
    label = ".".join([RULE, *(f"{{{name}}}" for name in wild)])
    about = " ".join([RULE, *(f"{{wildcards.{name}}}" for name in wild)])

    rule:
        name:
            RULE
        input:
            "benchmarks/script.py",
            read,
        output:
            written,
        log:
            f"logs/{label}.log",
        benchmark:
            f"benchmarks/{label}.tsv"
        conda:
            "environment.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            beside,
            spec="x" * config["spec"].get(RULE, config["spec"]["other"]),
        message:
            about
        shell:
            "true {input} {output} {threads} {resources.runtime} {params} > {log}"
