"""The token trie against its definition: the set of all prefixes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.trie import Trie, common_length, trie_size

tokens = st.lists(st.integers(0, 2), min_size=1, max_size=7).map(tuple)
groups = st.lists(st.lists(tokens, min_size=1, max_size=8), min_size=1, max_size=3)


def _prefixes(sequences: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {sequence[: n + 1] for sequence in sequences for n in range(len(sequence))}


@given(st.lists(tokens, max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_size_is_the_number_of_different_prefixes(sequences: list[tuple[int, ...]]) -> None:
    assert trie_size(sequences) == len(_prefixes(sequences))


@given(groups)
@settings(max_examples=60, deadline=None)
def test_every_path_spells_its_sequence_and_no_prefix_is_held_twice(
    several: list[list[tuple[int, ...]]],
) -> None:
    trie = Trie.of(several)
    given_order = [sequence for group in several for sequence in group]
    assert len(trie) == sum(len(_prefixes(group)) for group in several)
    assert len(trie.paths) == len(given_order)
    for path, sequence in zip(trie.paths, given_order, strict=True):
        assert tuple(trie.tokens[node] for node in path) == sequence
        assert [trie.depths[node] for node in path] == list(range(len(path)))
        assert trie.ancestors(path[-1]) == list(path[:-1])


@given(groups)
@settings(max_examples=60, deadline=None)
def test_a_subtree_is_a_range_of_nodes(several: list[list[tuple[int, ...]]]) -> None:
    trie = Trie.of(several)
    for node in range(len(trie)):
        for other in range(len(trie)):
            before = other == node or other in trie.ancestors(node)
            assert before == (other <= node < trie.ends[other])


def test_groups_share_nothing() -> None:
    assert len(Trie.of([[(1, 2, 3)], [(1, 2, 4)]])) == 6
    assert len(Trie.of([[(1, 2, 3), (1, 2, 4)]])) == 4


def test_common_length() -> None:
    assert common_length((1, 2, 3), (1, 2)) == 2
    assert common_length((), (1,)) == 0
    assert common_length((2,), (1,)) == 0
