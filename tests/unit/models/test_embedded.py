"""The embedded models on real items: planned answers are the one-at-a-time answers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from models_oracle import largest_difference, score
from transformers import AutoTokenizer

import assay
from assay.config.registry import load_model
from assay.core.model import Batch, Outcome, Request
from assay.models.anatomy import discover
from assay.models.backends.hf_local import HFLocal
from assay.models.fetch import fetch_model
from assay.models.plan import plan_batches, token_counts
from assay.models.planned import PlannedEngine
from assay.models.render import Renderer

pytestmark = pytest.mark.model

NEW = 8
ORDERS = ("0123", "1230", "2301", "3012", "3210", "1032")
Items = Callable[[str, int], list[dict[str, Any]]]


def generations(renderer: Renderer, items: Sequence[dict[str, Any]]) -> list[Request]:
    """Ask each item for a letter in six orders."""
    requests = []
    for item in items:
        for order in ORDERS:
            lines = (
                f"{label}. {item['options'][int(shown)]}"
                for label, shown in zip("ABCD", order, strict=True)
            )
            text = f"Question: {item['question']}\n" + "\n".join(lines)
            turn = {"role": "user", "content": text + "\nAnswer with the letter only:"}
            ids = renderer.render_chat([turn]).token_ids
            requests.append(Request(f"{item['id']}/{order}", item["id"], ids))
    return requests


def pairs(renderer: Renderer, items: Sequence[dict[str, Any]]) -> list[Request]:
    """Score every option of each item after two stems."""
    requests = []
    for item in items:
        stems = (item["question"], f"Question: {item['question']}\nAnswer:")
        for n, stem in enumerate(stems):
            for k, option in enumerate(item["options"]):
                pair = renderer.encode_pair(stem, " " + option)
                name = f"{item['id']}/{n}"
                requests.append(
                    Request(f"{name}/{k}", name, pair.context_ids, pair.continuation_ids)
                )
    return requests


def ask(
    runtime: HFLocal, requests: Sequence[Request], *, budget: int = 2048, share: bool = True
) -> dict[str, Outcome]:
    plan = plan_batches(requests, token_budget=budget, new_tokens=NEW)
    if not share:
        plan = [Batch(batch.kind, tuple((r,) for r in batch.requests)) for batch in plan]
    outcomes = [o for batch in plan for o in runtime.execute(batch, max_new_tokens=NEW)]
    assert [o.status for o in outcomes] == ["ok"] * len(requests)
    return {outcome.id: outcome for outcome in outcomes}


def best(scores: dict[str, float]) -> dict[str, str]:
    """Return the winning option of each stem by the mean log-probability."""
    winners: dict[str, tuple[float, str]] = {}
    for name, value in scores.items():
        stem, _, option = name.rpartition("/")
        winners[stem] = max(winners.get(stem, (float("-inf"), "")), (value, option))
    return {stem: option for stem, (_, option) in winners.items()}


#: Nats that float32 itself leaves open on one token: the same sums in another order, over a
#: vocabulary of 262,144, differ by up to 1.5e-4 where a prompt has 600 tokens (Gemma, AVX2).
ONE_TOKEN = 5e-4


def _compare_scores(embedded: Any, requests: Sequence[Request]) -> float:
    """Return the largest difference of the score that decides: the mean over an option's tokens."""
    got = ask(embedded.runtime, requests)
    ours = {r.id: sum(got[r.id].logprobs) / len(got[r.id].logprobs) for r in requests}
    exact = {r.id: score(embedded.reference, r) for r in requests}
    theirs = {name: sum(values) / len(values) for name, values in exact.items()}
    assert best(ours) == best(theirs)
    by_token = [
        abs(x - y) for r in requests for x, y in zip(got[r.id].logprobs, exact[r.id], strict=True)
    ]
    assert max(by_token) < ONE_TOKEN
    return max(abs(ours[name] - theirs[name]) for name in ours)


def test_scores_of_real_pairs(embedded: Any, real_items: Items) -> None:
    items = real_items("arc_challenge.full.jsonl.gz", 13)
    requests = pairs(embedded.renderer, items)
    assert len(requests) == 104
    assert _compare_scores(embedded, requests) < 1e-4


