"""Every grid beyond the released one, asked of a real model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.benchmarks.item import Item
from assay.config.registry import load_grid
from assay.core.errors import ModelError
from assay.grid.collect import collect
from assay.grid.job import Job
from assay.grid.questions import Questioner, requests_of
from assay.leaderboard import analyze
from assay.models.backends.hf_local import HFLocal
from assay.models.plan import plan_batches
from assay.models.render import Renderer
from assay.records.schema import Observation, Record
from assay.records.shard import Shard, read_shard
from support.embedded import ITEMS, embedded, item

pytestmark = pytest.mark.model

POOL = tuple(
    item(10 + n, question, options, gold)
    for n, (question, options, gold) in enumerate(
        [
            ("What is two plus two?", ("Three", "Four"), 1),
            ("Which animal barks?", ("Dog", "Cat"), 0),
            ("Which is a fruit?", ("Stone", "Apple"), 1),
            ("Which is a colour?", ("Red", "Loud"), 0),
            ("Which is hot?", ("Ice", "Fire"), 1),
        ]
    )
)
CITY, METAL, WATER = ITEMS
PRIME = item(20, "Which is a prime number?", ("4", "6", "8", "9", "10", "11"), 5)
WAYS = ("gen|letter_plain", "ll|letter_scored")
ASKED = "gen|letter_plain|p0"
#: Some of the grids need examples, or room for an answer in words.
GRIDS = {
    "cyclic": (CITY, WATER),
    "permutations": (WATER,),
    "many_options": (METAL, PRIME),
    "bridge": (CITY,),
    "pmi": (CITY, WATER),
    "fewshot": (WATER,),
    "system": (WATER,),
    "wrappers": (WATER,),
    "choices_only": (CITY, WATER),
    "replicate": (WATER,),
}


@pytest.fixture(scope="module")
def files(project: Path, assay_cache: Path) -> Any:
    return embedded(project, assay_cache)


@pytest.fixture(scope="module")
def renderer(files: Any) -> Renderer:
    spec, found = files
    return Renderer(found.folder, spec)


@pytest.fixture(scope="module")
def model(files: Any) -> HFLocal:
    spec, found = files
    return HFLocal.load(found.folder, spec, dtype="float32", device="cpu", threads=1)


@pytest.fixture(scope="module")
def job(files: Any, project: Path) -> Callable[..., Job]:
    spec, found = files

    def build(name: str, items: Sequence[Item], **changes: Any) -> Job:
        values: dict[str, Any] = {
            "spec": spec,
            "benchmark": "own",
            "items": items,
            "pool": POOL,
            "grid": load_grid(project / "config", name),
            "max_new_tokens": 8,
            "token_budget": 1024,
            "origin": {"model": dict(found.digests), "dtype": "float32"},
            "facts": {"snapshot_sha256": "0" * 64, "provenance": {}},
        }
        return Job(**values | changes)

    return build


@pytest.fixture(scope="module")
def shards(
    job: Any, renderer: Renderer, model: HFLocal, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Shard]:
    """Return the shard of a grid, asked once."""
    root = tmp_path_factory.mktemp("shards")

    def asked(name: str) -> Shard:
        if not (root / name).exists():
            collect(job(name, GRIDS[name]), root / name, renderer, lambda: model)
        return read_shard(root / name)

    return asked


def only(shard: Shard, native_id: str) -> Record:
    return next(record for record in shard.records() if record.native_id == native_id)


def direct(model: HFLocal, renderer: Renderer, context: str, text: str) -> float:
    """Return Σ log p of `text` after `context`, from one plain forward of the whole sequence."""
    import torch

    pair = renderer.encode_pair(context, text)
    ids = torch.tensor([[*pair.context_ids, *pair.continuation_ids]])
    with torch.no_grad():
        logits = model._model(input_ids=ids).logits[0].float()
    chosen = torch.log_softmax(logits, dim=-1)[:-1].gather(1, ids[0, 1:, None])[:, 0]
    return float(chosen[len(pair.context_ids) - 1 :].sum())


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_is_asked_whole(shards: Any, name: str, project: Path) -> None:
    shard = shards(name)
    keys = {c.key for c in load_grid(project / "config", name).configurations()}
    for record in shard.records():
        assert set(record.observations) == keys
        asked = {k: o for k, o in record.observations.items() if o.status != "not_applicable"}
        assert all(o.correct is not None for o in asked.values())
        for key, seen in asked.items():
            if key.startswith("ll"):
                assert seen.status == "ok"
                assert seen.scores is not None
    assert shard.manifest.configurations[shard.manifest.reference].get("role") is None


#: Findings that only these grids have.
BESIDE = {
    "replicate": {"replicate"},
    "choices_only": {"choices_only"},
    "cyclic": {"label_prior"},
    "bridge": {"label_prior"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_is_analysed(shards: Any, name: str) -> None:
    found = analyze([shards(name).folder], study=name, seed=1)
    names = {finding.name for finding in found.summary.findings["own"]}
    special = {"replicate", "choices_only", "label_prior"}
    assert names & special == BESIDE.get(name, set())
    configurations = set(found.tables["accuracy"]["configuration"])
    assert not any("again" in key or "choices" in key for key in configurations)
    if name == "cyclic":
        prior = found.tables["label_prior"].query("benchmark == 'own'")["prior"]
        assert sum(prior) == pytest.approx(1)
        assert len(prior) in (2, 4), "the labels of one of the two items"


def scored(seen: Observation, field: str = "sum") -> tuple[float, ...]:
    assert seen.scores is not None
    values = getattr(seen.scores, field)
    assert all(value is not None for value in values)
    return tuple(values)


def test_labels_are_scored_after_the_prompt_that_generates_them(
    shards: Any, model: HFLocal, renderer: Renderer
) -> None:
    shard = shards("cyclic")
    record, prompts = only(shard, "q0"), shard.prompts()
    for n in range(4):
        written, seen = (record.observations[f"{k}|p{n}"] for k in WAYS)
        assert seen.prompt_sha256 == written.prompt_sha256
        assert seen.order == written.order
        assert seen.order is not None
        sums = scored(seen)
        assert sum(map(math.exp, sums)) < 1
        assert seen.choice == sums.index(max(sums))
        assert seen.label == "ABCD"[seen.order.index(seen.choice)]
        text = prompts[record.item_id, f"ll|letter_scored|p{n}"]
        for option, value in enumerate(sums):
            label = "ABCD"[seen.order.index(option)]
            assert value == pytest.approx(direct(model, renderer, text, label), abs=1e-3)


def test_pmi_is_the_score_after_the_question_less_the_score_without_it(
    shards: Any, model: HFLocal, renderer: Renderer
) -> None:
    record = only(shards("pmi"), "q0")
    for stem in ("plain", "question"):
        seen = record.observations[f"ll|pmi_{stem}"]
        conditional = scored(record.observations[f"ll|cloze_{stem}"])
        alone = [direct(model, renderer, "Answer:", f" {text}") for text in CITY.options]
        wanted = [a - b for a, b in zip(conditional, alone, strict=True)]
        assert scored(seen, "pmi") == pytest.approx(wanted, abs=1e-3)
        assert scored(seen) == pytest.approx(conditional, abs=1e-3)
        assert seen.choice == wanted.index(max(wanted))
        ranked = sorted(wanted)
        assert seen.margin == pytest.approx(ranked[-1] - ranked[-2], abs=2e-3)


def test_texts_are_scored_after_the_prompt_that_generates_them(shards: Any) -> None:
    shard = shards("bridge")
    record = only(shard, "q0")
    for n in range(4):
        written = record.observations[f"gen|option_text|p{n}"]
        seen = record.observations[f"ll|text_scored|p{n}"]
        assert seen.prompt_sha256 == written.prompt_sha256
        assert seen.label is None
        means = scored(seen, "token")
        assert seen.choice == means.index(max(means))


def test_orders_an_item_does_not_have_are_not_applicable(shards: Any) -> None:
    for name, native_id, wanted in (
        ("cyclic", "q2", 2),
        ("many_options", "q1", 3),
        ("many_options", "q20", 6),
    ):
        record = only(shards(name), native_id)
        asked = [
            o.order
            for key, o in record.observations.items()
            if key.startswith("gen") and o.status != "not_applicable"
        ]
        assert len(asked) == wanted
        for slot in range(wanted):
            assert {order[slot] for order in asked if order} == set(range(wanted))


def test_examples_of_the_pool_come_first(shards: Any, job: Any, renderer: Renderer) -> None:
    shard = shards("fewshot")
    prompts = shard.prompts()
    (item_id,) = {item_id for item_id, _ in prompts}
    prompt = prompts[item_id, "gen|letter_plain_1shot|p1"]
    assert (
        "user\nQuestion: What is two plus two?\nA. Three\nB. Four\nAnswer with the letter only: B"
        "\n\nQuestion: Is water wet?\nA. No\nB. Yes\nAnswer with the letter only:" in prompt
    )
    stem = prompts[item_id, "ll|cloze_question_5shot"]
    assert stem.startswith(
        "Question: What is two plus two?\nAnswer: Four\n\nQuestion: Which animal"
    )
    assert stem.endswith("Answer: Fire\n\nQuestion: Is water wet?\nAnswer:")
    small = job("fewshot", [WATER], pool=POOL[:4])
    with pytest.raises(ModelError, match=r"shows 5 examples, .* holds 4.*`pool: 5`"):
        list(Questioner(small.spec, renderer, small.grid, {}, {}, small.pool).ask(small.items))


def test_a_system_turn_replaces_the_default_one(shards: Any) -> None:
    prompts = shards("system").prompts()
    texts = {key: prompt for (_, key), prompt in prompts.items()}
    assert "You are a helpful AI assistant named SmolLM" in texts["gen|letter_plain|p0"]
    exam = texts["gen|letter_plain_exam|p0"]
    assert exam.startswith("<|im_start|>system\nYou are taking an exam. Reply with one letter")
    assert "SmolLM" not in exam


def test_wrappers_are_of_one_length(shards: Any) -> None:
    record = only(shards("wrappers"), "q2")
    lengths = {o.prompt_tokens for o in record.observations.values()}
    assert len(lengths) == 1, "on this tokenizer"
    assert len({o.prompt_sha256 for o in record.observations.values()}) == 10


def test_the_control_does_not_show_the_question(shards: Any) -> None:
    shard = shards("choices_only")
    prompts = {key: text for (_, key), text in shard.prompts().items() if "Paris" in text}
    assert "capital" in prompts["gen|letter_plain|p0"]
    assert "capital" not in prompts["gen|letter_choices|p0"]
    assert "user\nA. Paris\nB. Rome" in prompts["gen|letter_choices|p0"]
    assert shard.manifest.configurations["gen|letter_choices|p0"]["role"] == "choices_only"


def test_the_replicate_is_asked_in_other_batches(
    shards: Any, job: Any, renderer: Renderer, project: Path
) -> None:
    record = only(shards("replicate"), "q2")
    first = record.observations["gen|letter_plain|p0"]
    again = record.observations["gen|letter_plain|p0|again"]
    assert again.prompt_sha256 == first.prompt_sha256
    assert again.key != first.key
    asked = job("replicate", ITEMS)
    questions = list(Questioner(asked.spec, renderer, asked.grid, {}, {}).ask(asked.items))
    batches = plan_batches(requests_of(questions), token_budget=1024, new_tokens=8)
    beside = {r.id: {x.id for x in group} for b in batches for group in b.groups for r in group}
    for one in ITEMS:
        keys = [q.key for q in questions if q.item == one and ASKED in q.configuration.key]
        assert beside[keys[0]].isdisjoint(beside[keys[1]])
