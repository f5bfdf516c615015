"""The transformers runtime: planned batches on one machine, answered as if each were alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from assay.core.capability import Capability
from assay.core.errors import ModelError
from assay.core.model import Batch, Outcome, Request
from assay.core.spec import DType, ModelSpec
from assay.models.backends.answers import greedy
from assay.models.backends.attention import choose_attention
from assay.models.backends.loading import load_causal, pick_device
from assay.models.backends.memory import is_out_of_memory, peak_bytes, release
from assay.models.backends.packed import Packed, takes_tries
from assay.models.backends.padded import Groups, Padded
from assay.models.backends.rows import Rows
from assay.models.files import max_length
from assay.models.padded import padded_counts
from assay.models.plan import forwarded

_Run = Callable[[str, Groups, int], list[Outcome]]

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
        Prompt tokens run through the model, padding included.
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
        vocabulary: int = model.config.get_text_config(decoder=True).vocab_size
        self._most_logits = max(1, LOGIT_BYTES // (2 * 4 * vocabulary))
        self._sdpa = choose_attention(model)
        self._padded = Padded(model)
        self._tries: bool | None = None

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
        outcomes = self._answer(Batch(batch.kind, fits), extra) if fits else []
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

    def _answer(self, batch: Batch, extra: int) -> list[Outcome]:
        """Run a batch as a trie if the model takes one, else as padded rows."""
        if self._takes_tries():
            outcomes = self._guarded(self._as_trie, batch.kind, batch.groups, extra)
            if all(outcome.status != "nonfinite" for outcome in outcomes):
                return outcomes
            # Tokens of a trie share arithmetic, so that one NaN may reach another request's sum
            # as 0 x NaN. Rows of their own tell which requests are really spoilt.
        return [
            outcome
            for part in _parts(batch)
            for groups in self._padded.batches(part, extra)
            for outcome in self._guarded(self._as_rows, batch.kind, groups, extra)
        ]

    def _takes_tries(self) -> bool:
        """Try the model once; while there is no memory even for that, the answer is no."""
        if self._tries is None:
            try:
                self._tries = self._sdpa and self._padded.branches and takes_tries(self._model)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
        return bool(self._tries)

    def _guarded(self, run: _Run, kind: str, groups: Groups, extra: int) -> list[Outcome]:
        """Run `groups`; where memory runs out, run each half, down to one request."""
        detail = ""
        try:
            return run(kind, groups, extra)
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
        return [outcome for half in halves for outcome in self._guarded(run, kind, half, extra)]

    @torch.inference_mode()
    def _as_trie(self, kind: str, groups: Groups, limit: int) -> list[Outcome]:
        if kind == "score":
            started = time.perf_counter()
            packed = Packed(self._model, groups)
            outcomes = packed.scores(self._most_logits)
            self._count(started, packed.requests, len(packed.trie))
            return outcomes
        requests = [request for group in groups for request in group]
        width = max(len(forwarded(request)) for request in requests)
        rows = Rows.awaiting(self._model, len(requests), width=width, reserve=limit)
        logits, first = [], 0
        # Every group is a trie of its own, so that no more than one is run at a time.
        for group in groups:
            started = time.perf_counter()
            packed = Packed(self._model, [group])
            logits.append(packed.logits())
            packed.place(rows, first)
            first += len(group)
            self._count(started, group, len(packed.trie))
            del packed  # its cache, of which the rows hold copies
        return self._decode(rows, torch.cat(logits), requests, limit)

    @torch.inference_mode()
    def _as_rows(self, kind: str, groups: Groups, limit: int) -> list[Outcome]:
        started = time.perf_counter()
        requests = [request for group in groups for request in group]
        padded = padded_counts([Batch("score", groups)]).padded
        if kind == "score":
            outcomes = self._padded.scores(groups, self._most_logits)
            self._count(started, requests, padded)
            return outcomes
        rows, logits = self._padded.prompts(groups, reserve=limit)
        self._count(started, requests, padded)
        return self._decode(rows, logits, requests, limit)

    def _decode(
        self, rows: Rows, logits: torch.Tensor, requests: Sequence[Request], limit: int
    ) -> list[Outcome]:
        ready = time.perf_counter()
        outcomes = greedy(rows, logits, requests, limit=limit, end=self._end)
        self.stats.decode_s += time.perf_counter() - ready
        self.stats.new_tokens += sum(len(outcome.token_ids) for outcome in outcomes)
        return outcomes

    def _count(self, started: float, requests: Sequence[Request], tokens: int) -> None:
        self.stats.forward_s += time.perf_counter() - started
        self.stats.prompt_tokens += sum(len(forwarded(request)) for request in requests)
        self.stats.forwarded_tokens += tokens


def _too_long(request: Request, limit: int | None) -> Outcome:
    detail = f"{request.length} tokens and the answer exceed the model's {limit} positions"
    return Outcome(request.id, "too_long", detail=detail)


def _parts(batch: Batch) -> list[Batch]:
    """Return the groups one by one, as large as the plan lets one call be; single requests not."""
    if all(len(group) == 1 for group in batch.groups):
        return [batch]
    return [Batch(batch.kind, (group,)) for group in batch.groups]


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
