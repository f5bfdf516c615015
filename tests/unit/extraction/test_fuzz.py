from __future__ import annotations

import unicodedata
from pathlib import Path

from assay.core.files import read_jsonl
from assay.extraction import EXTRACTORS, Extraction, Status, extract
from extraction.fragments import LABEL_SETS, outputs

OPTIONS = ["Iron", "Copper wire", "Both A and B", "gold, 1.5 kg", "the answer", "no", "", "Iron"]


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def check(text: str, labels: list[str], found: Extraction) -> None:
    assert found.status in Status
    assert (found.label is not None) == (found.status == "ok")
    assert found.label is None or found.label in labels
    assert found.rule
    if found.span is not None:
        start, end = found.span
        assert 0 <= start < end <= len(text)
    if found.label is not None:
        assert found.span is not None
        if not found.rule.endswith("_text"):
            assert folded(found.label) in folded(text[slice(*found.span)])


def run(project: Path, seed: int, count: int) -> None:
    rows = read_jsonl(project / "tests/data/extraction_labels.jsonl")
    real = [row["text"] for _, row in rows if len(row["text"]) < 200]
    for number, (text, labels) in enumerate(outputs(seed, count, real)):
        shown = [OPTIONS[i % len(OPTIONS)] + "x" * (i // len(OPTIONS)) for i in range(len(labels))]
        extractor = EXTRACTORS[number % len(EXTRACTORS)]
        found = extract(text, labels, shown if number % 3 else None, extractor)
        try:
            check(text, labels, found)
        except AssertionError as error:
            raise AssertionError(f"{text!r} {labels} {extractor}: {found}") from error


def test_no_text_breaks_an_extractor(project: Path) -> None:
    run(project, seed=20240601, count=100_000)


def test_the_fuzz_reaches_every_status(project: Path) -> None:
    seen = {
        extract(text, labels, None).status
        for text, labels in outputs(1, 3_000, ["I'm sorry, I can't help with that."])
    }
    assert seen == set(Status)


def test_every_label_set_is_accepted() -> None:
    for labels in LABEL_SETS:
        assert extract(labels[-1], labels).label == labels[-1]
