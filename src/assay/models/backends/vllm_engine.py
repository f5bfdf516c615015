"""One vLLM engine: how it is started, asked and read."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import enumerate as threads
from typing import Any

from assay.core.errors import ModelError
from assay.core.files import read_json
from assay.core.spec import DType, ModelSpec
from assay.models.backends.engine_asks import Answer, Ask
from assay.models.backends.vllm_process import end_client, guard, wake_at_death
from assay.models.files import refuse_foreign_code, text_config, weight_files

#: Most bytes of prompt logits at once, of a device and of a CPU. vLLM makes them for a whole
#: prefill step and does not count them when it sizes its cache.
LOGIT_BYTES = {"cpu": 1 << 30, "cuda": 4 << 30}
#: Bytes that one logit takes there: itself, its float32 log-probability, and room to sort.
BYTES_A_LOGIT = 12
#: What vLLM can make of a dense checkpoint while it loads it.
_ON_LOAD = ("bnb-4bit", "fp8")
#: Prompts of a benchmark are short: a block of 128 tokens, the CPU build's own choice, never hits.
CPU_BLOCK = 32


class EngineDied(ModelError):
    """The engine's process is gone; what it had not answered may be asked of another."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an engine is started.

    Attributes
    ----------
    dtype : str
        Number format of weights and arithmetic; log-probabilities are float32 in any case.
    device : str
        "cpu" or "cuda"; "auto" takes what this build of vLLM is for.
    threads : int
        CPU threads.
    tensor_parallel : int
        Devices that one model is split over.
    batch_invariant : bool
        Kernels whose results do not depend on what else is in the batch (slower).
    """

    folder: Path
    spec: ModelSpec
    dtype: DType
    device: str = "auto"
    threads: int = 1
    tensor_parallel: int = 1
    batch_invariant: bool = False


def quantisation_of(folder: Path, spec: ModelSpec) -> str | None:
    """Return the quantisation that vLLM is told of; None where it reads it off the checkpoint.

    Raises
    ------
    ModelError
        If the registry entry and the checkpoint disagree, or vLLM has no such quantisation.
    """
    own = (read_json(folder / "config.json").get("quantization_config") or {}).get("quant_method")
    wanted = spec.quantisation
    if wanted == "bnb-8bit":
        raise ModelError(
            "vLLM has no `quantisation: bnb-8bit`.",
            where=spec.key,
            fix="use bnb-4bit or fp8, or the backend hf_local.",
        )
    name = {"none": None, "bnb-4bit": "bitsandbytes"}.get(wanted, wanted)
    if own != name and not (own is None and wanted in _ON_LOAD):
        state = "dense" if own is None else f"quantised ({own})"
        raise ModelError(
            f"the checkpoint is {state} but its entry says `quantisation: {wanted}`, which "
            "vLLM cannot make of it.",
            where=spec.key,
            fix="name the checkpoint's own quantisation in the entry: it is part of what it is.",
        )
    return name if own is None else None


def step_tokens(folder: Path, device: str) -> int:
    """Return the most tokens of one prefill step, so that prompt logits stay within memory."""
    vocabulary = int(text_config(folder).get("vocab_size", 1 << 18))
    room = LOGIT_BYTES.get(device, LOGIT_BYTES["cuda"]) // (BYTES_A_LOGIT * vocabulary)
    return min(8192, max(256, room))


def environment(settings: Settings, cores: Sequence[int]) -> dict[str, str]:
    """Return the environment variables that vLLM reads its other settings from.

    Parameters
    ----------
    cores : sequence of int
        CPU cores that this process may use.
    """
    chosen = [str(core) for core in sorted(cores)[: settings.threads]]
    shares = [chosen[part :: settings.tensor_parallel] for part in range(settings.tensor_parallel)]
    return {
        # Unbound, the CPU build takes one core of a small machine and leaves one for itself.
        "VLLM_CPU_OMP_THREADS_BIND": "|".join(",".join(share) for share in shares),
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
        "VLLM_CPU_KVCACHE_SPACE": os.environ.get("VLLM_CPU_KVCACHE_SPACE", "1"),
        "VLLM_BATCH_INVARIANT": str(int(settings.batch_invariant)),
        # An engine in a process of its own leaves no memory behind when it dies.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
    }


class Engine:
    """A started engine (see `Settings`).

    Raises
    ------
    ModelError
        If this build of vLLM is for another device.
    """

    def __init__(self, settings: Settings):
        before = set(threads())
        weight_files(settings.folder)
        if settings.spec.trust_remote_code:
            refuse_foreign_code(settings.folder)
        quantisation = quantisation_of(settings.folder, settings.spec)
        os.environ.update(environment(settings, sorted(_cores())))
        from vllm import EngineArgs
        from vllm.v1.engine.llm_engine import LLMEngine

        device = _device(settings)
        arguments: dict[str, Any] = {
            "model": str(settings.folder),
            "dtype": settings.dtype,
            "quantization": quantisation,
            "load_format": "bitsandbytes" if quantisation == "bitsandbytes" else "safetensors",
            "trust_remote_code": settings.spec.trust_remote_code,
            "tensor_parallel_size": settings.tensor_parallel,
            "skip_tokenizer_init": True,  # it is asked in tokens
            "enable_prefix_caching": True,
            "max_num_batched_tokens": step_tokens(settings.folder, device),
            "max_model_len": -1,  # as many positions as the cache has room for
            "logprobs_mode": "raw_logprobs",
            "disable_log_stats": True,
            "seed": 0,
        }
        if device == "cpu":
            arguments |= {"block_size": CPU_BLOCK, "enforce_eager": True}
        self._engine: Any = LLMEngine.from_engine_args(EngineArgs(**arguments))
        wake_at_death(self._engine.engine_core)
        # Also where nobody closes it: the finalizer runs before the interpreter ends.
        mine = set(threads()) - before
        client = self._engine.engine_core
        self._ending = weakref.finalize(self, end_client, client, mine, guard(client))
        self.positions: int = self._engine.model_config.max_model_len
        self.vocabulary: int = self._engine.model_config.get_vocab_size()
        self.end = _end_tokens(self._engine.model_config)

    def answers(self, asks: Sequence[Ask], *, new_tokens: int) -> Iterator[tuple[str, Answer]]:
        """Yield (ask id, answer) as they are finished.

        Raises
        ------
        EngineDied
            If the engine's process ends; answers that were yielded before stand.
        """
        from vllm.exceptions import VLLMClientError
        from vllm.inputs import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            for ask in asks:
                prompt = tokens_input(list(ask.prompt))
                try:
                    self._engine.add_request(ask.id, prompt, self._parameters(ask, new_tokens))
                except (VLLMClientError, ValueError) as error:
                    yield ask.id, Answer((), fault=f"refused by the engine: {error}")
            while self._engine.has_unfinished_requests():
                for output in self._engine.step():
                    if output.finished:
                        yield output.request_id, answer_of(output)
        except EngineDeadError as error:
            raise self._died() from error

    def forget(self) -> None:
        """Empty the prefix cache: what is asked next does not depend on what was asked before.

        Raises
        ------
        EngineDied
            If the engine's process has ended.
        ModelError
            If the engine still uses what is in its cache.
        """
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            empty = self._engine.reset_prefix_cache()
        except EngineDeadError as error:
            raise self._died() from error
        if not empty:
            raise ModelError(
                "the engine's prefix cache could not be emptied.",
                where=self._engine.model_config.model,
                fix="this is a fault of the runtime: please report it with its version.",
            )

    def close(self) -> None:
        """End the engine's process and the threads here that served it."""
        self._ending()

    def _died(self) -> EngineDied:
        return EngineDied(
            "the vLLM engine's process ended.",
            where=self._engine.model_config.model,
            fix="see the log above; too little memory is the usual cause.",
        )

    def _parameters(self, ask: Ask, new_tokens: int) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        common: dict[str, Any] = {
            "temperature": 0.0,
            "detokenize": False,
            "output_kind": RequestOutputKind.FINAL_ONLY,
        }
        if not ask.next_tokens:
            ending = {"stop_token_ids": sorted(self.end), "logprobs": 0}
            return SamplingParams(max_tokens=new_tokens, **ending, **common)
        return SamplingParams(
            max_tokens=1,
            logprob_token_ids=sorted(set(ask.next_tokens)),
            # A request for prompt log-probabilities never reads the prefix cache, whose blocks
            # keep none. To force it breaks the engine; asking for none where none are needed
            # is what lets the others read it.
            prompt_logprobs=0 if ask.scores_prompt else None,
            **common,
        )


