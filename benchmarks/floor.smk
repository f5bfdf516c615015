# The bare floor of benchmarks/dag.py: the same files in the same number of jobs as the workflow
# makes for a study, with a log, a benchmark, resources, parameters, an environment and a message
# each, and no logic.
MODELS = [f"m{k:03d}" for k in range(config["models"])]
BENCHMARKS = [f"b{k:02d}" for k in range(config["benchmarks"])]
FIGURES = [f"figure{k}" for k in range(config["figures"])]
TABLES = [f"table{k}" for k in range(config["tables"])]
STEPS = ["normalize", "diagnose", "propose", "compare", "decide"]
SPEC = "x" * config["spec"]
SHARDS = expand(
    "records/{model}/{benchmark}/run/manifest.json", model=MODELS, benchmark=BENCHMARKS
)


rule all:
    input:
        SHARDS,
        expand("snapshots/{benchmark}/all/seal.json", benchmark=BENCHMARKS),
        expand("figures/{figure}.json", figure=FIGURES),
        "tables.json",
        "evaluation.json",
        "report.json",


rule fetch_items:
    output:
        "sources/benchmarks/{benchmark}.json",
    log:
        "logs/fetch_items/{benchmark}.log",
    benchmark:
        "benchmarks/fetch_items/{benchmark}.tsv"
    conda:
        "../envs/hf.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=SPEC,
        code="digest",
    message:
        "Fetching {wildcards.benchmark}"
    shell:
        "true {params.spec} {params.code} {output}"


rule build_snapshot:
    input:
        "sources/benchmarks/{benchmark}.json",
    output:
        "snapshots/{benchmark}/all/items.jsonl",
        "snapshots/{benchmark}/all/manifest.json",
        "snapshots/{benchmark}/all/seal.json",
    log:
        "logs/build_snapshot/{benchmark}.log",
    benchmark:
        "benchmarks/build_snapshot/{benchmark}.tsv"
    conda:
        "../envs/hf.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=SPEC,
        code="digest",
    message:
        "Freezing {wildcards.benchmark}"
    shell:
        "true {params.spec} {params.code} {output}"


rule fetch_model:
    output:
        "sources/models/{model}.json",
    log:
        "logs/fetch_model/{model}.log",
    benchmark:
        "benchmarks/fetch_model/{model}.tsv"
    conda:
        "../envs/hf.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=SPEC,
        code="digest",
    message:
        "Fetching {wildcards.model}"
    shell:
        "true {params.spec} {params.code} {output}"


rule collect:
    input:
        "snapshots/{benchmark}/all/seal.json",
        "sources/models/{model}.json",
    output:
        "records/{model}/{benchmark}/run/records.jsonl",
        "records/{model}/{benchmark}/run/prompts.parquet",
        "records/{model}/{benchmark}/run/manifest.json",
    log:
        "logs/collect/{model}.{benchmark}.log",
    benchmark:
        "benchmarks/collect/{model}.{benchmark}.tsv"
    conda:
        "../envs/hf.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=SPEC,
        code="digest",
    message:
        "Asking {wildcards.model} {wildcards.benchmark}"
    shell:
        "true {params.spec} {params.code} {output}"


rule analyze:
    input:
        SHARDS,
    output:
        expand("tables/{table}.csv", table=TABLES),
        "tables.json",
    conda:
        "../envs/hf.yaml"
    params:
        spec=SPEC,
        code="digest",
        shards=SHARDS,
    shell:
        "true {params.spec} {params.code} {output}"


rule plot:
    input:
        "tables.json",
    output:
        "figures/{figure}.pdf",
        "figures/{figure}.png",
        "figures/{figure}.json",
    conda:
        "../envs/hf.yaml"
    params:
        spec=SPEC,
        code="digest",
    shell:
        "true {params.spec} {params.code} {output}"


rule normalize:
    input:
        expand("records/{{model}}/{benchmark}/run/manifest.json", benchmark=BENCHMARKS),
    output:
        "cycles/{model}/normalize.jsonl",
        "cycles/{model}/normalize.json",
    log:
        "logs/normalize/{model}.log",
    benchmark:
        "benchmarks/normalize/{model}.tsv"
    conda:
        "../envs/hf.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=SPEC,
        code="digest",
    message:
        "Reading {wildcards.model}"
    shell:
        "true {params.spec} {params.code} {output}"


for BEFORE, STEP in zip(STEPS, STEPS[1:]):

    rule:
        name:
            STEP
        input:
            f"cycles/{{model}}/{BEFORE}.json",
        output:
            f"cycles/{{model}}/{STEP}.out",
            f"cycles/{{model}}/{STEP}.json",
        log:
            f"logs/{STEP}/{{model}}.log",
        benchmark:
            f"benchmarks/{STEP}/{{model}}.tsv"
        conda:
            "../envs/hf.yaml"
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            spec=SPEC,
            code="digest",
        message:
            "Step for {wildcards.model}"
        shell:
            "true {params.spec} {params.code} {output}"


rule evaluation:
    input:
        expand("cycles/{model}/decide.json", model=MODELS),
    output:
        "evaluation.json",
    conda:
        "../envs/hf.yaml"
    params:
        spec=SPEC,
        code="digest",
    shell:
        "true {params.spec} {params.code} {output}"


rule report:
    input:
        SHARDS,
        "tables.json",
        expand("figures/{figure}.json", figure=FIGURES),
    output:
        "report.json",
    conda:
        "../envs/hf.yaml"
    params:
        spec=SPEC,
        code="digest",
        shards=SHARDS,
    shell:
        "true {params.spec} {params.code} {output}"
