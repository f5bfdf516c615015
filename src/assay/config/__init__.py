"""Floor 9: the typed configuration that the Snakefile and the command line share.

Importing it takes a fraction of a second and pulls neither torch nor pandas: the Snakefile is
parsed anew in every cluster job.
"""

from assay.config.closure import code_digest
from assay.config.names import FIGURES, TABLES
from assay.config.resolve import load_study, resolve
from assay.config.study import Study, local_files

__all__ = [
    "FIGURES",
    "TABLES",
    "Study",
    "code_digest",
    "load_study",
    "local_files",
    "resolve",
]
