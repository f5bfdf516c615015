"""Collect one shard: ask a model every item under every configuration, once.

The journal beside the shard is consulted before any weight is loaded; what it holds is not asked
again. The batch plan is a pure function of the whole shard, and a resumed job repeats whole planned
batches, so that on one machine a killed and resumed run gives the same bytes as an undisturbed one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.benchmarks.item import Item
from assay.core.capability import require
from assay.core.errors import ModelError
from assay.core.files import read_jsonl, write_jsonl
from assay.core.model import Batch, Model, Outcome
from assay.core.termination import Termination
from assay.grid.answers import entry_of, observation
from assay.grid.consumers import needed
from assay.grid.job import Job
from assay.grid.progress import Progress
from assay.grid.questions import Question, Questioner, requests_of
from assay.models.words import Prompter
from assay.records.journal import Journal
from assay.records.manifest import Manifest
from assay.records.schema import MISSING, Record
from assay.records.shard import Prompt, write_shard
from assay.records.writer import WriterLease

JOURNAL = "journal.jsonl"
#: What finished executions took, one line each.
EXECUTIONS = "executions.jsonl"


@dataclass
class _Tally:
    """What this execution did, for the manifest."""

    seconds: dict[str, float] = field(default_factory=dict)
    asked: int = 0
    reused: int = 0
    #: Question key → entry of an observation that got no answer this time.
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)

    def timed(self, name: str, since: float) -> None:
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - since, 3)


def collect(
    job: Job,
    folder: Path,
    renderer: Prompter,
    load: Callable[[], Model],
    *,
    keep_missing: bool = False,
    patience: float = 0.0,
) -> Manifest:
    """Make the shard in `folder`, asking only what its journal does not hold.

    Parameters
    ----------
    folder : Path
        Where records, prompts, manifest and journal lie.
    load : callable
        Loads the model; called only if something must be asked.
    keep_missing : bool
        Write the shard although observations got no answer (out of memory, backend errors). They
        stay out of the journal, so that the next execution asks them again.
    patience : float
        Seconds to wait for another process that is collecting this shard.

    Raises
    ------
    RecordError
        If another process is collecting this shard, or has taken it over.
    AssayError
        If SIGTERM came: what was answered is in the journal.
    ModelError
        If observations are missing at the end and may not be: they are named, everything else
        stays in the journal, and no shard is written.
    """
    tally = _Tally()
    started = time.monotonic()
    questioner = Questioner(
        job.spec,
        renderer,
        job.grid,
        job.origin,
        {"max_new_tokens": job.max_new_tokens},
        job.pool,
    )
    questions = list(questioner.ask(job.items))
    batches = job.plan(requests_of(questions))
    tally.timed("tokenise", started)
    with WriterLease(folder, patience=patience, say=_tell) as lease, Termination() as stop:
        journal = Journal(folder / JOURNAL, guard=lease.confirm)
        pending = _pending(questions, batches, journal)
        tally.reused = sum(question.key in journal for question in questions)
        statistics: Mapping[str, Any] = {}
        if pending:
            statistics = _answer(job, questions, pending, journal, renderer, load, tally, stop)
        if not keep_missing:
            _refuse_missing(questions, journal, tally, folder)
        lease.confirm()
        return _assemble(job, folder, questions, batches, journal, tally, statistics)


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _tokens(job: Job, questions: Sequence[Question], batches: Sequence[Batch]) -> dict[str, int]:
    """Return the prompt tokens of three ways to ask; none where a server tokenises."""
    return {} if job.spec.served else asdict(job.token_counts(requests_of(questions), batches))


def _pending(
    questions: Sequence[Question], batches: Sequence[Batch], journal: Journal
) -> list[Batch]:
    """Return the planned batches that hold a request whose observation is not known yet."""
    wanted = {
        request.id
        for question in questions
        if question.key not in journal
        for request in question.requests
    }
    # A question whose requests were split over batches needs all of them again.
    return [batch for batch in batches if any(r.id in wanted for r in batch.requests)]


def _answer(
    job: Job,
    questions: Sequence[Question],
    pending: Sequence[Batch],
    journal: Journal,
    renderer: Prompter,
    load: Callable[[], Model],
    tally: _Tally,
    stop: Termination,
) -> Mapping[str, Any]:
    started = time.monotonic()
    model = load()
    tally.timed("load", started)
    require(needed(job.grid), model.capabilities, consumer="the grid", model=job.spec.key)
    by_request = {request.id: q for q in questions for request in q.requests}
    items = {request: question.item.item_id for request, question in by_request.items()}
    progress = Progress(pending, items, f"{job.spec.key} × {job.benchmark}")
    outcomes: dict[str, Outcome] = {}
    for batch in pending:
        stop.check(f"{tally.asked} observations were answered and are kept in the journal")
        started = time.monotonic()
        outcomes |= _matched(batch, model.execute(batch, max_new_tokens=job.max_new_tokens))
        tally.timed("forward", started)
        touched = dict.fromkeys(by_request[request.id].key for request in batch.requests)
        by_key = {by_request[r.id].key: by_request[r.id] for r in batch.requests}
        entries = [
            entry_of(by_key[key], outcomes, renderer)
            for key in touched
            if all(request.id in outcomes for request in by_key[key].requests)
        ]
        started = time.monotonic()
        # A missing observation is no answer: it is not written, so that a re-run asks again.
        journal.append(entry for entry in entries if entry["status"] not in MISSING)
        tally.failed |= {entry["key"]: entry for entry in entries if entry["status"] in MISSING}
        tally.timed("write", started)
        tally.asked += len(entries)
        progress.advance(batch)
    stats = model.stats
    return stats if isinstance(stats, Mapping) else asdict(stats)


def _matched(batch: Batch, outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """Return request id → outcome; what is missing or unasked is an error of that request."""
    asked = {request.id for request in batch.requests}
    matched: dict[str, Outcome] = {}
    for outcome in outcomes:
        if outcome.id not in asked:
            raise ModelError(f"the backend answered {outcome.id!r}, which was not asked.")
        if outcome.id in matched:
            outcome = Outcome(outcome.id, "backend_error", detail="answered twice")
        matched[outcome.id] = outcome
    for missing in asked - set(matched):
        matched[missing] = Outcome(missing, "backend_error", detail="not answered")
    return matched


def _refuse_missing(
    questions: Sequence[Question], journal: Journal, tally: _Tally, folder: Path
) -> None:
    missing = [q for q in questions if q.requests and q.key not in journal]
    if missing:
        named = ", ".join(f"{q.item.item_id} {q.configuration.key}" for q in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        details = dict.fromkeys(e["detail"] for e in tally.failed.values() if e.get("detail"))
        why = f" ({'; '.join([*details][:2])})" if details else ""
        raise ModelError(
            f"{len(missing)} observations are missing (out of memory or backend errors): "
            f"{named}{more}{why}.",
            where=folder,
            fix="run again with more memory; what was answered is kept in the journal. To go on "
            "without them, set runtime.keep_missing.",
        )


def _assemble(
    job: Job,
    folder: Path,
    questions: Sequence[Question],
    batches: Sequence[Batch],
    journal: Journal,
    tally: _Tally,
    statistics: Mapping[str, Any],
) -> Manifest:
    entries = tally.failed | {q.key: journal.get(q.key) for q in questions if q.key in journal}
    records = [_record(job, item, asked, entries) for item, asked in _by_item(questions)]
    prompts = [Prompt(q.item.item_id, q.configuration.key, q.prompt) for q in questions if q.posed]
    leaks = sum(o.status == "thinking_leak" for r in records for o in r.observations.values())
    thinking = {q.thinking for q in questions if q.thinking}
    facts = dict(job.facts)
    facts["provenance"] = facts["provenance"] | {
        "thinking": f"leaked({leaks})" if leaks else "/".join(sorted(thinking)) or "unsupported",
        "origin": job.origin,
        "tokens": _tokens(job, questions, batches),
    }
    return write_shard(
        folder,
        records,
        prompts,
        facts
        | {
            "model": job.spec.key,
            "benchmark": job.benchmark,
            "reference": job.grid.reference,
            "configurations": job.grid.legend(),
            "labels": job.grid.labels,
            "run": _run(folder, tally, statistics),
        },
    )


def _run(folder: Path, tally: _Tally, statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Return what this execution did, with the `earlier` ones that asked something.

    Snakemake deletes the manifest of a job that it enters again; the times of the answers would
    go with it.
    """
    path = folder / EXECUTIONS
    earlier = [value for _, value in read_jsonl(path)] if path.is_file() else []
    run = {
        "seconds": tally.seconds,
        "observations_asked": tally.asked,
        "observations_reused": tally.reused,
        "backend": dict(statistics),
    }
    if tally.asked:
        write_jsonl(path, [*earlier, run])
    return run | {"earlier": earlier}


def _by_item(questions: Sequence[Question]) -> list[tuple[Item, list[Question]]]:
    grouped: dict[str, tuple[Item, list[Question]]] = {}
    for question in questions:
        grouped.setdefault(question.item.item_id, (question.item, []))[1].append(question)
    return list(grouped.values())


def _record(
    job: Job,
    item: Item,
    questions: Sequence[Question],
    entries: Mapping[str, Mapping[str, Any]],
) -> Record:
    return Record(
        benchmark=job.benchmark,
        model=job.spec.key,
        item_id=item.item_id,
        native_id=item.native_id,
        question=item.question,
        options=tuple(item.options),
        gold=item.gold,
        accepts=tuple(item.accepts),
        subject=item.subject,
        cluster=item.cluster,
        locked=item.locked,
        flags=tuple(item.flags),
        observations={q.configuration.key: observation(q, entries.get(q.key)) for q in questions},
    )
