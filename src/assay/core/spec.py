"""Model identity: what a model is, apart from how it is run."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from assay.core.pins import ApiPin, HubPin, ModelSource

DType = Literal["float32", "bfloat16", "float16"]
Quantisation = Literal["none", "bnb-4bit", "bnb-8bit", "awq", "gptq", "fp8"]
#: What a model is like, for choosing among models; a loaded model tells all of its own.
Trait = Literal[
    "latent_attention",
    "mixture_of_experts",
    "reasoning",
    "sliding_window",
    "tied_embeddings",
    "tool_calls",
]
#: Fields that decide no answer and that a finished result does not depend on.
DESCRIPTIVE = frozenset({"notice", "memory_mb", "traits"})


class ModelSpec(BaseModel):
    """One roster entry: a pinned checkpoint and the facts needed to ask it fairly."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    family: str
    source: ModelSource
    licence: str
    chat: Literal["template", "plain"] = Field(
        default="template",
        description="'template' applies the tokenizer's chat template once; 'plain' sends the text",
    )
    template_arguments: dict[str, bool | int | str] = Field(
        default_factory=dict, description="passed to the chat template, e.g. enable_thinking"
    )
    dtype: DType | None = Field(default=None, description="overrides the run's dtype")
    quantisation: Quantisation = "none"
    trust_remote_code: bool = Field(
        default=False, description="run the Python code of this repository at the pinned commit"
    )
    gpus: int = Field(default=1, ge=0, description="GPUs that one job of this model needs")
    memory_mb: int = Field(default=8000, gt=0, description="main memory that one job needs")
    notice: str | None = Field(default=None, description="shown when the weights are fetched")
    traits: tuple[Trait, ...] = Field(
        default=(), description="what is known before the weights are loaded; for people"
    )

    @model_validator(mode="after")
    def _code_is_pinned(self) -> Self:
        if self.trust_remote_code and not isinstance(self.source, HubPin):
            raise ValueError(
                "trust_remote_code needs a source of kind hub, whose commit pins the code"
            )
        return self

    @property
    def served(self) -> ApiPin | None:
        """The server that has the model; None where its weights are fetched."""
        return self.source if isinstance(self.source, ApiPin) else None

    def identity(self) -> dict[str, Any]:
        """Return what decides the model's answers: everything except resources and words."""
        words = {"gpus", "licence", "key", "family", *DESCRIPTIVE}
        excluded: dict[str, Any] = dict.fromkeys(words, True) | {"source": {"access"}}
        return self.model_dump(mode="json", exclude=excluded)