@pytest.mark.slow
def test_scores_of_many_real_pairs(
    embedded: Any, real_items: Items, record_property: Callable[[str, object], None]
) -> None:
    items = real_items("arc_challenge.full.jsonl.gz", 53)[13:]
    items += real_items("mmlu.full.jsonl.gz", 20) + real_items("hellaswag.validation.jsonl.gz", 10)
    requests = pairs(embedded.renderer, items)
    assert len(requests) >= 500
    difference = _compare_scores(embedded, requests)
    record_property("largest_difference", difference)
    print(f"{embedded.spec.key}: {len(requests)} pairs, largest difference {difference:.2e}")
    assert difference < 1e-4


def _compare_texts(embedded: Any, requests: Sequence[Request]) -> None:
    """Compare with transformers' own greedy generation of one unpadded prompt."""
    import torch

    got = ask(embedded.runtime, requests)
    for request in requests:
        prompt = torch.tensor([request.context])
        full = embedded.reference.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=NEW,
        )[0, prompt.shape[1] :].tolist()
        ended = full[-1] == embedded.reference.config.eos_token_id
        assert got[request.id].token_ids == tuple(full[:-1] if ended else full)
        assert got[request.id].finish == ("eos" if ended else "length")


def test_texts_of_real_prompts(embedded: Any, real_items: Items) -> None:
    items = real_items("arc_challenge.full.jsonl.gz", 2)
    _compare_texts(embedded, generations(embedded.renderer, items))


@pytest.mark.slow
def test_texts_of_many_real_prompts(embedded: Any, real_items: Items) -> None:
    items = real_items("mmlu.full.jsonl.gz", 12) + real_items("hellaswag.validation.jsonl.gz", 8)
    _compare_texts(embedded, generations(embedded.renderer, items))


def test_sharing_forwards_less_and_answers_the_same(embedded: Any, real_items: Items) -> None:
    items = real_items("arc_challenge.full.jsonl.gz", 2)
    requests = generations(embedded.renderer, items) + pairs(embedded.renderer, items)
    plan = plan_batches(requests, token_budget=2048, new_tokens=NEW)
    counts = token_counts(requests, plan)
    assert counts.floor <= counts.planned < 1.15 * counts.floor < 0.75 * counts.naive
    before = embedded.runtime.stats.forwarded_tokens
    shared = ask(embedded.runtime, requests)
    assert embedded.runtime.stats.forwarded_tokens - before == counts.planned
    alone = ask(embedded.runtime, requests, share=False, budget=700)
    for name, outcome in shared.items():
        assert outcome.token_ids == alone[name].token_ids
        assert outcome.logprobs == pytest.approx(alone[name].logprobs, abs=1e-4)


def test_request_order_changes_no_bit(embedded: Any, real_items: Items) -> None:
    items = real_items("arc_challenge.full.jsonl.gz", 3)[2:]
    requests = generations(embedded.renderer, items) + pairs(embedded.renderer, items)
    shuffled = list(requests)
    random.Random(3).shuffle(shuffled)
    assert ask(embedded.runtime, shuffled) == ask(embedded.runtime, requests)


def test_a_short_prompt_beside_a_long_one(embedded: Any) -> None:
    short = embedded.renderer.encode_pair("The capital of France is", " Paris")
    long = embedded.renderer.encode_pair("One two three. " * 40, " Four")
    requests = [
        Request("short", "a", short.context_ids, short.continuation_ids),
        Request("long", "b", long.context_ids, long.continuation_ids),
    ]
    got = ask(embedded.runtime, requests)
    assert largest_difference(embedded.reference, requests, list(got.values())) < 1e-4


def test_past_the_sliding_window(embedded: Any) -> None:
    """Gemma sees 512 tokens in most layers: prompts beyond that are computed without gaps."""
    stem = " ".join(f"word{n} is here," for n in range(150))
    requests = []
    for n, ending in enumerate((" and", " but the end", " or")):
        pair = embedded.renderer.encode_pair(stem, ending)
        requests.append(Request(f"{n}", "g", pair.context_ids, pair.continuation_ids))
    assert len(requests[0].context) > 512
    got = ask(embedded.runtime, requests, budget=4096)
    assert largest_difference(embedded.reference, requests, list(got.values())) < ONE_TOKEN


