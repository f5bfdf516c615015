"""Shards in the layouts that other projects read."""

from assay.export.cells import read_cells
from assay.export.every_eval_ever import write_every_eval_ever
from assay.export.lm_eval import write_lm_eval
from assay.export.released import write_released

__all__ = ["read_cells", "write_every_eval_ever", "write_lm_eval", "write_released"]
