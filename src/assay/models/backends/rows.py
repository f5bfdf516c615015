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
        stop = held + key_states.shape[-2]
        self.keys = self._key_room[:, :, :stop]
        self.values = self._value_room[:, :, :stop]
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
        chosen.keys = chosen._key_room[:, :, :held]
        chosen.values = chosen._value_room[:, :, :held]
        return chosen

    def paths(self, slots: torch.Tensor, reserve: int) -> ReservedLayer:
        """Return a new layer whose rows hold the `slots` (rows, held) of this one's single row."""
        chosen = ReservedLayer(reserve)
        chosen.lazy_initialization(self.keys, self.values)
        held = slots.shape[1]
        flat = slots.reshape(-1).to(self.keys.device)
        chosen._key_room = _laid_out(self.keys, flat, held, reserve)
        chosen._value_room = _laid_out(self.values, flat, held, reserve)
        chosen.keys = chosen._key_room[:, :, :held]
        chosen.values = chosen._value_room[:, :, :held]
        return chosen

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


def _laid_out(states: torch.Tensor, flat: torch.Tensor, held: int, reserve: int) -> torch.Tensor:
    """Copy slots of (1, heads, all, size), `held` a row, to the front of a roomier buffer."""
    _, heads, _, size = states.shape
    chosen = states[0].index_select(1, flat).view(heads, -1, held, size).transpose(0, 1)
    room = states.new_empty(len(chosen), heads, held + reserve, size)
    room[:, :, :held] = chosen
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
    def gathered(
        cls, model: Any, cache: DynamicCache, paths: Sequence[Tokens], *, reserve: int
    ) -> Rows:
        """Return rows that hold the slots `paths` of a cache of one row, left-padded.

        A row is filled up with its own first slot, which is masked: a number that is none cannot
        come in from another row.
        """
        width = max(map(len, paths))
        slots = torch.tensor([[path[0]] * (width - len(path)) + list(path) for path in paths])
        chosen = DynamicCache()
        chosen.layers = [layer.paths(slots, reserve) for layer in cache.layers]
        rows = cls(model, len(paths), cache=chosen)
        lengths = torch.tensor([len(path) for path in paths], device=rows._device)
        rows._mask = (torch.arange(width, 0, -1, device=rows._device) <= lengths[:, None]).long()
        rows._next = lengths
        return rows

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


def _reserved(model: Any, reserve: int) -> DynamicCache:
    own = DynamicCache(config=model.config)
    own.layers = [ReservedLayer(reserve) for _ in own.layers]
    return own
