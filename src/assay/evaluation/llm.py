"""Who explains a report, as a manifest says it; a key is refused wherever it might be written."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from assay.evaluation.record import Text

#: Fields of a request that this software writes itself.
_OWN_FIELDS = frozenset({"model", "input", "messages", "stream", "store"})
_SECRET = ("key", "auth", "token", "secret", "cookie")


class Strict(BaseModel):
    """Base of what a manifest holds: camelCase outside, unknown keys refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class LLM(Strict):
    """Who explains the report with ``--llm``; the key stays in the environment."""

    endpoint: str = "https://api.openai.com/v1/responses"
    model: Text
    api_key_env: str | None = "OPENAI_API_KEY"
    headers: dict[Text, str] = Field(default_factory=dict)
    request: dict[str, JsonValue] = Field(default_factory=dict)
    timeout_sec: float = Field(default=180, gt=0, le=3600)
    max_input_tokens: int = Field(default=24_000, ge=1000, description="of the whole prompt")
    max_output_tokens: int = Field(default=2000, ge=16)

    @field_validator("endpoint")
    @classmethod
    def _is_known(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.username or parts.password or parts.query:
            raise _secret("an endpoint holds no user, key or query; see apiKeyEnv")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("an endpoint begins with http:// or https:// and names a host")
        if not value.rstrip("/").endswith(("/responses", "/chat/completions")):
            raise ValueError("an endpoint ends in /responses or /chat/completions")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and not (value.isidentifier() and value == value.upper()):
            raise _secret("name an environment variable in capitals; the key itself stays there")
        return value

    @field_validator("headers")
    @classmethod
    def _holds_no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        if any(word in name.lower() for name in value for word in _SECRET):
            raise _secret("a key is no header of a manifest; see apiKeyEnv")
        return value

    @field_validator("request")
    @classmethod
    def _adds_only(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        own = sorted(_OWN_FIELDS & set(value))
        if own:
            raise ValueError(f"{', '.join(own)} is set by Assay and may not be in the request")
        if any(word in name.lower() for name in value for word in ("key", "auth", "secret")):
            raise _secret("a key is no field of a request; see apiKeyEnv")
        return value


def _secret(message: str) -> PydanticCustomError:
    """Return an error whose message never shows the value: it may be a key."""
    return PydanticCustomError("secret", "{message}", {"message": message})
