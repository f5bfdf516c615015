# Fetching needs the network and is local; everything after it works from verified files.
localrules:
    fetch_items,
    fetch_model,
    build_snapshot,


rule fetch_items:
    input:
        script="scripts/fetch_items.py",
        files=item_files,
    output:
        "results/sources/benchmarks/{benchmark}/{selection}.json",
    log:
        "results/logs/fetch_items/{benchmark}.{selection}.log",
    benchmark:
        "results/benchmarks/fetch_items/{benchmark}.{selection}.tsv"
    conda:
        "../../envs/hf.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        spec=lambda w: STUDY.benchmark(w.benchmark).parameters,
        code=code("fetch_items.py"),
        offline=OFFLINE,
    message:
        "Fetching the items of {wildcards.benchmark}"
    shell:
        "python {input.script} --out {output:q} {params.offline}"
        " --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule build_snapshot:
    input:
        script="scripts/build_snapshot.py",
        files=item_files,
        source="results/sources/benchmarks/{benchmark}/{selection}.json",
    output:
        lines="results/snapshots/{benchmark}/{selection}/items.jsonl",
        manifest="results/snapshots/{benchmark}/{selection}/manifest.json",
        seal="results/snapshots/{benchmark}/{selection}/seal.json",
    log:
        "results/logs/build_snapshot/{benchmark}.{selection}.log",
    benchmark:
        "results/benchmarks/build_snapshot/{benchmark}.{selection}.tsv"
    conda:
        "../../envs/hf.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        folder=lambda w, output: str(Path(output.seal).parent),
        spec=lambda w: STUDY.benchmark(w.benchmark).parameters,
        code=code("build_snapshot.py"),
    message:
        "Freezing the items of {wildcards.benchmark}"
    shell:
        "python {input.script} --out {params.folder:q} --seal {output.seal:q}"
        " --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule fetch_model:
    input:
        script="scripts/fetch_model.py",
        files=model_files,
    output:
        "results/sources/models/{model}/{source}.json",
    log:
        "results/logs/fetch_model/{model}.{source}.log",
    benchmark:
        "results/benchmarks/fetch_model/{model}.{source}.tsv"
    conda:
        "../../envs/hf.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        spec=lambda w: STUDY.source_parameters(w.model),
        code=code("fetch_model.py"),
        offline=OFFLINE,
    message:
        "Fetching the weights of {wildcards.model}"
    shell:
        "python {input.script} --out {output:q} {params.offline}"
        " --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"
