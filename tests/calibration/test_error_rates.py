"""Every verdict is wrong at most as often as it says, and right as often as is stated for it."""

from __future__ import annotations

import pytest

from support import simulation as sim

from .paths import PATHS
from .tables import page, renewed

CASES = [
    pytest.param(
        path,
        scenario,
        runs,
        id=f"{path.name}-{scenario.setting}-n={scenario.n}-{runs}",
        marks=[pytest.mark.slow] if runs == sim.SLOW or scenario.slow else [],
    )
    for path in PATHS
    for scenario in path.scenarios
    for runs in (sim.FAST, sim.SLOW)
]


@pytest.mark.parametrize(("path", "scenario", "runs"), CASES)
def test_rates_are_as_promised(path: sim.Path, scenario: sim.Scenario, runs: int) -> None:
    rates = sim.measure(path, scenario, runs)
    broken = {name: rate for name, rate in rates.items() if rate.broken and not _naive(path, name)}
    assert not broken


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_path_has_nulls_and_power(path: sim.Path) -> None:
    ours = {rule.name for rule in path.rules if not rule.naive}
    floored = {name for scenario in path.scenarios for name in scenario.floors}
    assert floored <= ours
    assert floored
    assert any(scenario.null for scenario in path.scenarios)
    assert any(rule.naive for rule in path.rules)


def test_the_page_shows_every_path_and_marks_what_is_broken() -> None:
    def rates(path: sim.Path, scenario: sim.Scenario) -> dict[str, sim.Rate]:
        return {rule.name: sim.Rate(30, 300, 0.05, scenario.null) for rule in path.rules}

    measured = [(path, [(s, rates(path, s)) for s in path.scenarios]) for path in PATHS]
    text = page(measured, 300)
    assert all(f"## {path.name}" in text for path in PATHS)
    assert text.count("**10 % [") == sum(
        len(path.rules) * sum(s.null for s in path.scenarios) for path in PATHS
    )


def test_a_part_of_the_page_is_renewed_and_the_rest_stays() -> None:
    def rates(path: sim.Path, hits: float) -> list[tuple[sim.Scenario, dict[str, sim.Rate]]]:
        found = {rule.name: sim.Rate(hits, 300, 0.05, null=True) for rule in path.rules}
        return [(scenario, found) for scenario in path.scenarios]

    names = [path.name for path in PATHS]
    old = page([(path, rates(path, 3)) for path in PATHS], 300)
    changed = PATHS[2]
    measured = [(path, rates(path, 6 if path is changed else 3)) for path in PATHS]
    new = [(changed, rates(changed, 6))]
    assert renewed(old, new, 300, names) == page(measured, 300)
    without = page([(path, rates(path, 3)) for path in PATHS if path is not changed], 300)
    assert renewed(without, new, 300, names) == page(measured, 300)
    with pytest.raises(ValueError, match="not one of 2,000 runs"):
        renewed(old, new, 2000, names)
    with pytest.raises(ValueError, match=f"lacks {names[0]}"):
        renewed(page(new, 300), new, 300, names)


def test_thresholds_are_those_of_the_specification() -> None:
    assert sim.too_many(300, 0.05) == 26
    assert sim.too_many(2000, 0.05) == 127


def _naive(path: sim.Path, name: str) -> bool:
    return next(rule.naive for rule in path.rules if rule.name == name)
