"""Read any runner's logs: the adapter is named, or found by looking at the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import EvaluationError
from assay.core.validation import validated
from assay.evaluation.adapters.attempts import Attempts
from assay.evaluation.adapters.base import Adapter, Options, Reading
from assay.evaluation.adapters.claude_code import ClaudeCode
from assay.evaluation.adapters.codex import Codex
from assay.evaluation.adapters.harbor import Harbor
from assay.evaluation.adapters.helm import Helm
from assay.evaluation.adapters.inspect_log import InspectLog
from assay.evaluation.adapters.lighteval import Lighteval
from assay.evaluation.adapters.lm_eval import LmEval
from assay.evaluation.adapters.openai_evals import OpenAIEvals
from assay.evaluation.adapters.plain import PlainRecords
from assay.evaluation.adapters.sessions import RuntimeTraces
from assay.evaluation.adapters.shards import Shards
from assay.evaluation.adapters.swe_bench import SweBench
from assay.evaluation.adapters.terminal_bench import TerminalBench
from assay.evaluation.record import EvaluationRecord
from assay.evaluation.taxonomy import Taxonomy

#: Name → adapter, in the order in which files are shown to them.
ADAPTERS: dict[str, Adapter] = {}


def register(adapter: Adapter) -> Adapter:
    """Add an adapter under its name; it is asked before the ones that are there.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    if adapter.name in ADAPTERS:
        raise ValueError(f"there is an adapter {adapter.name!r} already.")
    others = dict(ADAPTERS)
    ADAPTERS.clear()
    ADAPTERS.update({adapter.name: adapter}, **others)
    return adapter


for _adapter in reversed(
    (
        Shards(),
        Harbor(),
        TerminalBench(),
        LmEval(),
        InspectLog(),
        Helm(),
        Lighteval(),
        OpenAIEvals(),
        SweBench(),
        PlainRecords(),
        Codex(),
        ClaudeCode(),
        RuntimeTraces(),
    )
):
    register(_adapter)


def read_records(
    paths: Path | Sequence[Path],
    *,
    adapter: str | None = None,
    options: Options | Mapping[str, Any] | None = None,
    taxonomy: Taxonomy | None = None,
    keep_going: bool = False,
    reading: Reading | None = None,
) -> Iterator[EvaluationRecord]:
    """Yield the records of runs, one by one.

    Parameters
    ----------
    paths : Path or sequence of Path
        Files or folders, each the run of one runner.
    adapter : str, optional
        One of `ADAPTERS`; found by looking at the files where it is left out.
    options : Options or mapping, optional
        How the runs are read.
    taxonomy : Taxonomy, optional
        Labels the records.
    keep_going : bool
        Count what cannot be used, instead of stopping at it.
    reading : Reading, optional
        Filled with what was refused and what is missing; then `options` and `keep_going` are its.

    Yields
    ------
    EvaluationRecord

    Raises
    ------
    EvaluationError
        If there is no such file or adapter, no adapter knows the files, or one is not what its
        runner writes.
    ConfigError
        If an option is unknown or wrong.
    """
    how = reading or Reading(_options(options), keep_going)
    attempts = Attempts()
    for path in (paths,) if isinstance(paths, Path) else paths:
        found = find_adapter(path, adapter).read(path, how)
        attempts.follow()
        for record in _numbered(found, attempts, str(path), how):
            yield record if taxonomy is None else taxonomy.label(record)


def _numbered(
    records: Iterator[EvaluationRecord], attempts: Attempts, where: str, reading: Reading
) -> Iterator[EvaluationRecord]:
    # A file that cannot be used as a whole is one more part of the run.
    with reading.part():
        for record in records:
            with reading.part():
                yield attempts.numbered(record, where)


def _options(given: Options | Mapping[str, Any] | None) -> Options:
    if isinstance(given, Options):
        return given
    return validated(Options, dict(given or {}), where="options")


def find_adapter(path: Path, name: str | None = None) -> Adapter:
    """Return the adapter that is named, or the first that knows the files.

    Raises
    ------
    EvaluationError
        If there is no such file or adapter, or no adapter knows the files.
    """
    if not path.exists():
        raise EvaluationError("there is no such file or folder.", where=path)
    if name is not None:
        if name not in ADAPTERS:
            raise EvaluationError(
                f"there is no adapter {name!r}.", fix=f"use one of {', '.join(ADAPTERS)}."
            )
        return ADAPTERS[name]
    for adapter in ADAPTERS.values():
        if adapter.sniff(path):
            return adapter
    raise EvaluationError(
        "no adapter knows these files.",
        where=path,
        fix=f"name one: {', '.join(ADAPTERS)}.",
    )
