"""The texts of a grid: how a question is framed, its options shown and its answer asked for."""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

LabelKind = Literal["upper", "digit"]
#: What stands for an option: the label it is shown with, or its own words.
Answer = Literal["label", "text"]

MAX_OPTIONS = 26


class Strict(BaseModel):
    """A part of a grid: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def demand(text: str, *fields: str) -> str:
    """Return `text` if its replacement fields are exactly `fields`, each at least once.

    Raises
    ------
    ValueError
        If it has others, or lacks one.
    """
    found = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    if found != set(fields):
        wanted = ", ".join(f"{{{field}}}" for field in fields)
        raise ValueError(f"must contain {wanted} and no other field; it has {sorted(found)}")
    return text


class OptionsFormat(Strict):
    """One way to show the options in a user turn.

    Attributes
    ----------
    labels : {"upper", "digit"}
    option : str
        One shown option, of {label} and {option}.
    choices_only : bool
        The question is removed: what is right then was told by the options alone. A control,
        asked in the first order and no part of any ranking.
    prompt : str
        The turn, of {question} and {options}.
    system : str, optional
        A system turn of its own; without it a template's default one stands.
    fewshot : int
        How many examples of the snapshot's pool come first, in the same format.
    asked : {"label", "text"}
        What the prompt asks for and an example gives: the label, or the option's words. A
        generation is read either way, whatever was asked.
    """

    labels: LabelKind
    option: str
    choices_only: bool = False
    prompt: str
    asked: Answer = "label"
    system: str | None = Field(default=None, min_length=1)
    fewshot: int = Field(default=0, ge=0)

    @field_validator("option")
    @classmethod
    def _option_fields(cls, text: str) -> str:
        return demand(text, "label", "option")

    @field_validator("prompt")
    @classmethod
    def _prompt_fields(cls, text: str, info: ValidationInfo) -> str:
        if info.data.get("choices_only"):
            return demand(text, "options")
        return demand(text, "question", "options")


class GenerationFormat(OptionsFormat):
    """One way to show the options and to have the model write its answer."""


class ShownFormat(OptionsFormat):
    """Options shown as for a generation, and every possible answer scored in the model's turn.

    Labels are compared by their probability, the options' words by their mean log-probability per
    token. A space comes before them unless the prompt ends in white space.
    """


class LikelihoodFormat(Strict):
    """One stem after which every option's text is scored; no chat template, no options shown.

    Attributes
    ----------
    unconditional : str, optional
        A stem without the question. Options are then scored after it too, and chosen by the
        difference (pointwise mutual information).
    fewshot : int
        As in `OptionsFormat`.
    """

    stem: str
    continuation: str
    unconditional: str | None = Field(default=None, min_length=1)
    fewshot: int = Field(default=0, ge=0)

    @field_validator("stem")
    @classmethod
    def _stem_fields(cls, text: str) -> str:
        return demand(text, "question")

    @field_validator("continuation")
    @classmethod
    def _continuation_fields(cls, text: str) -> str:
        return demand(text, "option")


@lru_cache
def labels_for(kind: LabelKind, options: int) -> tuple[str, ...]:
    """Return the labels of `options` shown options, as in A, B, C or 1, 2, 3.

    Raises
    ------
    ValueError
        If there are more options than letters.
    """
    if not 2 <= options <= MAX_OPTIONS:
        raise ValueError(f"{options} options; between 2 and {MAX_OPTIONS} can be labelled")
    if kind == "upper":
        return tuple(string.ascii_uppercase[:options])
    return tuple(str(number) for number in range(1, options + 1))
