"""Asking in words: for a model behind a server that applies the template and tokenises itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from assay.core.errors import ModelError
from assay.core.identity import canonical_json, sha256_text
from assay.core.model import Batch, Request, Words
from assay.core.spec import ModelSpec
from assay.models.render import Message, Pair, Rendered

#: Requests of one batch: what is answered is in the observation journal after each.
BATCH = 256


class Prompter(Protocol):
    """What the grid asks through: `Renderer` in tokens, `WordRenderer` in words."""

    def render_chat(self, messages: Sequence[Message]) -> Rendered:
        """Render a conversation for the model to answer."""

    def render_plain(self, text: str) -> Rendered:
        """Render text as it is: no template, no turns."""

    def encode_pair(self, stem: str, continuation: str) -> Pair:
        """Prepare a stem and its continuation for scoring."""

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of generated tokens."""


class WordRenderer:
    """Says what is sent to a server; tokens and template are the server's own.

    Parameters
    ----------
    spec : ModelSpec
        With `chat: plain` a conversation is sent as text, a blank line between turns.
    """

    def __init__(self, spec: ModelSpec):
        self._spec = spec
        self._chats = spec.chat == "template"
        self._conversations: set[str] = set()

    def render_chat(self, messages: Sequence[Message]) -> Rendered:
        """Return the conversation; its text shows the turns, and names roles where there are two.

        The digest is that of the messages, which the text alone does not determine.
        """
        if not self._chats:
            return self.render_plain("\n\n".join(message["content"] for message in messages))
        turns = tuple((message["role"], message["content"]) for message in messages)
        text = turns[0][1] if len(turns) == 1 else "\n\n".join(f"{r}: {said}" for r, said in turns)
        self._conversations.add(text)
        said = Words(messages=turns)
        return Rendered(text, (), sha256_text(canonical_json(turns)), "unseen", said)

    def render_plain(self, text: str) -> Rendered:
        """Return text to be continued as it is."""
        return Rendered(text, (), sha256_text(text), "unseen", Words(text=text))

    def encode_pair(self, stem: str, continuation: str) -> Pair:
        """Return the pair in words; where its tokens meet is known when the server has answered.

        Raises
        ------
        ModelError
            If `stem` is a conversation: a server does not give the text that its template makes.
        """
        if stem in self._conversations:
            raise ModelError(
                "a continuation cannot be scored after a conversation with a server.",
                where=self._spec.key,
                fix="leave configurations that score options after a chat prompt out of the grid.",
            )
        return Pair((), (), False, Words(text=stem, continuation=continuation))

    def decode(self, token_ids: Sequence[int]) -> str:
        """Refuse: answers come as text.

        Raises
        ------
        ModelError
        """
        raise ModelError("a server's answers are text, not tokens.", where=self._spec.key)


def plan_words(requests: Sequence[Request]) -> list[Batch]:
    """Cut requests in words into batches: generations first, then scores, in the given order.

    A server batches and shares prefixes for itself; a batch only bounds what is in flight.
    """
    scores = [request for request in requests if request.words and request.words.continuation]
    asked = {request.id for request in scores}
    generations = [request for request in requests if request.id not in asked]
    batches: list[Batch] = []
    kinds: tuple[tuple[Literal["generate", "score"], list[Request]], ...]
    kinds = (("generate", generations), ("score", scores))
    for kind, some in kinds:
        for start in range(0, len(some), BATCH):
            batches.append(Batch(kind, tuple((r,) for r in some[start : start + BATCH])))
    return batches
