from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.extraction import EXTRACTORS, extract
from extraction.fragments import LABEL_SETS, MARKUP, WORDS
from extraction.table import LETTERS, METALS, reads

# No deadline: other work on the machine must not fail a test.
relaxed = settings(deadline=None)
READERS = ("strict", "standard", "lenient")
labels = st.sampled_from(LABEL_SETS)
ascii_words = st.sampled_from([word for word in [*WORDS, *MARKUP] if word.isascii()])
plain_texts = st.lists(ascii_words | st.sampled_from(LETTERS), max_size=8).map(" ".join)
texts = plain_texts | st.text(max_size=40)


@relaxed
@given(st.text(), labels, st.sampled_from(EXTRACTORS))
def test_any_text_gets_a_status(text: str, offered: list[str], extractor: str) -> None:
    found = extract(text, offered, None, extractor)
    assert (found.label is None) == (found.status != "ok")


@relaxed
@given(
    labels.flatmap(lambda offered: st.tuples(st.just(offered), st.sampled_from(offered))),
    st.sampled_from(["{}", "({})", " {}. ", "**{}**", "Answer: {}", "The answer is {}.", "`{}`"]),
    st.sampled_from(READERS),
)
def test_every_label_of_every_set_can_be_declared(
    case: tuple[list[str], str], frame: str, extractor: str
) -> None:
    offered, label = case
    text = frame.format(label)
    found = extract(text, offered, None, extractor)
    assert found.label == label
    assert found.span is not None
    assert text[slice(*found.span)] == label


@relaxed
@given(plain_texts, st.sampled_from(READERS))
def test_full_width_letters_read_as_plain_ones(text: str, extractor: str) -> None:
    wide = text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    assert extract(wide, LETTERS, METALS, extractor) == extract(text, LETTERS, METALS, extractor)


@relaxed
@given(plain_texts, st.data())
def test_invisible_characters_change_nothing(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    assume(not text[place - 1 : place].isdigit())
    hidden = text[:place] + "\u200b" + text[place:]
    assert reads(hidden) == reads(text)


@relaxed
@given(texts, st.sampled_from(READERS))
def test_a_closed_thinking_block_shifts_the_span_only(text: str, extractor: str) -> None:
    assume("think" not in text.lower() and "<|" not in text and "◁" not in text)
    block = "<think>A or B, the answer is C</think>"
    plain = extract(text, LETTERS, METALS, extractor)
    after = extract(block + text, LETTERS, METALS, extractor)
    assert (after.status, after.label, after.rule) == (plain.status, plain.label, plain.rule)
    if plain.span is not None:
        assert after.span == (plain.span[0] + len(block), plain.span[1] + len(block))


@relaxed
@given(plain_texts)
def test_the_next_question_changes_nothing(text: str) -> None:
    assume(text.strip() and not set("<◁[") & set(text))
    assert reads(text + "\n\nQuestion: Which?\nA. x\nAnswer: D") == reads(text)


@relaxed
@given(texts)
def test_extractors_are_ordered_by_what_they_accept(text: str) -> None:
    strict, standard, lenient = (extract(text, LETTERS, METALS, name) for name in READERS)
    assert strict.label is None or strict == standard
    assert standard.label is None or standard == lenient


@relaxed
@given(st.permutations(METALS), st.sampled_from(METALS))
def test_an_option_text_follows_its_option(shown: list[str], metal: str) -> None:
    expected = LETTERS[shown.index(metal)]
    assert reads(metal, options=shown) == expected
    assert reads(f"The answer is {metal}.", options=shown) == expected
    assert reads(f"{expected}. {metal}", options=shown) == expected
