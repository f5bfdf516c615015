"""A synthetic leaderboard whose truth is known: the twin of a real one.

Correctness follows one latent-trait model ("generator G")::

    y = 1[theta_m - b_i + gamma_f + delta_mf + u_mif + e > 0]

with model ability theta, item difficulty b, effect gamma of the configuration's family f, the
model x family interaction delta, a cell term u shared by the configurations of a family and an
independent error e. Everything it writes says that it is synthetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.identity import digest, sha256_text
from assay.records.schema import Record
from assay.records.shard import Prompt, write_shard

REFERENCE = "gen|letter_plain|p0"
ORDERS = ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2))
LABELS = {
    "letter_plain": ("A", "B", "C", "D"),
    "letter_paren": ("A", "B", "C", "D"),
    "digit_labels": ("1", "2", "3", "4"),
    "instruction": ("A", "B", "C", "D"),
}
STEMS = ("cloze_plain", "cloze_question")
FAMILY_EFFECT = {
    "letter_plain": 0.0,
    "letter_paren": -0.1,
    "instruction": -0.2,
    "digit_labels": -1.2,
    "cloze": -1.3,
}
_FAMILIES = tuple(FAMILY_EFFECT)
_UNUSABLE = (("none", "nothing", "I think it depends on"), ("empty", "blank", ""))
_WORDS = ("harbour", "lantern", "meadow", "granite", "willow", "copper", "orchard", "glacier")


@dataclass(frozen=True)
class Configuration:
    """One of the 26 ways to ask."""

    key: str
    scoring: str
    format: str
    order: str | None
    permutation: tuple[int, ...] | None

    @property
    def family(self) -> int:
        return _FAMILIES.index(self.format if self.scoring == "gen" else "cloze")


CONFIGURATIONS = tuple(
    Configuration(f"gen|{name}|p{p}", "gen", name, f"p{p}", order)
    for name in LABELS
    for p, order in enumerate(ORDERS)
) + tuple(Configuration(f"ll|{stem}", "ll", stem, None, None) for stem in STEMS)


def simulate(
    theta: Sequence[float],
    *,
    items: int,
    rng: np.random.Generator,
    interaction: float = 0.3,
    effect: float = 1.0,
    cell_sd: float = 0.6,
    error_sd: float = 0.6,
    difficulty_sd: float = 1.5,
) -> NDArray[np.bool_]:
    """Return correctness, shape (model, item, 26), drawn from generator G.

    `interaction` is the s.d. of delta and `effect` scales gamma: with both 0 no configuration
    matters and every difference between configurations is noise.
    """
    models, families = len(theta), len(_FAMILIES)
    family = np.array([c.family for c in CONFIGURATIONS])
    gamma = effect * np.array([FAMILY_EFFECT[name] for name in _FAMILIES])
    difficulty = rng.normal(0, difficulty_sd, items)
    delta = rng.normal(0, 1, (models, families)) * interaction
    cell = rng.normal(0, 1, (models, items, families)) * cell_sd
    error = rng.normal(0, 1, (models, items, len(CONFIGURATIONS))) * error_sd
    shift = np.asarray(theta, float)[:, None] + gamma + delta
    return (shift[:, None, :] - difficulty[None, :, None] + cell)[:, :, family] + error > 0


def model_names(models: int) -> tuple[str, ...]:
    return tuple(f"twin-{number:02d}" for number in range(1, models + 1))


def twin_items(benchmark: str, count: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return `count` made-up four-option items; about one in forty is locked to its own order."""
    items = []
    for number in range(count):
        words = rng.permutation(_WORDS)[:4]
        fields = {
            "benchmark": benchmark,
            "native_id": f"synthetic-{benchmark}-{number:04d}",
            "question": f"Synthetic question {number + 1} of {benchmark}: which word was drawn?",
            "options": [f"the {word} of {benchmark}" for word in words],
            "gold": int(rng.integers(4)),
        }
        order = ("benchmark", "native_id", "question", "options", "gold")
        locked = bool(rng.random() < 1 / 40)
        items.append(
            fields
            | {
                "item_id": digest([fields[name] for name in order], length=16),
                "accepts": [fields["gold"]],
                "subject": f"synthetic subject {number % 3 + 1}",
                "cluster": f"synthetic-{benchmark}-{number:04d}",
                "locked": locked,
                "flags": ["locked"] if locked else [],
            }
        )
    return sorted(items, key=lambda item: str(item["item_id"]))


def write_twin(
    root: Path,
    *,
    models: int = 12,
    items_per_benchmark: int = 60,
    benchmarks: Sequence[str] = ("arc", "mmlu", "hellaswag", "openbookqa"),
    seed: int = 0,
    interaction: float = 0.3,
) -> list[Path]:
    """Write one real shard folder per synthetic model and benchmark; return the folders."""
    theta = np.linspace(0.5, 1.9, models)[::-1]
    folders = []
    for b, benchmark in enumerate(benchmarks):
        rng = np.random.default_rng([seed, b])
        items = twin_items(benchmark, items_per_benchmark, rng)
        correct = simulate(theta, items=len(items), rng=rng, interaction=interaction)
        for model, records in twin_records(items, correct, seed=seed + b):
            folder = root / model / benchmark / "synthetic"
            write_shard(folder, records, twin_prompts(items), twin_facts(model, benchmark, items))
            folders.append(folder)
    return sorted(folders)


