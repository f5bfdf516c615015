"""From words to the exact text and token ids a model is asked with; no weights needed."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.core.errors import ModelError
from assay.core.identity import sha256_text
from assay.core.model import Words
from assay.core.spec import ModelSpec
from assay.models.files import max_length, model_digest, refuse_foreign_code

Thinking = Literal["off", "unsupported", "on", "unseen"]
Message = Mapping[str, str]

#: The day that a template which prints today's date is told it is: a prompt must not change at
#: midnight. It is the date that Llama 3's own template falls back to.
FIXED_DATE = datetime.date(2024, 7, 26)
#: Names under which templates take their switch for thinking.
THINKING_FLAGS = ("enable_thinking", "thinking")

_WORDS = "\ue000assay\ue000"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt as it is sent.

    Attributes
    ----------
    text : str
        After the chat template, special tokens spelt out; a leading BOS that the tokenizer adds
        is in `token_ids` only.
    token_ids : tuple of int
        With exactly one leading BOS where the tokenizer adds one.
    sha256 : str
        Of `text`.
    thinking : {"off", "unsupported", "on", "unseen"}
        Whether the prompt asks the model not to think aloud, read off the rendered text; unseen
        where a server renders, so that only the answers can tell.
    words : Words or None
        Where a server renders and tokenises: what is said to it. `token_ids` is empty then.
    """

    text: str
    token_ids: tuple[int, ...]
    sha256: str
    thinking: Thinking
    words: Words | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A stem and a continuation to score, as tokens.

    Attributes
    ----------
    boundary : bool
        The tokens of the joined text do not extend the stem's: the context is their longest common
        prefix and the continuation begins inside the stem.
    words : Words or None
        The pair in words, where a server tokenises; no tokens then.
    """

    context_ids: tuple[int, ...]
    continuation_ids: tuple[int, ...]
    boundary: bool
    words: Words | None = None

    @property
    def scorable(self) -> bool:
        """Whether there is anything to score."""
        return bool(self.words.continuation if self.words else self.continuation_ids)


def default_template(tokenizer: Any) -> str | None:
    """Return the chat template of a tokenizer or processor, None where there is none."""
    template = getattr(tokenizer, "chat_template", None)
    return template.get("default") if isinstance(template, dict) else template


def template_variables(template: str) -> frozenset[str]:
    """Return the names that a chat template reads from outside."""
    from jinja2 import meta
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Parsed only; but constants are folded on the way, and a stranger wrote them.
    environment = ImmutableSandboxedEnvironment(extensions=["jinja2.ext.loopcontrols"])
    return frozenset(meta.find_undeclared_variables(environment.parse(template)))


class Renderer:
    """The tokenizer and chat template of one model.

    Parameters
    ----------
    folder : Path
        A local model folder (`fetch_model`); nothing is downloaded.
    spec : ModelSpec
        Decides between chat template and plain text.

    Raises
    ------
    ModelError
        If `spec.chat` is "template" and the model has none.
    """

    def __init__(self, folder: Path, spec: ModelSpec):
        from transformers import AutoTokenizer

        if spec.trust_remote_code:
            refuse_foreign_code(folder)
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=spec.trust_remote_code
        )
        self._take(tokenizer, spec, max_length(folder), folder)

    @classmethod
    def of(cls, tokenizer: Any, spec: ModelSpec, *, limit: int | None) -> Renderer:
        """Return the renderer of a tokenizer that is already loaded; it is only read.

        Parameters
        ----------
        limit : int or None
            Most tokens of prompt and answer together; None if unbounded.
        """
        renderer = cls.__new__(cls)
        renderer._take(tokenizer, spec, limit, None)
        return renderer

    def _take(
        self, tokenizer: Any, spec: ModelSpec, limit: int | None, folder: Path | None
    ) -> None:
        self._tokenizer: Any = tokenizer
        self._spec = spec
        self._folder = folder
        self._template: str | None = default_template(tokenizer)
        if spec.chat == "template" and not self._template:
            raise ModelError(
                "the model has no chat template.",
                where=spec.key,
                fix="set `chat: plain` in its registry entry to send the text as it is.",
            )
        self.bos: int | None = self._added_bos()
        self.max_length: int | None = limit
        self._flags = self._thinking_flags()

    @property
    def template_sha256(self) -> str | None:
        """The sha256 of the chat template; None for a model that is asked with plain text."""
        return sha256_text(self._template) if self._template and self._chats else None

    @functools.cached_property
    def tokenizer_sha256(self) -> str | None:
        """One digest over the tokenizer's files; None for one that is read from no files."""
        folder = self._folder
        return None if folder is None else model_digest(folder, weights=False)["tokenizer"]

    @property
    def preamble(self) -> str:
        """What the template puts before the user's words, a default system turn included."""
        if not self._chats:
            return ""
        return self._apply([{"role": "user", "content": _WORDS}], {}).partition(_WORDS)[0]

    @property
    def _chats(self) -> bool:
        return self._spec.chat == "template"

    def render_chat(self, messages: Sequence[Message]) -> Rendered:
        """Render a conversation for the model to answer.

        The chat template is applied once and its own default system turn is kept. A model with
        `chat: plain` gets the contents as they are, a blank line between turns.
        """
        if not self._chats:
            return self.render_plain("\n\n".join(message["content"] for message in messages))
        off: dict[str, bool | int | str] = {flag: False for flag in self._flags}
        text = self._apply(messages, off | self._spec.template_arguments)
        return self._rendered(text, self._thinking(messages, text))

    def render_plain(self, text: str) -> Rendered:
        """Render text as it is: no template, no turns."""
        return self._rendered(text, "unsupported")

    def encode_pair(self, stem: str, continuation: str) -> Pair:
        """Tokenise a stem and its continuation so that the tokens are those of the joined text.

        No continuation token (an empty option) is reported as an empty tuple for the caller to
        record; it cannot be scored.
        """
        context = self._encode(stem)
        whole = self._encode(stem + continuation)
        if whole[: len(context)] == context and context:
            return Pair(context, whole[len(context) :], False)
        shared = 0
        while shared < min(len(context), len(whole)) and context[shared] == whole[shared]:
            shared += 1
        # The first token of a text has no probability: one token of context is kept in any case.
        shared = max(shared, 1)
        return Pair(whole[:shared], whole[shared:] if continuation else (), True)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of generated tokens, special tokens left out."""
        text: str = self._tokenizer.decode(
            list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _rendered(self, text: str, thinking: Thinking) -> Rendered:
        return Rendered(text, self._encode(text), sha256_text(text), thinking)

    def _raw(self, text: str) -> tuple[int, ...]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return tuple(ids)

    def _encode(self, text: str) -> tuple[int, ...]:
        """Tokenise with one leading BOS where the tokenizer adds one, whoever wrote it first."""
        ids = self._raw(text)
        if self.bos is None:
            return ids
        start = 0
        while start < len(ids) and ids[start] == self.bos:
            start += 1
        return (self.bos, *ids[start:])

    def _added_bos(self) -> int | None:
        """Return the id that the tokenizer itself puts in front of a text, if it does."""
        bos: int | None = self._tokenizer.bos_token_id
        ids = self._tokenizer("a")["input_ids"]
        return bos if bos is not None and ids[:1] == [bos] != list(self._raw("a"))[:1] else None

    def _apply(self, messages: Sequence[Message], arguments: Mapping[str, Any]) -> str:
        from jinja2.exceptions import SecurityError

        try:
            text: str = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
                date_string=FIXED_DATE.strftime("%d %b %Y"),
                strftime_now=FIXED_DATE.strftime,
                **arguments,
            )
        except SecurityError as error:
            raise ModelError(
                f"the chat template reaches for what no template may: {error}",
                where=self._spec.key,
                fix="do not use this checkpoint, or look at its template first.",
            ) from error
        return text

    def _thinking_flags(self) -> tuple[str, ...]:
        if not self._chats or self._template is None:
            return ()
        names = template_variables(self._template)
        return tuple(flag for flag in THINKING_FLAGS if flag in names)

    def _thinking(self, messages: Sequence[Message], text: str) -> Thinking:
        """Judge by the text: an open think tag is on; a flag that changes nothing is no switch."""
        tail = text.rpartition("<think>")
        if tail[1] and "</think>" not in tail[2]:
            return "on"
        wanted: dict[str, Any] = {flag: True for flag in self._flags}
        if not wanted or self._apply(messages, self._spec.template_arguments | wanted) == text:
            asked = any(self._spec.template_arguments.get(flag) for flag in self._flags)
            return "on" if asked else "unsupported"
        return "off"
