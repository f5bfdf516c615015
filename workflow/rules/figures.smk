# One rule a figure: its script is its input, and an edit of the script redraws it alone.
for FIGURE in FIGURES:

    rule:
        name:
            f"plot_{FIGURE}"
        input:
            script=f"scripts/plot_{FIGURE}.py",
            leaderboard=f"{S}/manifests/leaderboard.json",
        output:
            pdf=report(
                f"{S}/figures/{FIGURE}.pdf",
                category="Figures",
                caption=f"../report/{FIGURE}.rst",
                labels={"figure": FIGURE.replace("_", " "), "format": "PDF"},
            ),
            png=report(
                f"{S}/figures/{FIGURE}.png",
                category="Figures",
                caption=f"../report/{FIGURE}.rst",
                labels={"figure": FIGURE.replace("_", " "), "format": "PNG"},
            ),
            seal=f"{S}/manifests/plot_{FIGURE}.json",
        log:
            f"results/logs/plot_{FIGURE}/{STUDY.name}.log",
        benchmark:
            f"results/benchmarks/plot_{FIGURE}/{STUDY.name}.tsv"
        conda:
            "../../envs/analysis.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            tables=f"{S}/tables",
            spec=STUDY.figure_parameters(FIGURE),
            code=code(f"plot_{FIGURE}.py"),
        message:
            f"Drawing {FIGURE}"
        shell:
            "python {input.script} --tables {params.tables:q} --verify {input.leaderboard:q}"
            " --pdf {output.pdf:q} --png {output.png:q} --seal {output.seal:q}"
            " --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"
