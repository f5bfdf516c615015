"""Further sentences: compliance, extraction, positions and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.leaderboard.audit import STANDARD, ExtractionAudit
from assay.leaderboard.correctness import POOLED
from assay.leaderboard.load import MissingCells
from assay.leaderboard.sentences import Basis, Row
from assay.leaderboard.slots import preference
from assay.leaderboard.wording import count, gap_interval, interval, listed, percent, points
from assay.stats import proportion_ci


def compliance(found: Basis) -> str:
    """Say how often the models give a usable answer at all."""
    if not found.correctness.labels:
        return "Which answers were usable is not known: these data hold outcomes only."
    rows = found.pooled("accuracy")
    if all(row["parsed"] == row["n"] for row in rows):
        return "Every answer is usable, under every configuration."
    reference = found.correctness.reference_configuration.key
    at = [row for row in rows if row["configuration"] == reference]
    worst = min(at, key=lambda row: row["compliance"])
    fewest = ", the fewest of all models" if len(at) > 1 else ""
    text = f"At the reference, {worst['model']} gives {_usable(worst, found)}{fewest}"
    if len({row["configuration"] for row in rows}) == 1:
        return f"{text}."
    worst = min(rows, key=lambda row: row["compliance"])
    place = f"by {worst['model']} under {worst['configuration']}"
    return f"{text}; the fewest anywhere are given {place}: {_usable(worst, found)}."


def _usable(row: Row, found: Basis) -> str:
    shown = proportion_ci(row["parsed"], row["n"], level=found.level)
    spread = interval(float(shown.low), float(shown.high), level=found.level)
    return f"usable answers to {percent(row['compliance'])} of {count(row['n'], 'item')} ({spread})"


def extraction(found: Basis, audit: ExtractionAudit) -> str:
    """Say how much the verdicts depend on the extractor."""
    rows = {
        (model, extractor): tally
        for (model, benchmark, extractor), tally in sorted(audit.tallies.items())
        if benchmark == POOLED and extractor != STANDARD and tally.n
    }
    if not rows:
        return "No generated text was stored, so that no other extractor could be tried."
    (model, extractor), tally = max(rows.items(), key=lambda entry: entry[1].changed)
    if not tally.changed:
        return (
            f"No verdict depends on the extractor: {listed(sorted({e for _, e in rows}))} agree "
            f"with {STANDARD} on every stored text."
        )
    shown = proportion_ci(tally.items_touched, tally.items, level=found.level)
    spread = interval(float(shown.low), float(shown.high), level=found.level)
    return (
        f"Read by {extractor} instead of {STANDARD}, {count(tally.changed, 'verdict')} of "
        f"{tally.n:,} on {model} would be another ({tally.gained:,} towards right, "
        f"{tally.lost:,} towards wrong), on {percent(float(shown.estimate))} of its items "
        f"({spread}); this is the largest effect of an extractor on a model."
    )


def positions(found: Basis) -> str:
    """Say which model prefers a position most."""
    models = found.correctness.models
    strongest = [
        chosen
        for m in range(len(models))
        if (chosen := preference(found.correctness, m, alpha=found.alpha / len(models)))
    ]
    if not strongest:
        return "Position preferences cannot be told: fewer than six items have usable answers."
    top = max(strongest, key=lambda chosen: chosen.excess)
    spread = gap_interval(top.low, top.high, level=found.level)
    verdict = "" if top.low > 0 else ", which may be chance"
    return (
        f"The strongest preference for a position is that of {top.model} for {top.label}: it "
        f"chooses it {points(top.excess)} points more often than the right option stands there "
        f"({spread}, corrected for picking the largest){verdict}."
    )


def missing_data(
    lacking: Sequence[MissingCells], absent: Sequence[str], accuracy: Sequence[Row]
) -> str:
    """Say what the analysis lacks, and how far that could move a row of `accuracy`."""
    parts = list(_missing_parts(lacking, absent))
    if not parts:
        return "No observation is missing."
    text = (
        f"Missing: {'; '.join(parts)}. They are outside every number here, which therefore speaks "
        "for the observed items only"
    )
    rows = [row for row in accuracy if row["missing"]]
    if not rows:
        return f"{text}."
    worst = max(rows, key=lambda row: row["highest"] - row["lowest"])
    return (
        f"{text}; with answers to all, the accuracy of {worst['model']} under "
        f"{worst['configuration']} would lie between {percent(worst['lowest'])} and "
        f"{percent(worst['highest'])}, the widest such bounds."
    )


def _missing_parts(lacking: Sequence[MissingCells], absent: Sequence[str]) -> Iterator[str]:
    if absent:
        yield f"{count(len(absent), 'shard')} left out ({listed(list(absent))})"
    shards = [cells for cells in lacking if cells.configuration is None]
    if shards and not absent:
        names = [f"{cells.model} × {cells.benchmark}" for cells in shards]
        yield f"{count(len(shards), 'shard')} left out ({listed(names)})"
    failed = [cells for cells in lacking if cells.configuration is not None]
    if failed:
        models = sorted({cells.model for cells in failed})
        total = sum(cells.n for cells in failed)
        yield f"{count(total, 'observation')} without an answer (of {listed(models)})"
