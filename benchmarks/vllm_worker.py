"""vLLM's own `LLM` on given token prompts and pairs; runs in vLLM's own environment."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Read job.json in `folder`, write found.json."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    cores = sorted(os.sched_getaffinity(0))[: job["threads"]]
    # Unbound, the CPU build takes one core of a small machine and leaves one for itself.
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = ",".join(map(str, cores))
    os.environ["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    os.environ["VLLM_NO_USAGE_STATS"] = "1"
    from vllm import LLM, SamplingParams
    from vllm.inputs import tokens_input

    llm = LLM(
        model=job["folder"],
        dtype=job["dtype"],
        enforce_eager=True,
        block_size=32,  # prompts are short: the CPU build's own 128 never hits its prefix cache
        max_model_len=2048,
        seed=0,
    )

    def ask(prompts: list[list[int]], **settings: Any) -> tuple[list[Any], float]:
        started = time.perf_counter()
        chosen = SamplingParams(temperature=0.0, **settings)
        found = llm.generate([tokens_input(p) for p in prompts], chosen, use_tqdm=False)
        return found, time.perf_counter() - started

    ask([list(range(5, 20))], max_tokens=2)
    names = [name for name, _ in job["prompts"]]
    said, generation = ask([prompt for _, prompt in job["prompts"]], max_tokens=job["new"])
    pairs = job["pairs"]
    sequences = [context + continuation for _, context, continuation in pairs]
    read, scoring = ask(sequences, max_tokens=1, prompt_logprobs=0)
    scores = {
        name: sum(
            output.prompt_logprobs[place][token].logprob
            for place, token in enumerate(continuation, start=len(context))
        )
        for (name, context, continuation), output in zip(pairs, read, strict=True)
    }
    found = {
        "tokens": sum(len(o.prompt_token_ids) - (o.num_cached_tokens or 0) for o in said + read),
        "seconds": [generation, scoring],
        "ids": dict(zip(names, [list(o.outputs[0].token_ids) for o in said], strict=True)),
        "scores": scores,
    }
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
