rule collect:
    input:
        script="scripts/collect.py",
        snapshot=told(lambda w: f"{plan(w).benchmark.snapshot}/seal.json"),
        model=told(lambda w: STUDY.model_sources[w.model]),
    output:
        records=ensure(
            "results/records/{model}/{benchmark}/{run}/records.jsonl", non_empty=True
        ),
        prompts="results/records/{model}/{benchmark}/{run}/prompts.parquet",
        manifest="results/records/{model}/{benchmark}/{run}/manifest.json",
    log:
        "results/logs/collect/{model}.{benchmark}.{run}.log",
    benchmark:
        "results/benchmarks/collect/{model}.{benchmark}.{run}.tsv"
    # One model after the other, so that its weights are read once (and kept: reuse_s).
    priority: told(lambda w: STUDY.priority(w.model))
    conda:
        f"../../envs/{STUDY.collect_environment}.yaml"
    threads: STUDY.config.runtime.threads
    resources:
        gpu=told(lambda w: STUDY.gpus(w.model)),
        mem_mb=told(lambda w: STUDY.model(w.model).memory_mb),
        runtime=STUDY.config.runtime.minutes,
    params:
        spec=told(lambda w: plan(w).parameters),
        code=code("collect.py"),
        device=STUDY.config.runtime.device,
        missing=KEEP_MISSING,
        reuse=STUDY.config.runtime.reuse_s,
    message:
        "Asking {wildcards.model} the items of {wildcards.benchmark} (run {wildcards.run})"
    shell:
        # exec: the scheduler's SIGTERM reaches the collector and not a shell around it. dirname:
        # a function of parameters is called for each of thousands of jobs.
        'exec python {input.script} --snapshot "$(dirname {input.snapshot:q})"'
        ' --out "$(dirname {output.manifest:q})" --verify {input.snapshot:q}'
        " --model {input.model:q} --device {params.device}"
        " --threads {threads} --gpus {resources.gpu} {params.missing}"
        " --wait {resources.runtime} --reuse-s {params.reuse}"
        " --spec {params.spec:q} --code {params.code} > {log:q} 2>&1"
