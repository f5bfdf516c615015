from __future__ import annotations

import numpy as np
import pytest

from assay.leaderboard.audit import ExtractionAudit, _Tally
from assay.leaderboard.correctness import POOLED, Correctness
from assay.leaderboard.extractor_ranks import extractor_ranks

from .builders import build


@pytest.fixture
def data() -> Correctness:
    return build(np.ones((3, 2, 5)))


def filled(**right: tuple[int, int, int]) -> ExtractionAudit:
    """Right answers of the three models under each extractor, of 20 texts each."""
    audit = ExtractionAudit()
    for extractor, counts in right.items():
        for k, number in enumerate(counts):
            audit.tallies[f"m{k:02d}", POOLED, extractor] = _Tally(n=20, right=number)
    return audit


def test_another_extractor_names_another_leader(data: Correctness) -> None:
    audit = filled(standard=(9, 7, 5), strict=(9, 7, 5), lenient=(9, 10, 5), first_match=(9, 9, 9))
    found = extractor_ranks(data, data.scope(POOLED), audit=audit)
    assert found.extractors == ("standard", "strict", "lenient", "first_match")
    assert found.ranks.tolist() == [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 1, 1]]
    assert found.tau[:3] == pytest.approx([1, 1, 1 / 3])
    assert np.isnan(found.tau[3])
    assert "led by m00 as read by standard, by others under lenient (m01)" in found.reading
    assert "tau of at least 0.33" in found.reading
    assert "widest move of a model is 2 ranks" in found.reading


def test_all_agree(data: Correctness) -> None:
    same = (3, 2, 1)
    audit = filled(standard=same, strict=same, lenient=same, first_match=same)
    reading = extractor_ranks(data, data.scope(POOLED), audit=audit).reading
    assert "led by m00 whichever extractor reads them" in reading


def test_without_texts_there_is_nothing_to_say(data: Correctness) -> None:
    found = extractor_ranks(data, data.scope(POOLED), audit=ExtractionAudit())
    assert "cannot be asked" in found.reading
    assert found.as_json()["accuracy"] == [[], [], [], []]
