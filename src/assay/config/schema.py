"""The run file: what is asked of which models, and how it is analysed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assay.core.spec import DType

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class BenchmarkChoice(_Strict):
    """One benchmark of the run and which of its items are asked."""

    key: Name
    items: int | None = Field(default=None, gt=0, description="number of items; all if left out")
    selection: Literal["hash", "released", "all"] = "hash"
    pool: int | None = Field(
        default=None, ge=0, description="items set aside as few-shot examples; never asked"
    )


class VLLM(_Strict):
    """How a vLLM engine computes; part of a run's identity where the backend is vllm_offline."""

    tensor_parallel: int = Field(default=1, ge=1, description="GPUs that one model is split over")
    batch_invariant: bool = Field(
        default=False,
        description="answers do not depend on what else is in the batch (slower; needs a GPU whose"
        " kernels have it)",
    )


class Runtime(_Strict):
    """How models are run.

    `backend`, `dtype`, `token_budget` and the settings of the backend are part of a run's identity.
    """

    backend: Literal["auto", "hf_local", "vllm_offline", "api"] = Field(
        default="auto", description="what runs weights; a model behind a server is always `api`"
    )
    vllm: VLLM = VLLM()
    dtype: DType = "float32"
    token_budget: int = Field(
        default=2048,
        ge=64,
        description="most tokens of one call of the model; with vllm_offline those given at once",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    threads: int = Field(default=2, ge=1, description="CPU threads of one collect job")
    minutes: int = Field(default=240, ge=1, description="time limit of one collect job")
    reuse_s: float = Field(
        default=0,
        ge=0,
        le=86_400,
        description="seconds that a loaded model waits for the next benchmark before it is given"
        " up; 0 loads it for every one",
    )
    keep_missing: bool = Field(
        default=False,
        description="finish a shard although observations failed (out of memory, backend errors);"
        " analysing it needs allow_missing",
    )


class Decode(_Strict):
    """How a model may answer; greedy decoding is the only kind of the released grid."""

    max_new_tokens: int = Field(default=8, ge=1, le=4096)


class Analysis(_Strict):
    """Parameters of the statistics."""

    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    equivalence_margin: float = Field(
        default=0.02, gt=0, lt=1, description="accuracy difference below which models are tied"
    )
    seed: int = 1234


class Evaluation(_Strict):
    """Which cycles of the evaluation core belong to the study."""

    shards: bool = Field(
        default=False, description="diagnose every model on the study's own answers"
    )
    expected: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="success expected of own answers; the policy's if null",
    )
    cycles: dict[Name, str] = Field(
        default_factory=dict, description="name → a cycle's manifest, from any runner's logs"
    )
    policy: str = Field(
        default="statistical",
        min_length=1,
        description="of the cycles on own answers: one of Assay's, or of config/policies",
    )
    failures: str | None = Field(
        default=None,
        min_length=1,
        description="table of failures of the cycles on own answers: one of config/failures",
    )
    taxonomy: str | None = Field(
        default=None, description="areas and capabilities of own items, by item id"
    )
    equal_arms: int = Field(
        default=0, ge=0, description="random splits into equal arms that each cycle is tried on"
    )


class Report(_Strict):
    """What the report shows."""

    title: str = "Assay report"
    embed_items: Literal["licensed", "all", "none"] = Field(
        default="licensed",
        description="show questions, prompts and answers where the benchmark's licence allows"
        " passing them on, of all benchmarks, or of none",
    )


class Definitions(_Strict):
    """Models and benchmarks that the run file itself adds to the registries."""

    models: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    benchmarks: dict[Name, dict[str, Any]] = Field(default_factory=dict)


class RunConfig(_Strict):
    """A run file (`config/config.yaml` and the files laid over it with `--configfile`)."""

    study: Name
    models: tuple[Name, ...] = Field(min_length=1)
    benchmarks: tuple[BenchmarkChoice, ...] = Field(min_length=1)
    grid: Name = "released"
    runtime: Runtime = Runtime()
    decode: Decode = Decode()
    analysis: Analysis = Analysis()
    evaluation: Evaluation = Evaluation()
    report: Report = Report()
    define: Definitions = Definitions()
    allow_missing: bool = Field(
        default=False,
        description="analyse the finished shards although others are absent or observations failed;"
        " what is missing is named and bounded",
    )
    offline: bool = Field(default=False, description="never open a connection, use the cache only")
