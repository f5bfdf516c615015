"""Ask one model one benchmark's items under every configuration of the grid."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.benchmarks.snapshot import read_snapshot
from assay.core.cache import cache_root
from assay.core.command import run_command
from assay.grid.collect import collect
from assay.grid.job import job_of, prompter
from assay.grid.kept import kept_or_loaded
from assay.models.fetch import read_location

OPTIONS = ("out", "code", "reuse_s", "device", "threads", "gpus")


def main(arguments: argparse.Namespace) -> Sequence[Path]:
    """Collect the shard; the journal in its folder makes this resumable."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    snapshot = read_snapshot(arguments.snapshot)
    model = read_location(arguments.model)
    folder = cache_root() / model.folder if model.folder else None
    job = job_of(
        arguments.spec,
        items=snapshot.items,
        pool=snapshot.fewshot,
        snapshot=snapshot.provenance(),
        digests=model.digests,
        code=arguments.code,
    )
    options = {name: getattr(arguments, name) for name in OPTIONS}
    collect(
        job,
        arguments.out,
        prompter(job.spec, folder),
        lambda: kept_or_loaded(arguments.spec, folder, model.digests, **options),
        keep_missing=arguments.keep_missing,
        patience=60.0 * arguments.wait,
    )
    return []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, required=True, help="folder of the snapshot")
    parser.add_argument("--model", type=Path, required=True, help="digest file of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder of the shard")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads")
    parser.add_argument("--keep-missing", action="store_true", help="write failed observations")
    parser.add_argument("--gpus", type=int, help="GPUs granted by the scheduler")
    parser.add_argument("--wait", type=float, default=0, help="minutes for another writer")
    parser.add_argument("--reuse-s", type=float, default=0, help="keep the model loaded")
    sys.exit(run_command(main, parser))
