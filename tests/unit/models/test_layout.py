"""Chunked attention over a trie equals attention under the one mask that says who sees whom."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from assay.models.backends.attention import attend
from assay.models.backends.layout import CHUNK, Layout
from assay.models.trie import Trie

CPU = torch.device("cpu")


def _forest(seed: int) -> Trie:
    """Return tries of several hundred nodes: long stems, short branches, and single prompts."""
    chance = random.Random(seed)

    def draw(count: int) -> tuple[int, ...]:
        return tuple(chance.randrange(50) for _ in range(count))

    groups = []
    for _ in range(3):
        stem = draw(chance.randrange(1, 2 * CHUNK))
        middles = [stem + draw(chance.randrange(1, 20)) for _ in range(3)]
        groups.append([m + draw(chance.randrange(1, 30)) for m in middles for _ in range(3)])
    return Trie.of([*groups, [draw(3)]])


@pytest.mark.parametrize("window", [None, 5, 60])
@pytest.mark.parametrize("start", [0, 77])
def test_chunks_see_what_the_whole_mask_shows(start: int, window: int | None) -> None:
    trie = _forest(start)
    count = len(trie)
    sees = torch.zeros(count, count, dtype=torch.bool)
    for node in range(count):
        path = [*trie.ancestors(node), node]
        sees[node, path[-window:] if window else path] = True
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(1, h, count, 8, generator=generator) for h in (4, 2, 2))
    expected = scaled_dot_product_attention(
        query[:, :, start:], key, value, attn_mask=sees[start:], enable_gqa=True
    )
    layout = Layout(trie, start, count, CPU)
    module = torch.nn.Module()
    found, _ = attend(
        module, query[:, :, start:], key, value, None, trie_layout=layout, sliding_window=window
    )
    assert found.shape == (1, count - start, 4, 8)
    torch.testing.assert_close(found.transpose(1, 2), expected, atol=1e-5, rtol=1e-5)
    assert layout.windows == [window]


def test_a_chunk_holds_few_keys() -> None:
    """What a chunk attends to grows with its path, not with the batch."""
    prompts = [(1, *[n] * 10) for n in range(2, 200)]
    trie = Trie.of([prompts])
    layout = Layout(trie, 0, len(trie), CPU)
    keys = layout.gathered(torch.zeros(1, 1, len(trie), 1)).shape[2]
    assert CHUNK < keys <= CHUNK + 11
