# From runs to decisions, one cycle of the evaluation core after the other; every rule is a step of
# `assay.evaluation.run_cycle`, so that the command line and the workflow say the same.
rule normalize:
    input:
        script="scripts/normalize.py",
        files=cycle_files,
    output:
        records=f"{E}/records.jsonl",
        inputs=f"{E}/inputs.json",
        seal=step_seal("normalize"),
    log:
        f"results/logs/normalize/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/normalize/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        spec=cycle_spec,
        code=code("normalize.py"),
    message:
        "Reading the runs of cycle {wildcards.cycle}"
    shell:
        "python {input.script} --records {output.records:q} --inputs {output.inputs:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule diagnose_capabilities:
    input:
        script="scripts/diagnose_capabilities.py",
        normalized=step_seal("normalize"),
    output:
        diagnosis=f"{E}/diagnosis.json",
        seal=step_seal("diagnose_capabilities"),
    log:
        f"results/logs/diagnose_capabilities/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/diagnose_capabilities/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        records=f"{E}/records.jsonl",
        spec=cycle_spec,
        code=code("diagnose_capabilities.py"),
    message:
        "Diagnosing the baseline of {wildcards.cycle}"
    shell:
        "python {input.script} --records {params.records:q} --out {output.diagnosis:q}"
        " --verify {input.normalized:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule propose_hypotheses:
    input:
        script="scripts/propose_hypotheses.py",
        diagnosis=f"{E}/diagnosis.json",
        diagnosed=step_seal("diagnose_capabilities"),
    output:
        hypotheses=f"{E}/proposed.json",
        seal=step_seal("propose_hypotheses"),
    log:
        f"results/logs/propose_hypotheses/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/propose_hypotheses/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        spec=cycle_spec,
        code=code("propose_hypotheses.py"),
    message:
        "Proposing what might help {wildcards.cycle}"
    shell:
        "python {input.script} --diagnosis {input.diagnosis:q} --out {output.hypotheses:q}"
        " --verify {input.diagnosed:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule compare_experiment:
    input:
        script="scripts/compare_experiment.py",
        hypotheses=f"{E}/proposed.json",
        normalized=step_seal("normalize"),
        proposed=step_seal("propose_hypotheses"),
    output:
        comparisons=f"{E}/comparisons.json",
        seal=step_seal("compare_experiment"),
    log:
        f"results/logs/compare_experiment/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/compare_experiment/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        records=f"{E}/records.jsonl",
        spec=cycle_spec,
        code=code("compare_experiment.py"),
    message:
        "Comparing the candidates of {wildcards.cycle}"
    shell:
        "python {input.script} --records {params.records:q} --hypotheses {input.hypotheses:q}"
        " --out {output.comparisons:q} --verify {input.normalized:q} {input.proposed:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule decide:
    input:
        script="scripts/decide.py",
        normalized=step_seal("normalize"),
        diagnosed=step_seal("diagnose_capabilities"),
        proposed=step_seal("propose_hypotheses"),
        compared=step_seal("compare_experiment"),
    output:
        report=f"{E}/cycle-report.json",
        markdown=f"{E}/cycle-report.md",
        hypotheses=f"{E}/hypotheses.json",
        prompt=f"{E}/llm-analysis-prompt.txt",
        seal=step_seal("decide"),
    log:
        f"results/logs/decide/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/decide/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        folder=lambda w, output: str(Path(output.report).parent),
        spec=cycle_spec,
        code=code("decide.py"),
    message:
        "Deciding on the candidates of {wildcards.cycle}"
    shell:
        "python {input.script} --results {params.folder:q}"
        " --out {params.folder:q}"
        " --verify {input.normalized:q} {input.diagnosed:q} {input.proposed:q} {input.compared:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule a_a:
    input:
        script="scripts/a_a.py",
        normalized=step_seal("normalize"),
    output:
        rates=f"{E}/equal-arms.json",
        seal=step_seal("a_a"),
    log:
        f"results/logs/a_a/{STUDY.name}.{{cycle}}.log",
    benchmark:
        f"results/benchmarks/a_a/{STUDY.name}.{{cycle}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        records=f"{E}/records.jsonl",
        spec=cycle_spec,
        code=code("a_a.py"),
    message:
        "Trying the decisions of {wildcards.cycle} on equal arms"
    shell:
        "python {input.script} --records {params.records:q} --out {output.rates:q}"
        " --verify {input.normalized:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"


rule build_evaluation:
    input:
        script="scripts/build_evaluation.py",
        decided=expand(f"{S}/manifests/decide.{{cycle}}.json", cycle=CYCLES),
        tried=expand(f"{S}/manifests/a_a.{{cycle}}.json", cycle=EQUAL),
    output:
        page=report(
            f"{S}/report/evaluation.html",
            category="Report",
            caption="../report/evaluation.rst",
        ),
        seal=f"{S}/manifests/evaluation.json",
    log:
        f"results/logs/build_evaluation/{STUDY.name}.log",
    benchmark:
        f"results/benchmarks/build_evaluation/{STUDY.name}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        reports=[f"{S}/evaluation/{name}" for name in CYCLES],
        equal=[f"{S}/evaluation/{name}/equal-arms.json" for name in EQUAL],
        spec=STUDY.evaluation_parameters,
        code=code("build_evaluation.py"),
    message:
        "Writing the evaluation page"
    shell:
        "python {input.script} --reports {params.reports:q} --equal {params.equal:q}"
        " --out {output.page:q} --verify {input.decided:q} {input.tried:q}"
        " --seal {output.seal:q} --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"
