"""`assay export`: shards in another project's layout."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from assay.core.errors import AssayError
from assay.export import read_cells, write_every_eval_ever, write_lm_eval, write_released

Layout = Literal["released", "every_eval_ever", "lm_eval"]


def export_shards(
    layout: Layout, sources: Sequence[Path], out: Path, *, extractor: str, allow_missing: bool
) -> list[Path]:
    """Write the shards below `sources` to `out` and return the files.

    Two of the layouts hold a time. It is ``$SOURCE_DATE_EPOCH`` where that is set, so that an
    export can be repeated byte for byte, and now otherwise.

    Raises
    ------
    AssayError
        If `out` already holds something, or the shards are refused (see `read_cells`).
    """
    if out.exists() and any(out.iterdir()):
        raise AssayError(
            "this folder already holds something.", where=out, fix="name a new or empty one."
        )
    cells = read_cells(sources, extractor=extractor, allow_missing=allow_missing)
    if layout == "released":
        return write_released(cells, out)
    created = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    write = write_every_eval_ever if layout == "every_eval_ever" else write_lm_eval
    return write(cells, out, created=created)
