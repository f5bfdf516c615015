rule analyze_leaderboard:
    input:
        script="scripts/analyze_leaderboard.py",
        manifests=[f"{plan.folder}/manifest.json" for plan in STUDY.present],
    output:
        report(
            expand(f"{S}/tables/{{table}}.csv", table=TABLES),
            category="Tables",
            caption="../report/tables.rst",
        ),
        expand(f"{S}/tables/{{table}}.parquet", table=TABLES),
        numbers=f"{S}/leaderboard.json",
        seal=f"{S}/manifests/leaderboard.json",
    log:
        f"results/logs/analyze_leaderboard/{STUDY.name}.log",
    benchmark:
        f"results/benchmarks/analyze_leaderboard/{STUDY.name}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        shards=[str(plan.folder) for plan in STUDY.present],
        folder=lambda w, output: str(Path(output.numbers).parent),
        spec=STUDY.analysis_parameters,
        code=code("analyze_leaderboard.py"),
    message:
        "Analysing {STUDY.name}"
    shell:
        # printf is a part of the shell: what a program is given may not be so long.
        "python {input.script} --out {params.folder:q} --seal {output.seal:q}"
        " @<(printf '%s\\0' --spec {params.spec:q} --shards {params.shards:q})"
        " --code {params.code} > {log:q} 2>&1"
