"""Errors that say what happened, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path


class AssayError(Exception):
    """Base of every error that a user can cause or mend.

    Parameters
    ----------
    what : str
        What is wrong, in one sentence.
    where : str or Path, optional
        The file (``file:line``), item id or configuration key it concerns.
    fix : str, optional
        What the user can do about it.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, fix: str | None = None):
        self.what = what
        self.where = None if where is None else str(where)
        self.fix = fix
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" Fix: {self.fix}" if self.fix else ""
        return f"{place}{self.what}{advice}"


class ConfigError(AssayError):
    """A configuration value is unknown, of the wrong type or contradictory."""


class SourceError(AssayError):
    """A pinned source (wheel, hub, file) is missing, altered or not pinned."""


class SnapshotError(AssayError):
    """Benchmark items are malformed, or a snapshot is not what its manifest says."""


class RecordError(AssayError):
    """A journal, shard or manifest is torn, altered or incomplete."""


class ModelError(AssayError):
    """A model cannot be loaded, rendered for, or asked."""


class EvaluationError(AssayError):
    """A log, taxonomy, policy or manifest of the evaluation core cannot be used as it is."""


class AnalysisError(AssayError):
    """The records at hand do not allow the analysis that was asked for."""
