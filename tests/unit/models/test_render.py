"""Exactly what is sent: template once, BOS once, a fixed date, no thinking, honest boundaries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from assay.core.errors import ModelError
from assay.core.pins import PathPin
from assay.core.spec import ModelSpec
from assay.models.render import Renderer

ASK = [{"role": "user", "content": "Which?"}]

#: After Llama 3's: a BOS of its own, and a date that falls back to today's.
DATED = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    "{%- set date_string = strftime_now('%d %b %Y') %}{%- else %}"
    "{%- set date_string = '26 Jul 2024' %}{%- endif %}{%- endif %}"
    "[system]Today Date: {{ date_string }}[end]"
    "{%- for m in messages %}[{{ m['role'] }}]{{ m['content'] | trim }}[end]{%- endfor %}"
    "{%- if add_generation_prompt %}[assistant]{%- endif %}"
)
#: After Mistral Small's: the date can come from the clock only.
CLOCKED = (
    "[system]{{ strftime_now('%Y-%m-%d') }}[end]{% for m in messages %}"
    "[{{ m['role'] }}]{{ m['content'] }}[end]{% endfor %}[assistant]"
)
#: After Qwen 3's: thinking is switched off by an empty block.
SWITCHED = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}[assistant]"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}"
)
#: After Granite's: the flag has another name and adds an instruction when it is on.
OPTED_IN = (
    "{% if thinking %}[system]Think first.[end]{% endif %}"
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}[assistant]"
)
#: After Qwen 3 Thinking's: always thinks; the flag is accepted and ignored.
ALWAYS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}[assistant]<think>\n"
PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}[assistant]"

Make = Callable[..., Renderer]


def _tokenizer(*, adds_bos: bool, merges: list[tuple[str, str]]) -> Tokenizer:
    """Return a byte-level tokenizer with the given merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: n for n, token in enumerate(["<s>", "</s>", *alphabet])}
    for pair in merges:
        vocabulary["".join(pair)] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    if adds_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)]
        )
    return tokenizer


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that writes a tokenizer folder and opens it."""

    def renderer(
        template: str | None = None,
        *,
        adds_bos: bool = False,
        merges: list[tuple[str, str]] | None = None,
        chat: str | None = None,
        **arguments: Any,
    ) -> Renderer:
        folder = tmp_path / "model"
        PreTrainedTokenizerFast(
            tokenizer_object=_tokenizer(adds_bos=adds_bos, merges=merges or []),
            bos_token="<s>",
            eos_token="</s>",
            chat_template=template,
        ).save_pretrained(folder)
        config = {"model_type": "llama", "max_position_embeddings": 512}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        spec = ModelSpec(
            key="mine",
            family="none",
            source=PathPin(path=str(folder)),
            licence="none",
            chat=chat or ("template" if template else "plain"),
            template_arguments=arguments,
        )
        return Renderer(folder, spec)

    return renderer


@pytest.mark.parametrize("template", [DATED, CLOCKED], ids=["date_string", "strftime_now"])
def test_a_date_in_the_template_is_fixed(make: Make, template: str) -> None:
    text = make(template).render_chat(ASK).text
    assert ("26 Jul 2024" in text) or ("2024-07-26" in text)


@pytest.mark.parametrize("adds_bos", [True, False])
@pytest.mark.parametrize("template", [DATED, PLAIN], ids=["template has BOS", "template has none"])
def test_one_bos_where_the_tokenizer_adds_one(make: Make, adds_bos: bool, template: str) -> None:
    renderer = make(template, adds_bos=adds_bos)
    assert renderer.bos == (0 if adds_bos else None)
    chat = renderer.render_chat(ASK).token_ids
    plain = renderer.render_plain("Which?").token_ids
    pair = renderer.encode_pair("Which?", " This")
    doubled = renderer.render_plain("<s><s>Which?").token_ids
    if adds_bos:
        assert [ids.count(0) for ids in (chat, plain, pair.context_ids, doubled)] == [1] * 4
        assert {ids[0] for ids in (chat, plain, pair.context_ids, doubled)} == {0}
        assert pair.continuation_ids.count(0) == 0
    else:
        # The template's own first token is the model's format and stays.
        assert chat.count(0) == (1 if template == DATED else 0)
        assert plain.count(0) == pair.context_ids.count(0) == 0


def test_the_default_system_turn_is_kept_and_told(make: Make) -> None:
    renderer = make(DATED)
    assert renderer.preamble == "<s>[system]Today Date: 26 Jul 2024[end][user]"
    assert renderer.render_chat(ASK).text == renderer.preamble + "Which?[end][assistant]"


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        (SWITCHED, {}, "off"),
        (SWITCHED, {"enable_thinking": True}, "on"),
        (OPTED_IN, {}, "off"),
        (OPTED_IN, {"thinking": True}, "on"),
        (ALWAYS, {}, "on"),
        (ALWAYS, {"enable_thinking": False}, "on"),
        (PLAIN, {}, "unsupported"),
        (PLAIN, {"enable_thinking": False}, "unsupported"),
    ],
)
def test_thinking_is_read_off_the_text(
    make: Make, template: str, arguments: dict[str, bool], expected: str
) -> None:
    assert make(template, **arguments).render_chat(ASK).thinking == expected


def test_an_empty_thinking_block_is_in_the_text_that_is_sent(make: Make) -> None:
    assert make(SWITCHED).render_chat(ASK).text.endswith("[assistant]<think>\n\n</think>\n\n")


def test_a_model_without_a_template_says_what_to_set(make: Make) -> None:
    with pytest.raises(ModelError, match="mine: .*no chat template.*chat: plain"):
        make(None, chat="template")


def test_a_plain_model_gets_the_text_as_it_is(make: Make) -> None:
    rendered = make(PLAIN, chat="plain").render_chat(ASK)
    assert rendered.text == "Which?"
    assert rendered.thinking == "unsupported"
    assert rendered.sha256 == hashlib.sha256(b"Which?").hexdigest()


def test_tokens_of_a_pair_extend_the_stem(make: Make) -> None:
    renderer = make(adds_bos=True)
    pair = renderer.encode_pair("Question: x\nAnswer:", " yes")
    assert pair.boundary is False
    assert renderer.decode(pair.continuation_ids) == " yes"
    assert pair.context_ids == renderer.render_plain("Question: x\nAnswer:").token_ids


MERGES = [("A", "n"), ("An", "s"), ("w", "e"), ("we", "r"), ("Ans", "wer")]


def test_a_merge_over_the_boundary_is_flagged_and_scored_from_the_common_prefix(
    make: Make,
) -> None:
    renderer = make(adds_bos=True, merges=MERGES)
    pair = renderer.encode_pair("So: Ans", "wer it")
    assert pair.boundary is True
    assert renderer.decode(pair.context_ids) == "So: "
    assert renderer.decode(pair.continuation_ids) == "Answer it"


def test_a_merge_that_swallows_the_whole_text_leaves_nothing_to_score(make: Make) -> None:
    pair = make(adds_bos=False, merges=MERGES).encode_pair("Ans", "wer")
    assert (len(pair.context_ids), pair.continuation_ids, pair.boundary) == (1, (), True)
    with_bos = make(adds_bos=True, merges=MERGES).encode_pair("Ans", "wer")
    assert (len(with_bos.context_ids), len(with_bos.continuation_ids)) == (1, 1)


def test_an_empty_continuation_has_no_tokens(make: Make) -> None:
    pair = make(adds_bos=True).encode_pair("Answer:", "")
    assert (pair.continuation_ids, pair.boundary) == ((), False)


def test_digests_follow_their_files(make: Make) -> None:
    first, second = make(PLAIN), make(DATED)
    assert first.template_sha256 == hashlib.sha256(PLAIN.encode()).hexdigest()
    assert second.template_sha256 != first.template_sha256
    assert second.tokenizer_sha256 == first.tokenizer_sha256
    assert make(PLAIN, adds_bos=True).tokenizer_sha256 != first.tokenizer_sha256
    assert make(PLAIN, chat="plain").template_sha256 is None
    assert first.max_length == 512