def twin_records(
    items: Sequence[dict[str, Any]], correct: NDArray[np.bool_], *, seed: int
) -> Iterator[tuple[str, list[Record]]]:
    """Yield (model, records) with plausible texts for `correct`, shape (model, item, 26)."""
    for m, name in enumerate(model_names(len(correct))):
        rng = np.random.default_rng([seed, m])
        habits = _Habits(rng)
        yield (
            name,
            [
                Record.model_validate(
                    item
                    | {"model": name}
                    | {
                        "observations": {
                            c.key: _observe(item, c, bool(correct[m, i, j]), habits, rng)
                            for j, c in enumerate(CONFIGURATIONS)
                        }
                    }
                )
                for i, item in enumerate(items)
            ],
        )


def twin_prompts(items: Sequence[dict[str, Any]]) -> list[Prompt]:
    """Return the prompt of every item under every configuration that it is asked under."""
    return [
        Prompt(item["item_id"], c.key, _prompt(item, c))
        for item in items
        for c in CONFIGURATIONS
        if _asked(item, c)
    ]


def twin_facts(model: str, benchmark: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the manifest fields that do not follow from the records."""
    return {
        "model": model,
        "benchmark": benchmark,
        "reference": REFERENCE,
        "configurations": {
            c.key: {
                "scoring": c.scoring,
                "format": c.format,
                "order": c.order,
                "permutation": c.permutation,
            }
            for c in CONFIGURATIONS
        },
        "labels": {f: "digit" if f == "digit_labels" else "upper" for f in LABELS},
        "snapshot_sha256": digest([item["item_id"] for item in items]),
        "provenance": {
            "synthetic": True,
            "note": "made by a random generator; no language model was asked",
        },
    }


def _asked(item: dict[str, Any], c: Configuration) -> bool:
    return not item["locked"] or c.order in (None, "p0")


def _prompt(item: dict[str, Any], c: Configuration) -> str:
    if c.permutation is None:
        return str(item["question"])
    form = {"letter_paren": "({}) {}"}.get(c.format, "{}. {}")
    shown = [item["options"][k] for k in c.permutation]
    lines = [form.format(*pair) for pair in zip(LABELS[c.format], shown, strict=True)]
    return "\n".join([item["question"], *lines, "Answer with the label only:"])


class _Habits:
    """What a made-up model tends to do: a preferred slot, a wording, a rate of unusable text."""

    def __init__(self, rng: np.random.Generator):
        self.slots = rng.dirichlet([2.0, 2.0, 2.0, 2.0])
        self.unusable = {name: float(rng.beta(1, 12)) for name in LABELS}
        self.unusable["digit_labels"] += float(rng.beta(2, 5))
        self.wording = rng.dirichlet([6.0, 3.0, 2.0, 2.0])


def _observe(
    item: dict[str, Any], c: Configuration, right: bool, habits: _Habits, rng: np.random.Generator
) -> dict[str, Any]:
    key = digest([item["item_id"], c.key])
    if not _asked(item, c):
        return {"key": key, "status": "not_applicable", "correct": None}
    prompt = _prompt(item, c)
    asked = {
        "key": key,
        "prompt_sha256": sha256_text(prompt),
        "prompt_tokens": 8 + len(prompt) // 4,
    }
    if c.permutation is None:
        return asked | _score(item["gold"], right, rng)
    answer = _answer(c.permutation.index(item["gold"]), right, c.format, habits, rng)
    slot = answer.pop("slot")
    choice = None if slot is None else c.permutation[slot]
    return asked | answer | {"choice": choice, "correct": right, "order": c.permutation}


def _score(gold: int, right: bool, rng: np.random.Generator) -> dict[str, Any]:
    token = np.sort(-rng.gamma(4, 0.5, 4))
    best = gold if right else int(rng.choice([k for k in range(4) if k != gold]))
    rest = rng.permutation([k for k in range(4) if k != best])
    scores = np.empty(4)
    scores[best], scores[rest] = token[-1], token[:-1]
    rounded = [round(float(s), 4) for s in scores]
    return {
        "status": "ok",
        "correct": right,
        "choice": best,
        "scores": {
            "sum": [round(4 * s, 4) for s in rounded],
            "token": rounded,
            "byte": [round(s / 5, 4) for s in rounded],
        },
        "margin": round(float(token[-1] - token[-2]), 4),
        "credit": float(right),
        "new_tokens": 0,
    }


def _answer(
    gold: int, right: bool, name: str, habits: _Habits, rng: np.random.Generator
) -> dict[str, Any]:
    if not right and rng.random() < habits.unusable[name]:
        status, rule, text = _UNUSABLE[int(rng.integers(len(_UNUSABLE)))]
        finish = "length" if text else "eos"
        answer = {"status": status, "rule": rule, "text": text, "finish": finish}
        return answer | {"slot": None, "new_tokens": len(text) // 4}
    weights = habits.slots.copy()
    weights[gold] = 0
    slot = gold if right else int(rng.choice(4, p=weights / weights.sum()))
    label = LABELS[name][slot]
    form = ("{}", "({})", "Answer: {}", "The answer is {}.")[int(rng.choice(4, p=habits.wording))]
    text = form.format(label)
    start = len(form.split("{")[0])
    rule = "declared" if "nswer" in form else "bare"
    return {
        "status": "ok", "label": label, "rule": rule, "span": [start, start + 1], "text": text,
        "finish": "eos", "slot": slot, "new_tokens": 1 + len(text) // 4,
    }  # fmt: skip