def test_bos_exactly_once(embedded: Any) -> None:
    renderer = embedded.renderer
    everywhere = [
        renderer.render_plain("A question").token_ids,
        renderer.render_chat([{"role": "user", "content": "A question"}]).token_ids,
        renderer.encode_pair("A question", " yes").context_ids,
    ]
    if embedded.spec.family == "gemma3":
        assert renderer.bos == 2
        assert [(ids[0], ids.count(2)) for ids in everywhere] == [(2, 1)] * 3
    else:
        # SmolLM2's BOS is the token that opens a turn; the tokenizer does not add it.
        assert renderer.bos is None
        assert [ids.count(1) for ids in everywhere] == [0, 3, 0]


def test_the_default_system_turn_of_smollm2(embedded: Any) -> None:
    if embedded.spec.family == "gemma3":
        assert embedded.renderer.preamble == ""
        return
    expected = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by"
    assert embedded.renderer.preamble.startswith(expected)
    rendered = embedded.renderer.render_chat([{"role": "user", "content": "Hi"}])
    assert rendered.text.count("<|im_start|>system") == 1
    assert rendered.text.endswith("Hi<|im_end|>\n<|im_start|>assistant\n")
    assert rendered.thinking == "unsupported"


@pytest.mark.parametrize(
    "text",
    ["\n\n1", "  7", "\n1. x\n2. y", "In 1969 (A) 12,345.678", "a1b22", "é 5  ", "\t9\n\n\n10"],
)
def test_digits_are_single_tokens_and_texts_come_back(embedded: Any, text: str) -> None:
    """The GGUF's digit splitter, which transformers loses, and Gemma's runs of line breaks."""
    ids = [i for i in embedded.renderer.render_plain(text).token_ids if i != embedded.renderer.bos]
    pieces = [embedded.renderer.decode([i]) for i in ids]
    assert embedded.renderer.decode(ids) == text
    digits = [piece for piece in pieces if re.search(r"\d", piece)]
    assert digits == re.findall(r"\d", text)


def test_bfloat16_runs(project: Path, assay_cache: Path, real_items: Items) -> None:
    spec = load_model(project / "config", "smollm2-135m-bf16", {})
    files = fetch_model(spec, cache=assay_cache, offline=False)
    assert files == fetch_model(
        load_model(project / "config", "smollm2-135m", {}), cache=assay_cache, offline=True
    )
    runtime = HFLocal.load(files.folder, spec, dtype="float32", device="cpu")
    renderer = Renderer(files.folder, spec)
    items = real_items("arc_challenge.full.jsonl.gz", 1)
    got = ask(runtime, generations(renderer, items) + pairs(renderer, items))
    assert all(outcome.token_ids or outcome.logprobs for outcome in got.values())


def test_wrapped_around_plain_transformers_it_is_asked_in_words(embedded: Any) -> None:
    """The same answers as of the runtime that loads by itself, and the model's own parts."""
    spec, runtime = embedded.spec, embedded.runtime
    tokenizer = AutoTokenizer.from_pretrained(embedded.files.folder)
    engine = PlannedEngine(
        runtime, embedded.renderer, token_budget=512, anatomy=lambda: discover(runtime.module)
    )
    loaded = assay.TextModel(spec, runtime.capabilities, engine)
    wrapped = assay.wrap(embedded.reference, tokenizer)
    turns = [[{"role": "user", "content": "What is the capital of France? One word."}]]
    answers = [model.chat(turns, max_new_tokens=4) for model in (loaded, wrapped)]
    assert answers[0] == answers[1]
    stems = ["The capital of France is"] * 2
    found = [model.score(stems, [" Paris", " Rome"]) for model in (loaded, wrapped)]
    for ours, theirs in zip(*found, strict=True):
        assert ours.logprobs == pytest.approx(theirs.logprobs, abs=ONE_TOKEN)
    assert found[0][0].total > found[0][1].total
    parts = loaded.anatomy()
    assert len(parts.layers) == embedded.reference.config.num_hidden_layers
    assert parts.tied
    assert wrapped.spec.chat == spec.chat
    assert embedded.reference.config._attn_implementation == "eager"


def test_loaded_by_key() -> None:
    model = assay.load("smollm2-135m", want={"generate", "logprobs"})
    (answer,) = model.chat(
        [[{"role": "user", "content": "What is the capital of France? One word."}]],
        max_new_tokens=8,
    )
    assert "Paris" in answer.text
    assert answer.prompt.startswith("<|im_start|>system\nYou are a helpful AI assistant")
