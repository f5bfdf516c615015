"""Readers of other runners' logs, and of our own shards: facts in, records out."""

from __future__ import annotations

from assay.evaluation.adapters.base import Adapter, Options, Reading
from assay.evaluation.adapters.reading import ADAPTERS, read_records, register

__all__ = ["ADAPTERS", "Adapter", "Options", "Reading", "read_records", "register"]
