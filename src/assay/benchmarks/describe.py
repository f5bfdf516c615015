"""A snapshot in words, for the command line."""

from __future__ import annotations

from assay.benchmarks.manifest import Counts
from assay.benchmarks.snapshot import ITEMS, Snapshot
from assay.benchmarks.traps import FLAGS

_SHOWN_SUBJECTS = 12


def describe(snapshot: Snapshot) -> str:
    """Return what a snapshot holds, as plain text of about forty lines."""
    manifest = snapshot.manifest
    selected, available = manifest.selected, manifest.available
    lines = [
        f"{manifest.title} ({manifest.benchmark}): {selected.items} items of {available.items}",
        f"licence     {manifest.licence}",
        f"selection   {_pairs(manifest.selection)}",
        f"digest      sha256 {manifest.files[ITEMS].sha256}",
        f"independent {selected.clusters} clusters",
        f"locked      {selected.locked} asked in source order only",
        f"pool        {len(snapshot.fewshot)} few-shot examples",
        "options     " + _pairs({count.lstrip("0"): n for count, n in selected.options.items()}),
        "subjects    " + _subjects(selected),
        *_section(
            "sources", {f"{r}: {f}": s for r, d in manifest.sources.items() for f, s in d.items()}
        ),
        *_section("left out", manifest.excluded),
        *_section("flags", {f"{flag} ({FLAGS[flag]})": n for flag, n in selected.flags.items()}),
    ]
    return "\n".join(lines)


def _subjects(counts: Counts) -> str:
    most = sorted(counts.subjects.items(), key=lambda entry: (-entry[1], entry[0]))
    more = f" and {len(most) - _SHOWN_SUBJECTS} more" if len(most) > _SHOWN_SUBJECTS else ""
    return _pairs(dict(most[:_SHOWN_SUBJECTS])) + more


def _section(name: str, entries: dict[str, int] | dict[str, str]) -> list[str]:
    return [name, *(f"  {key}: {value}" for key, value in entries.items())] if entries else []


def _pairs(values: dict[str, object] | dict[str, int]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
