"""How a model is run, apart from what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.capability import Capability
from assay.core.spec import DType

Conversation = Sequence[Mapping[str, str]]
#: (prompts, at most so many new tokens each) → answers, in their order.
GenerateFn = Callable[[list[str], int], Sequence[str]]
#: (conversations, at most so many new tokens each) → answers, in their order.
ChatFn = Callable[[list[Conversation], int], Sequence[str]]
#: (context, continuation) pairs → natural-log probability of each token of the continuation.
LogprobsFn = Callable[[list[tuple[str, str]]], Sequence[Sequence[float]]]


@dataclass(frozen=True, kw_only=True)
class RuntimeConfig:
    """How a model is run.

    Parameters
    ----------
    dtype : {"float32", "bfloat16", "float16"}
        Number format; a spec's own comes first.
    device : str
        "auto" (CUDA, then MPS, then CPU) or a torch device name.
    threads : int, optional
        CPU threads; torch's own choice if None.
    token_budget : int
        Most padded tokens that are computed together.
    offline : bool
        Refuse to download; what is in the cache is used.
    tensor_parallel : int
        GPUs that `vllm_offline` splits one model over.
    batch_invariant : bool
        `vllm_offline`: kernels whose results do not depend on what else is in the batch (slower).
    replies : path, optional
        `api`: a file in which the server's replies are kept; what it holds is not asked again.
    generate_fn, chat_fn, logprobs_fn : callable, optional
        A user's own engine: any of these makes the backend "engine", which loads nothing. Each is
        called once with a whole batch and gives one answer for each entry, in order.

    Examples
    --------
    >>> runtime = RuntimeConfig(generate_fn=lambda prompts, limit: ["yes"] * len(prompts))
    >>> sorted(runtime.engine_capabilities)
    [<Capability.GENERATE: 'generate'>]
    """

    dtype: DType = "float32"
    device: str = "auto"
    threads: int | None = None
    token_budget: int = 2048
    offline: bool = False
    tensor_parallel: int = 1
    batch_invariant: bool = False
    replies: str | Path | None = None
    generate_fn: GenerateFn | None = None
    chat_fn: ChatFn | None = None
    logprobs_fn: LogprobsFn | None = None

    @property
    def engine_capabilities(self) -> frozenset[Capability]:
        """What the given functions provide; empty without any."""
        words = self.generate_fn is not None or self.chat_fn is not None
        given = {Capability.GENERATE: words, Capability.LOGPROBS: self.logprobs_fn is not None}
        return frozenset(capability for capability, present in given.items() if present)
