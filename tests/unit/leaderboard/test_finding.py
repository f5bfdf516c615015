from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pytest

from assay.leaderboard.finding import Finding, plain
from assay.stats import proportion_ci


@dataclass(frozen=True)
class Sample(Finding):
    name: ClassVar[str] = "sample"
    shares: np.ndarray
    nested: object

    @property
    def reading(self) -> str:
        return f"{self.benchmark} has {self.shares.size} shares."


def test_a_finding_writes_its_name_its_reading_and_every_field() -> None:
    shares = np.array([[0.25, np.nan], [np.inf, 1]])
    nested = {3: (proportion_ci(1, 2), None, True, np.bool_(False), np.float32(0.5), "x")}
    written = json.loads(json.dumps(Sample("arc", shares, nested).as_json(), allow_nan=False))
    assert written["name"] == "sample"
    assert written["benchmark"] == "arc"
    assert written["reading"] == "arc has 4 shares."
    assert written["shares"] == [[0.25, None], [None, 1.0]]
    interval, *rest = written["nested"]["3"]
    assert (interval["estimate"], interval["n"], interval["method"]) == (0.5, 2, "wilson")
    assert rest == [None, True, False, 0.5, "x"]


def test_what_json_has_no_form_for_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot hold a set"):
        Sample("arc", np.zeros(1), {1, 2}).as_json()
    with pytest.raises(TypeError, match="JSON has no form for it"):
        plain(Sample)


def test_a_finding_needs_a_reading_and_does_not_change() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Finding("arc")  # type: ignore[abstract]
    with pytest.raises(FrozenInstanceError):
        Sample("arc", np.zeros(1), None).benchmark = "mmlu"  # type: ignore[misc]
