"""The transformers runtime: planned batches on one machine, answered as if each were alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.core.spec import DType, ModelSpec
from assay.models.backends.answers import greedy, scored
from assay.models.backends.loading import load_causal, pick_device
from assay.models.backends.memory import is_out_of_memory, peak_bytes, release
from assay.models.backends.rows import Rows
from assay.models.files import max_length
from assay.models.plan import common_prefix, forwarded, prefix_length

Groups = tuple[tuple[Request, ...], ...]
#: (index of its group, tokens after the group's prefix, the request)
_Member = tuple[int, tuple[int, ...], Request]

#: Most bytes of float32 logits held at once while scoring; more rows are scored in turns.
LOGIT_BYTES = 512 << 20


@dataclass(slots=True)
class Stats:
    """What a model has done since it was loaded.

    Attributes
    ----------
    load_s, forward_s, decode_s : float
        Seconds in loading, in prompts (prefill and scoring), and in generated tokens.
    prompt_tokens : int
        Prompt tokens as one request at a time would forward them.
    forwarded_tokens : int
        Prompt tokens forwarded, shared prefixes once, padding left out.
    new_tokens : int
        Generated tokens.
    splits : int
        Times that a batch was halved because memory ran out.
    peak_bytes : int
        Most memory used, of the device or resident on a CPU.
    """

    load_s: float = 0.0
    forward_s: float = 0.0
    decode_s: float = 0.0
    prompt_tokens: int = 0
    forwarded_tokens: int = 0
    new_tokens: int = 0
    splits: int = 0
    peak_bytes: int = 0


class HFLocal:
    """A transformers model in this process (see `assay.core.model.Model`).

    Parameters
    ----------
    model : transformers.PreTrainedModel
        A causal language model in eval mode.
    limit : int or None
        Most tokens of prompt and answer together; None if unbounded.
    """

    def __init__(self, model: Any, *, limit: int | None):
        self.stats = Stats()
        self._model = model
        self._limit = limit
        self._device: torch.device = model.get_input_embeddings().weight.device
        self._end = _end_tokens(model)
        self._vocabulary: int = model.config.get_text_config(decoder=True).vocab_size
        self._window, self._branches = _cache_traits(model)

    @classmethod
    def load(
        cls,
        folder: Path,
        spec: ModelSpec,
        *,
        dtype: DType,
        device: str = "auto",
        threads: int | None = None,
    ) -> HFLocal:
        """Load a model folder.

        Parameters
        ----------
        folder : Path
            From `assay.models.fetch.fetch_model`.
        dtype : str
            The run's number format; `spec.dtype` overrides it.
        device : str
            "auto" (CUDA, then MPS, then CPU) or a torch device name.
        threads : int, optional
            CPU threads; results on a CPU are byte-identical only at a fixed number.
        """
        started = time.perf_counter()
        if threads is not None:
            torch.set_num_threads(threads)
        place = pick_device(device)
        loaded = load_causal(folder, spec, dtype=spec.dtype or dtype, device=place)
        runtime = cls(loaded, limit=max_length(folder))
        runtime.stats.load_s = time.perf_counter() - started
        return runtime

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this runtime can give."""
        return frozenset({Capability.GENERATE, Capability.LOGPROBS})

    @property
    def module(self) -> Any:
        """The loaded transformers model."""
        return self._model

    def execute(self, batch: Batch, *, max_new_tokens: int) -> Sequence[Outcome]:
        """Answer every request of `batch`, in its order.

        A request that has no room in the model's positions is `too_long`; nothing is cut. Where
        memory runs out the batch is halved, down to one request, which is then `oom`.

        Raises
        ------
        ModelError
            If an outcome is missing or comes twice: never passed over.
        """
        extra = max_new_tokens if batch.kind == "generate" else 0
        fits = tuple(
            kept
            for group in batch.groups
            if (kept := tuple(r for r in group if not self._too_long(r, extra)))
        )
        outcomes = self._guarded(batch.kind, fits, max_new_tokens) if fits else []
        outcomes += [_too_long(r, self._limit) for r in batch.requests if self._too_long(r, extra)]
        self.stats.peak_bytes = max(self.stats.peak_bytes, peak_bytes(self._device))
        by_id = {outcome.id: outcome for outcome in outcomes}
        if len(outcomes) != len(batch.requests) or len(by_id) != len(outcomes):
            raise ModelError(
                f"{len(outcomes)} outcomes came back for {len(batch.requests)} requests.",
                where=batch.requests[0].id,
                fix="this is a fault of the runtime: please report it.",
            )
        return [by_id[request.id] for request in batch.requests]

    def _too_long(self, request: Request, extra: int) -> bool:
        return self._limit is not None and request.length + extra > self._limit

    def _guarded(self, kind: str, groups: Groups, limit: int) -> list[Outcome]:
        """Run `groups`; where memory runs out, run each half, down to one request."""
        detail = ""
        try:
            return self._run(kind, groups, limit)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            detail = str(error).partition("\n")[0]
        # Outside the handler, so that the failed batch's tensors are free before the next try.
        release(self._device)
        halves = _halves(groups)
        if halves is None:
            return [Outcome(groups[0][0].id, "oom", detail=detail)]
        self.stats.splits += 1
        return [outcome for half in halves for outcome in self._guarded(kind, half, limit)]

    @torch.inference_mode()
    def _run(self, kind: str, groups: Groups, limit: int) -> list[Outcome]:
        answer = self._generate if kind == "generate" else self._score
        extra = limit if kind == "generate" else 0
        return [o for turn in self._turns(groups, extra) for o in answer(turn, limit)]

    def _turns(self, groups: Groups, extra: int) -> list[Groups]:
        """Return the groups as they can be computed together on this model."""
        if not self._branches:  # recurrent state: every request alone, unpadded
            return [((request,),) for group in groups for request in group]
        if self._gap_too_wide(groups, extra):
            return [tuple((request,) for group in groups for request in group)]
        return [groups]

    def _gap_too_wide(self, groups: Groups, extra: int) -> bool:
        """Tell whether padding inside a row would push a token out of a sliding window.

        The window is counted in slots; rows without a shared prefix have no gap inside.
        """
        if self._window is None or all(len(group) == 1 for group in groups):
            return False
        prefixes = [prefix_length(group) for group in groups]
        suffix = max(
            len(forwarded(request)) - prefix
            for prefix, group in zip(prefixes, groups, strict=True)
            for request in group
        )
        return max(prefixes) + suffix + extra > self._window

    def _score(self, groups: Groups, _: int) -> list[Outcome]:
        started = time.perf_counter()
        rows, members = self._prefill(groups, reserve=0)
        width = max(len(request.continuation or ()) for _, _, request in members)
        turn = max(1, LOGIT_BYTES // (2 * 4 * width * self._vocabulary))
        outcomes: list[Outcome] = []
        for start in range(0, len(members), turn):
            part = members[start : start + turn]
            branched = rows.branch([group for group, _, _ in part])
            logits = branched.predict([suffix for _, suffix, _ in part], logits=width)
            outcomes += scored([request for _, _, request in part], logits)
        self.stats.forward_s += time.perf_counter() - started
        return outcomes

    def _generate(self, groups: Groups, limit: int) -> list[Outcome]:
        started = time.perf_counter()
        rows, members = self._prefill(groups, reserve=limit)
        rows = rows.branch([group for group, _, _ in members], reserve=limit)
        logits = rows.predict([suffix for _, suffix, _ in members], logits=1)
        ready = time.perf_counter()
        outcomes = greedy(
            rows, logits, [request for _, _, request in members], limit=limit, end=self._end
        )
        self.stats.forward_s += ready - started
        self.stats.decode_s += time.perf_counter() - ready
        self.stats.new_tokens += sum(len(outcome.token_ids) for outcome in outcomes)
        return outcomes

    def _prefill(self, groups: Groups, *, reserve: int) -> tuple[Rows, list[_Member]]:
        """Run every shared prefix once; return a row a group, and what is left of each request."""
        heads = [forwarded(group[0])[: prefix_length(group)] for group in groups]
        common = common_prefix(heads)
        if self._branches:
            rows = Rows(self._model, 1, reserve=reserve)
            rows.extend([heads[0][:common]])
            rows = rows.branch([0] * len(groups), reserve=reserve)
        else:
            own = DynamicCache(config=self._model.config)
            rows = Rows(self._model, len(groups), cache=own)
        rows.extend([head[common:] for head in heads])
        members = [
            (index, forwarded(request)[len(heads[index]) :], request)
            for index, group in enumerate(groups)
            for request in group
        ]
        self.stats.prompt_tokens += sum(len(forwarded(request)) for _, _, request in members)
        self.stats.forwarded_tokens += common + sum(len(head) - common for head in heads)
        self.stats.forwarded_tokens += sum(len(suffix) for _, suffix, _ in members)
        return rows, members


def _too_long(request: Request, limit: int | None) -> Outcome:
    detail = f"{request.length} tokens and the answer exceed the model's {limit} positions"
    return Outcome(request.id, "too_long", detail=detail)


def _halves(groups: Groups) -> tuple[Groups, Groups] | None:
    """Cut by groups, then by members; None for one request."""
    if len(groups) > 1:
        middle = len(groups) // 2
        return groups[:middle], groups[middle:]
    (only,) = groups
    middle = len(only) // 2
    return ((only[:middle],), (only[middle:],)) if middle else None


def _end_tokens(model: Any) -> frozenset[int]:
    """Return every id that ends an answer, from the generation settings and the configuration."""
    text = model.config.get_text_config(decoder=True)
    found = [model.generation_config.eos_token_id, text.eos_token_id]
    return frozenset(
        token
        for ids in found
        if ids is not None
        for token in (ids if isinstance(ids, list | tuple) else [ids])
    )


def _cache_traits(model: Any) -> tuple[int | None, bool]:
    """Return the narrowest sliding window, and whether the cache holds one slot a token."""
    layers = DynamicCache(config=model.config).layers
    branches = all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
    windows = [x.sliding_window for x in layers if isinstance(x, DynamicSlidingWindowLayer)]
    return min(windows, default=None), branches
