"""Every verdict path, in the order of the page."""

from __future__ import annotations

from support import simulation as sim

from . import (
    all_pairs,
    candidates,
    configuration_effect,
    decision,
    fix,
    guardrail,
    held_out,
    paired_comparison,
    regression_guard,
    signal,
    tie,
    weak_capability,
)

PATHS: tuple[sim.Path, ...] = tuple(
    module.PATH
    for module in (
        paired_comparison,
        all_pairs,
        tie,
        configuration_effect,
        weak_capability,
        decision,
        candidates,
        regression_guard,
        guardrail,
        signal,
        held_out,
        fix,
    )
)
