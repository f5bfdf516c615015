"""Sequences in flight: token rows over one key-value cache that can branch and shrink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

Tokens = Sequence[int]


class ReservedLayer(DynamicLayer):  # type: ignore[misc]  # transformers has no types
    """A cache layer that keeps room to grow, so that a decoding step copies only its own tokens.

    The plain dynamic layer concatenates, which copies the whole cache at every step.
    """

    def __init__(self, reserve: int = 0):
        super().__init__()
        self.reserve = reserve
        self._key_room: torch.Tensor | None = None
        self._value_room: torch.Tensor | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append new keys and values, each (rows, heads, new, size); return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        held = self.get_seq_length()
        self._key_room = self._with_room(self._key_room, held, key_states)
        self._value_room = self._with_room(self._value_room, held, value_states)
        self._show(held + key_states.shape[-2])
        return self.keys, self.values

    def select(self, indices: torch.Tensor, reserve: int) -> ReservedLayer:
        """Return a new layer that holds the rows `indices` (repeats allowed) of this one."""
        chosen = ReservedLayer(reserve)
        if self.keys is None or self.get_seq_length() == 0:
            return chosen
        chosen.lazy_initialization(self.keys, self.values)
        held = self.get_seq_length()
        on_device = indices.to(self.keys.device)
        chosen._key_room = _grown(self.keys, on_device, held + reserve)
        chosen._value_room = _grown(self.values, on_device, held + reserve)
        chosen._show(held)
        return chosen

    def place(self, first: int, count: int, slots: torch.Tensor, source: ReservedLayer) -> None:
        """Fill the rows from `first` on with `slots` (rows, held) of the single row of `source`.

        The first call makes room for `count` rows.
        """
        if not self.is_initialized:
            self.lazy_initialization(source.keys, source.values)
            self._key_room = self._room(count, slots.shape[1], source.keys)
            self._value_room = self._room(count, slots.shape[1], source.values)
            self._show(slots.shape[1])
        flat = slots.reshape(-1).to(self.keys.device)
        for held, states in ((self.keys, source.keys), (self.values, source.values)):
            chosen = states[0].index_select(1, flat).view(states.shape[1], *slots.shape, -1)
            held[first : first + len(slots)] = chosen.transpose(0, 1)

    def move(self, sources: torch.Tensor, targets: torch.Tensor, count: int) -> None:
        """Copy rows `sources` over rows `targets` and keep the first `count` rows."""
        held = self.get_seq_length()
        for room in (self._key_room, self._value_room):
            if room is not None and len(sources):
                room[targets.to(room.device), :, :held] = room[sources.to(room.device), :, :held]
        self._key_room, self._value_room = (
            None if room is None else room[:count] for room in (self._key_room, self._value_room)
        )
        self._show(held)

    def _room(self, count: int, held: int, states: torch.Tensor) -> torch.Tensor:
        _, heads, _, size = states.shape
        return states.new_empty(count, heads, held + self.reserve, size)

    def _show(self, held: int) -> None:
        """Make the first `held` slots of every row the content."""
        if self._key_room is not None and self._value_room is not None:
            self.keys = self._key_room[:, :, :held]
            self.values = self._value_room[:, :, :held]

    def _with_room(
        self, room: torch.Tensor | None, held: int, states: torch.Tensor
    ) -> torch.Tensor:
        """Return a buffer that holds the old content and, at `held`, the new states."""
        rows, heads, new, size = states.shape
        if room is None or room.shape[2] < held + new:
            wider = states.new_empty(rows, heads, held + new + self.reserve, size)
            if room is not None:
                wider[:, :, :held] = room[:, :, :held]
            room = wider
        room[:, :, held : held + new] = states
        return room


def _grown(states: torch.Tensor, indices: torch.Tensor, capacity: int) -> torch.Tensor:
    """Copy chosen rows of (rows, heads, held, size) to the front of a buffer of `capacity`."""
    _, heads, held, size = states.shape
    room = states.new_empty(len(indices), heads, capacity, size)
    room[:, :, :held] = states[indices]
    return room


class Rows:
    """Token rows that have been run through a model, ready to be extended.

    Every extension left-pads its segments to one width, so that gaps may lie anywhere in a row's
    slots; the attention mask hides them and explicit position ids count real tokens only. A row
    therefore gets what it would get alone.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model in eval mode.
    count : int
        Number of rows.
    cache : transformers cache, optional
        The model's own kind of cache, for models whose state cannot branch.
    reserve : int
        Slots that the cache keeps free for later tokens.
    """

    def __init__(self, model: Any, count: int, *, cache: Any = None, reserve: int = 0):
        self._model = model
        self._device = model.get_input_embeddings().weight.device
        self._cache = _reserved(model, reserve) if cache is None else cache
        self._mask = torch.zeros(count, 0, dtype=torch.long, device=self._device)
        self._next = torch.zeros(count, dtype=torch.long, device=self._device)

    @classmethod
    def awaiting(cls, model: Any, count: int, *, width: int, reserve: int) -> Rows:
        """Return `count` rows that will hold up to `width` tokens each, once they are placed."""
        rows = cls(model, count, reserve=reserve)
        rows._mask = rows._mask.new_zeros(count, width)
        return rows

    def place(self, first: int, cache: DynamicCache, paths: Sequence[Tokens]) -> None:
        """Fill the rows from `first` on with the slots `paths` of a cache of one row, left-padded.

        A row is filled up with its own first slot, which is masked: a number that is none cannot
        come in from another row.
        """
        count, width = self._mask.shape
        slots = torch.tensor([[path[0]] * (width - len(path)) + list(path) for path in paths])
        for layer, source in zip(self._cache.layers, cache.layers, strict=True):
            layer.place(first, count, slots, source)
        lengths = torch.tensor([len(path) for path in paths], device=self._device)
        placed = slice(first, first + len(paths))
        self._mask[placed] = (
            torch.arange(width, 0, -1, device=self._device) <= lengths[:, None]
        ).long()
        self._next[placed] = lengths

    def __len__(self) -> int:
        return len(self._next)

    def extend(self, segments: Sequence[Tokens]) -> None:
        """Append one token segment to every row; segments may differ in length and be empty."""
        if any(segments):
            # The model without its head: no logits are wanted, and a head over a large
            # vocabulary costs more than all layers of a small model.
            self._model.base_model(**self._append(segments))

    def predict(self, segments: Sequence[Tokens], *, logits: int) -> torch.Tensor:
        """Append one token segment to every row and return what the model expects next.

        Parameters
        ----------
        segments : sequence of token sequences
            One a row, at least one of them not empty.
        logits : int
            How many last positions of each row to return.

        Returns
        -------
        Tensor
            (rows, logits, vocabulary) in the model's dtype.
        """
        outputs = self._model(**self._append(segments), logits_to_keep=logits)
        found: torch.Tensor = outputs.logits
        return found[:, -logits:]

    def _append(self, segments: Sequence[Tokens]) -> dict[str, Any]:
        width = max(map(len, segments))
        ids = [[0] * (width - len(s)) + list(s) for s in segments]
        real = [[0] * (width - len(s)) + [1] * len(s) for s in segments]
        present = torch.tensor(real, device=self._device)
        position = self._next[:, None] + present.cumsum(1) - 1
        self._mask = torch.cat([self._mask, present], dim=1)
        self._next = self._next + present.sum(1)
        return {
            "input_ids": torch.tensor(ids, device=self._device),
            "attention_mask": self._mask,
            "position_ids": position.clamp(min=0),
            "past_key_values": self._cache,
            "use_cache": True,
        }

    def branch(self, indices: Sequence[int], *, reserve: int = 0) -> Rows:
        """Return rows that continue from rows `indices` of these; repeats are allowed.

        All rows in their order are these rows themselves: a state that cannot be copied (recurrent
        models) can then still be used for one sequence.
        """
        if list(indices) == list(range(len(self))):
            return self
        chosen = torch.tensor(indices, dtype=torch.long, device=self._device)
        cache = DynamicCache()
        cache.layers = [layer.select(chosen, reserve) for layer in self._cache.layers]
        rows = Rows(self._model, len(indices), cache=cache)
        rows._mask = self._mask[chosen]
        rows._next = self._next[chosen]
        return rows

    def keep(self, stay: Sequence[int]) -> tuple[Rows, list[int]]:
        """Return rows `stay` of these, and their places here in the order that they now have.

        Where the cache is ours the rows that leave are overwritten by the last ones, so that a few
        that leave cost no copy of the others; these rows must not be used any more.
        """
        if not all(isinstance(layer, ReservedLayer) for layer in self._cache.layers):
            return self.branch(stay), list(stay)
        count, kept = len(stay), set(stay)
        gaps = [place for place in range(count) if place not in kept]
        late = [place for place in stay if place >= count]
        targets, sources = (torch.tensor(x, dtype=torch.long) for x in (gaps, late))
        for layer in self._cache.layers:
            layer.move(sources, targets, count)
        order = list(range(count))
        for gap, place in zip(gaps, late, strict=True):
            order[gap] = place
        chosen = torch.tensor(order, device=self._device)
        self._mask, self._next = self._mask[chosen], self._next[chosen]
        return self, order


def _reserved(model: Any, reserve: int) -> DynamicCache:
    own = DynamicCache(config=model.config)
    own.layers = [ReservedLayer(reserve) for _ in own.layers]
    return own
