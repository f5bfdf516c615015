"""From what a model wrote to the label it meant, or to the reason why there is none."""

from assay.extraction.extractors import EXTRACTORS, extract
from assay.extraction.result import Extraction, Status

__all__ = ["EXTRACTORS", "Extraction", "Status", "extract"]