def answer_of(output: Any) -> Answer:
    """Return what a finished `vllm.RequestOutput` says."""
    (completion,) = output.outputs
    token_ids = tuple(completion.token_ids)
    positions = completion.logprobs or []
    prompt = list(output.prompt_token_ids)
    scored = output.prompt_logprobs or []
    return Answer(
        token_ids,
        chosen=tuple(p[t].logprob for p, t in zip(positions, token_ids, strict=False)),
        next_logprobs={t: value.logprob for t, value in positions[0].items()} if positions else {},
        prompt_logprobs=[
            place[token].logprob
            for place, token in zip(scored[1:], prompt[1:], strict=False)
            if place and token in place
        ],
        cached=output.num_cached_tokens or 0,
    )


def _cores() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _device(settings: Settings) -> str:
    from vllm.platforms import current_platform

    found = "cpu" if current_platform.is_cpu() else "cuda"
    if settings.device not in ("auto", found):
        raise ModelError(
            f"this build of vLLM runs on {found}, not on {settings.device}.",
            where=settings.spec.key,
            fix=f"set runtime.device to {found}, or install the other build (envs/).",
        )
    return found


def _end_tokens(config: Any) -> frozenset[int]:
    """Return every id that ends an answer, from the generation settings and the configuration."""
    generation = config.try_get_generation_config() or {}
    found = [generation.get("eos_token_id"), getattr(config.hf_text_config, "eos_token_id", None)]
    return frozenset(
        token
        for ids in found
        if ids is not None
        for token in (ids if isinstance(ids, list | tuple) else [ids])
    )
