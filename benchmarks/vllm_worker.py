"""vLLM's own `LLM` on given token prompts and pairs; runs in vLLM's own environment."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def start(job: dict[str, Any]) -> Any:
    """Return an `LLM` with its own settings, on as many cores as the others get threads."""
    cores = sorted(os.sched_getaffinity(0))[: job["threads"]]
    # Unbound, the CPU build takes one core of a small machine and leaves one for itself.
    os.environ["VLLM_CPU_OMP_THREADS_BIND"] = ",".join(map(str, cores))
    os.environ["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    os.environ["VLLM_NO_USAGE_STATS"] = "1"
    from vllm import LLM

    return LLM(
        model=job["folder"],
        dtype=job["dtype"],
        enforce_eager=True,
        block_size=32,  # prompts are short: the CPU build's own 128 never hits its prefix cache
        max_model_len=2048,
        seed=0,
    )


def ask(llm: Any, prompts: list[list[int]], **settings: Any) -> tuple[list[Any], float]:
    """Hand over all prompts at once; return the outputs in their order, and the seconds."""
    from vllm import SamplingParams
    from vllm.inputs import tokens_input

    started = time.perf_counter()
    chosen = SamplingParams(temperature=0.0, **settings)
    found = llm.generate([tokens_input(prompt) for prompt in prompts], chosen, use_tqdm=False)
    return found, time.perf_counter() - started


def score(output: Any, context: list[int], continuation: list[int]) -> float:
    """Return the sum of the log-probabilities of the tokens after `context`."""
    return sum(
        output.prompt_logprobs[place][token].logprob
        for place, token in enumerate(continuation, start=len(context))
    )


def main(folder: Path) -> None:
    """Read job.json in `folder`, write found.json."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    llm = start(job)
    ask(llm, [list(range(5, 20))], max_tokens=2)
    prompts, pairs = job["prompts"], job["pairs"]
    said, generation = ask(llm, [prompt for _, prompt in prompts], max_tokens=job["new"])
    sequences = [context + continuation for _, context, continuation in pairs]
    read, scoring = ask(llm, sequences, max_tokens=1, prompt_logprobs=0)
    found = {
        "tokens": sum(len(o.prompt_token_ids) - (o.num_cached_tokens or 0) for o in said + read),
        "seconds": [generation, scoring],
        "ids": {p[0]: list(o.outputs[0].token_ids) for p, o in zip(prompts, said, strict=True)},
        "scores": {p[0]: score(o, *p[1:]) for p, o in zip(pairs, read, strict=True)},
    }
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
