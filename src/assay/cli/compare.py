"""What `assay compare-shards` prints."""

from __future__ import annotations

from assay.records.compare import Comparison, Disagreement


def comparison_lines(found: Comparison, *, shown: int = 20) -> list[str]:
    """Return the comparison in sentences, the gravest disagreements first.

    Parameters
    ----------
    shown : int
        Most disagreements that are listed.
    """
    same = found.observations - len(found.disagreements)
    lines = [
        f"{same} of {found.observations} observations are the same; scores differ by at most "
        f"{found.largest:.2e} nats a token (bound {found.bound:.0e}).",
        *(_line(disagreement) for disagreement in found.disagreements[:shown]),
    ]
    if len(found.disagreements) > shown:
        lines.append(f"… and {len(found.disagreements) - shown} more.")
    lines.append(_verdict(found))
    return lines


def _verdict(found: Comparison) -> str:
    reasons = []
    if found.largest > found.bound:
        reasons.append("scores differ by more than the bound")
    if found.unexplained:
        reasons.append(f"{len(found.unexplained)} disagreements are more than arithmetic")
    return f"Not equal: {'; '.join(reasons)}." if reasons else "Equal within the bound."


def _line(d: Disagreement) -> str:
    margin = "no margin" if d.margin is None else f"margin {d.margin:.2e}"
    return f"{margin}: {d.name}: {d.first} | {d.second}"
