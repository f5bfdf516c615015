"""The token trie of a set of prompts: every shared prefix once, in depth-first order.

A causal model computes a token from the tokens before it and nothing else, so what two prompts
share up to a position is the same computation. The number of nodes of the trie is therefore the
least number of tokens that any exact runtime can forward: the floor that a plan is held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Tokens = tuple[int, ...]


def common_length(a: Tokens, b: Tokens) -> int:
    """Return the length of the longest common prefix of two token sequences."""
    for position, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return position
    return min(len(a), len(b))


def trie_size(sequences: Sequence[Tokens]) -> int:
    """Return the number of nodes of the trie of `sequences`.

    Examples
    --------
    >>> trie_size([(1, 2, 3), (1, 2, 4), (1, 2)])
    4
    """
    ordered = sorted(sequences)
    shared = sum(common_length(a, b) for a, b in zip(ordered, ordered[1:], strict=False))
    return sum(map(len, ordered)) - shared


@dataclass(slots=True)
class Trie:
    """Nodes of one or several tries, numbered depth first.

    Attributes
    ----------
    tokens : list of int
        Token of each node.
    parents : list of int
        Node before it; -1 for a first token. A parent comes before its children.
    depths : list of int
        Position of the node in its sequences, counted from 0.
    ends : list of int
        One past the last node of the subtree, so that `a` is `b` or comes before it in a sequence
        exactly if ``a <= b < ends[a]``.
    paths : list of tuple of int
        Nodes of each sequence, in the order in which the sequences were given.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    paths: list[Tokens] = field(default_factory=list)

    @classmethod
    def of(cls, groups: Sequence[Sequence[Tokens]]) -> Trie:
        """Return a trie for each group, side by side: nothing is shared between groups."""
        forest = cls()
        for group in groups:
            forest._add(group)
        return forest

    def __len__(self) -> int:
        return len(self.tokens)

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes before `node` in its sequences, first token first."""
        found: list[int] = []
        while (node := self.parents[node]) >= 0:
            found.append(node)
        return found[::-1]

    def _add(self, sequences: Sequence[Tokens]) -> None:
        paths: dict[int, Tokens] = {}
        open_nodes: list[int] = []
        before: Tokens = ()
        for index in sorted(range(len(sequences)), key=sequences.__getitem__):
            tokens = sequences[index]
            self._close(open_nodes, common_length(before, tokens))
            for token in tokens[len(open_nodes) :]:
                self.parents.append(open_nodes[-1] if open_nodes else -1)
                self.depths.append(len(open_nodes))
                open_nodes.append(len(self.tokens))
                self.tokens.append(token)
                self.ends.append(0)
            paths[index] = tuple(open_nodes)
            before = tokens
        self._close(open_nodes, 0)
        self.paths += [paths[index] for index in range(len(sequences))]

    def _close(self, open_nodes: list[int], keep: int) -> None:
        for node in open_nodes[keep:]:
            self.ends[node] = len(self.tokens)
        del open_nodes[keep:]
