"""lm-eval's hf backend on given prompts and token pairs; runs in lm-eval's own environment."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM


def main(folder: Path) -> None:
    """Read job.json in `folder`, write found.json."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    torch.set_num_threads(job["threads"])
    lm = HFLM(
        pretrained=job["folder"],
        device="cpu",
        dtype=job["dtype"],
        batch_size=job["batch"],
        add_bos_token=False,
    )
    prompt_tokens = 0

    def count(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        nonlocal prompt_tokens
        ids = named.get("input_ids", positional[0] if positional else None)
        if ids is not None and ids.shape[1] > 1:  # a decoding step is no prompt
            prompt_tokens += ids.numel()

    lm.model.register_forward_pre_hook(count, with_kwargs=True)
    started = time.perf_counter()
    settings = {"until": [], "max_gen_toks": job["new"], "do_sample": False}
    instances = [
        Instance("generate_until", {}, (prompt, dict(settings)), index)
        for index, (_, prompt) in enumerate(job["prompts"])
    ]
    texts = lm.generate_until(instances, disable_tqdm=True)
    middle = time.perf_counter()
    pairs = [(("", ""), context, continuation) for _, context, continuation in job["pairs"]]
    sums = lm._loglikelihood_tokens(pairs, disable_tqdm=True)
    ended = time.perf_counter()
    found = {
        "tokens": prompt_tokens,
        "seconds": [middle - started, ended - middle],
        "texts": dict(zip([name for name, _ in job["prompts"]], texts, strict=True)),
        "scores": dict(zip([p[0] for p in job["pairs"]], [s for s, _ in sums], strict=True)),
    }
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
