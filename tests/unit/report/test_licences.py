"""Whose texts a report may show."""

from __future__ import annotations

import pytest

from assay.report.licences import may_embed, withheld_benchmarks


@pytest.mark.parametrize(
    "licence", ["MIT", "Apache-2.0", "CC BY-SA 4.0", "CC-BY-4.0", "AFL-3.0", "CC0", "own"]
)
def test_open_licences_may_be_shown(licence: str) -> None:
    assert may_embed(licence)


@pytest.mark.parametrize(
    "licence",
    ["CC BY-NC-SA 4.0", "MIT (WikiHow text CC BY-NC-SA)", "CC-BY-ND-4.0", "internal", "unknown",
     "", "proprietary", "Apache-2.0, gated", "research only", "submit"],
)  # fmt: skip
def test_all_others_may_not(licence: str) -> None:
    assert not may_embed(licence)


def test_policy_decides_before_the_licence() -> None:
    licences = {"open": "MIT", "closed": "internal"}
    names = ["open", "closed", "silent"]
    assert withheld_benchmarks(licences, names, "all") == {}
    assert set(withheld_benchmarks(licences, names, "none")) == set(names)
    assert withheld_benchmarks(licences, names, "licensed") == {
        "closed": "licence: internal",
        "silent": "licence: not stated",
    }
