"""Adapters for public benchmarks, each for the columns its source really has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.benchmarks.adapters.draft import (
    Draft,
    index,
    position,
    text,
    texts,
    value,
    with_content_ids,
)
from assay.benchmarks.sources.rows import Row
from assay.benchmarks.spec import BenchmarkSpec
from assay.core.errors import SnapshotError
from assay.core.identity import digest


def labelled(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """ARC, OpenBookQA, CommonsenseQA: choices with their own labels and an answer key.

    ARC's labels are letters up to E or digits, for three to five options; the key is looked up
    among them and never computed.
    """
    for where, row in rows:
        choices = value(row, "choices", where)
        labels = [label.strip() for label in texts(choices, "label", where)]
        options = texts(choices, "text", where)
        if len(labels) != len(options) or len(set(labels)) != len(labels):
            raise SnapshotError(
                f"the labels {labels} do not fit {len(options)} options.",
                where=str(where),
                fix="correct or remove the row.",
            )
        yield Draft(
            where=where,
            native_id=text(row, "id", where),
            question=text(row, "question_stem" if "question_stem" in row else "question", where),
            options=options,
            gold=position(value(row, "answerKey", where), labels, where),
        )


def mmlu(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """MMLU: 57 subjects and no ids.

    An id is subject and content; ``subject/split/row``, the name used in papers, is an alias, as
    it moves with the order of the rows (and would be wrong once rows were left out of a subject).
    """
    whole = set(spec.filters) <= {"subject"}

    def drafts() -> Iterator[Draft]:
        row_of: Counter[str] = Counter()
        for where, row in rows:
            subject = text(row, "subject", where)
            yield Draft(
                where=where,
                question=text(row, "question", where),
                options=texts(row, "choices", where),
                gold=index(value(row, "answer", where), where),
                subject=subject,
                aliases=(f"{subject}/{spec.split}/{row_of[subject]}",) if whole else (),
            )
            row_of[subject] += 1

    return with_content_ids(drafts())


def piqa(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """PIQA: a goal and two solutions, without ids."""
    return with_content_ids(
        Draft(
            where=where,
            question=text(row, "goal", where),
            options=(text(row, "sol1", where), text(row, "sol2", where)),
            gold=index(value(row, "label", where), where),
        )
        for where, row in rows
    )


def truthfulqa(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """TruthfulQA MC1: 2 to 13 options, of which the source always keeps the true one first.

    The true option is put at a position drawn from `spec.gold_seed` and the question, so that a
    model with a taste for A gains nothing; the distractors keep their order.
    """
    for where, row in rows:
        targets, question = value(row, "mc1_targets", where), text(row, "question", where)
        source, marks = texts(targets, "choices", where), value(targets, "labels", where)
        if len(marks) != len(source) or sum(map(int, marks)) != 1:
            raise SnapshotError(
                f"{marks} does not mark one true option among {len(source)}.",
                where=str(where),
                fix="use the MC1 targets of the pinned revision.",
            )
        first = marks.index(1)
        true, others = source[first], [*source[:first], *source[first + 1 :]]
        flags = []
        if spec.keep_options is not None and len(others) >= spec.keep_options:
            others, flags = others[: spec.keep_options - 1], ["options_cut"]
        gold = min(first, len(others))
        if spec.gold_seed is not None:
            drawn = int(digest([spec.gold_seed, question, true], length=16), 16)
            gold = drawn % (len(others) + 1)
            flags.append("gold_moved")
        yield Draft(
            where=where,
            native_id=digest([question, true], length=12),
            question=question,
            options=(*others[:gold], true, *others[gold:]),
            gold=gold,
            flags=tuple(flags),
            before={"options": list(source), "gold": first} if flags else {},
        )


def requests(spec: BenchmarkSpec, rows: Sequence[Row]) -> Iterator[Draft]:
    """Request files of OLMo's evaluation (cloze form), which hold every document several times."""
    subject = spec.columns.subject
    seen: dict[str, dict[str, object]] = {}
    for where, row in rows:
        doc = value(row, "doc", where)
        name = text(doc, "id", where)
        if name in seen:
            if doc != seen[name]:
                raise SnapshotError(
                    f"id {name!r} stands for two different documents.", where=str(where)
                )
            continue
        seen[name] = doc
        query = text(doc, "query", where)
        if not (query.startswith("Question: ") and query.endswith("\nAnswer:")):
            raise SnapshotError(
                f"the query {query[:60]!r} is not in cloze form.",
                where=str(where),
                fix="pin the member whose name has `rc`.",
            )
        yield Draft(
            where=where,
            native_id=name,
            question=query.removeprefix("Question: ").removesuffix("\nAnswer:"),
            options=texts(doc, "choices", where),
            gold=index(value(doc, "gold", where), where),
            subject=text(doc, subject, where) if subject else "all",
        )
