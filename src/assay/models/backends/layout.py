"""How the tokens of a trie see each other: short chunks of queries, each over its own keys.

All nodes of a trie are run as one row without padding, in depth-first order. One mask over all of
them would cost attention between every pair. Instead the row is cut into chunks of consecutive
nodes; what a node of a chunk sees is in the chunk itself or on the path to the chunk's first node:
a node before the chunk that a later node descends from has its subtree open at the chunk's first
node too, so that it is an ancestor of that one as well.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from assay.models.trie import Trie

#: Queries in a chunk. More waste attention on pairs that do not see each other, fewer copy the
#: same path more often; 32 to 64 are equally fast on the embedded models.
CHUNK = 48


class Layout:
    """Queries, keys and masks of the nodes ``start … stop - 1`` of a trie.

    Parameters
    ----------
    trie : Trie
        Nodes before `start` have been run already and are in the cache, one slot a node.
    device : torch.device
        Where the tensors are wanted.

    Attributes
    ----------
    windows : list
        The sliding window (or None) that each attention layer asked a mask for, in order.
    """

    def __init__(self, trie: Trie, start: int, stop: int, device: torch.device):
        self.windows: list[int | None] = []
        self._device = device
        self._size = stop - start
        firsts = range(start, stop, CHUNK)
        keys = [[*trie.ancestors(f), *range(f, min(f + CHUNK, stop))] for f in firsts]
        width = max(map(len, keys))
        # A row is filled up with its own first key, which is masked.
        table = np.array([[*row, *[row[0]] * (width - len(row))] for row in keys])
        real = np.arange(width) < np.array([[len(row)] for row in keys])
        queries = start + np.arange(len(keys) * CHUNK).reshape(len(keys), CHUNK)
        self._depths = _depths(trie, queries), _depths(trie, table)
        self._sees = _visible(trie, queries, table) & real[:, None, :]
        self._sees[:, :, 0] |= queries >= stop  # a query that only fills up must see something
        self._keys = torch.from_numpy(table.reshape(-1)).to(device)
        self._masks: dict[int | None, torch.Tensor] = {}

    def mask(self, window: int | None) -> torch.Tensor:
        """Return the mask of a layer: boolean, (chunks, 1, queries, keys)."""
        self.windows.append(window)
        if window not in self._masks:
            sees = self._sees
            if window is not None:
                queries, keys = self._depths
                sees = sees & (queries[:, :, None] - keys[:, None, :] < window)
            self._masks[window] = torch.from_numpy(sees[:, None]).to(self._device)
        return self._masks[window]

    def chunked(self, query: torch.Tensor) -> torch.Tensor:
        """Return (1, heads, new tokens, size) as (chunks, heads, queries, size)."""
        _, heads, new, size = query.shape
        chunks = -(-new // CHUNK)
        filled = torch.nn.functional.pad(query[0], (0, 0, 0, chunks * CHUNK - new))
        return filled.view(heads, chunks, CHUNK, size).transpose(0, 1)

    def gathered(self, states: torch.Tensor) -> torch.Tensor:
        """Return keys or values (1, heads, slots, size) as (chunks, heads, keys, size)."""
        _, heads, _, size = states.shape
        chosen = states[0].index_select(1, self._keys.to(states.device))
        return chosen.view(heads, len(self._sees), -1, size).transpose(0, 1)

    def joined(self, attended: torch.Tensor) -> torch.Tensor:
        """Return (chunks, queries, heads, size) as (1, new tokens, heads, size)."""
        return attended.flatten(0, 1)[None, : self._size]


def _visible(trie: Trie, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each (chunk, query, key) whether the key is the query or comes before it."""
    after = np.asarray(trie.ends)[keys][:, None, :] > queries[:, :, None]
    visible: NDArray[np.bool_] = after & (keys[:, None, :] <= queries[:, :, None])
    return visible


def _depths(trie: Trie, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the positions of nodes; what fills up the last chunk counts as the last node."""
    positions = np.asarray(trie.depths, dtype=np.int32)
    found: NDArray[np.int32] = positions[np.minimum(nodes, len(positions) - 1)]
    return found
