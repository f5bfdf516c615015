"""Everything a shard asks: prompts, tokens and the key that names each observation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.benchmarks.item import Item
from assay.core.errors import ModelError
from assay.core.identity import digest, sha256_text
from assay.core.model import Request
from assay.core.spec import ModelSpec
from assay.grid.configuration import Configuration, Grid
from assay.grid.protocol import PROTOCOL_VERSION
from assay.grid.render import ClozeQuestion, LabelQuestion, pose
from assay.models.render import Rendered
from assay.models.words import Prompter


@dataclass(frozen=True, slots=True)
class Question:
    """One observation to make: an item under a configuration, ready to be asked.

    Attributes
    ----------
    key : str
        Digest of everything that decides the answer; the journal is keyed by it.
    posed : LabelQuestion, ClozeQuestion or None
        None where the configuration is not applicable to the item.
    prompt : str
        The rendered prompt (generation) or the stem (likelihood).
    requests : tuple of Request
        One for a generation, one per option for a likelihood; none where nothing can be asked.
    boundary : tuple of bool
        For each option whether its tokens do not simply extend the stem's.
    prompt_tokens : int or None
        None where a server counts them.
    """

    key: str
    item: Item
    configuration: Configuration
    posed: LabelQuestion | ClozeQuestion | None
    prompt: str = ""
    requests: tuple[Request, ...] = ()
    boundary: tuple[bool, ...] = ()
    prompt_tokens: int | None = 0
    thinking: str | None = None


@dataclass(frozen=True)
class Questioner:
    """Poses items to one model.

    Parameters
    ----------
    renderer : Prompter
        The model's tokenizer and chat template, no weights; words for a server.
    origin : dict
        JSON value that decides the answers apart from the prompt: digests of weights, tokenizer
        and template, dtype, quantisation, backend with version.
    decode : dict
        Decoding parameters; part of the key of generations only.
    """

    spec: ModelSpec
    renderer: Prompter
    grid: Grid
    origin: dict[str, Any]
    decode: dict[str, Any]

    def ask(self, items: Sequence[Item]) -> Iterator[Question]:
        """Yield one question for each item and configuration, in that order."""
        configurations = list(self.grid.configurations())
        for item in items:
            for configuration in configurations:
                yield self._question(item, configuration)

    def _question(self, item: Item, configuration: Configuration) -> Question:
        posed = pose(item, configuration, self.grid)
        if posed is None:
            return Question(self._key(item, configuration, None), item, configuration, None)
        if isinstance(posed, LabelQuestion):
            return self._labelled(item, configuration, posed)
        return self._cloze(item, configuration, posed)

    def _labelled(self, item: Item, configuration: Configuration, posed: LabelQuestion) -> Question:
        rendered = self._render(posed.text)
        key = self._key(item, configuration, [rendered.sha256, self.decode])
        # Formats that open alike share the tokens up to the first option.
        group = digest([item.item_id, posed.shared], length=16)
        return Question(
            key=key,
            item=item,
            configuration=configuration,
            posed=posed,
            prompt=rendered.text,
            requests=(Request(key, group, tuple(rendered.token_ids), words=rendered.words),),
            prompt_tokens=None if rendered.words else len(rendered.token_ids),
            thinking=rendered.thinking,
        )

    def _render(self, text: str) -> Rendered:
        if self.spec.chat == "plain":
            return self.renderer.render_plain(text)
        return self.renderer.render_chat([{"role": "user", "content": text}])

    def _cloze(self, item: Item, configuration: Configuration, posed: ClozeQuestion) -> Question:
        key = self._key(item, configuration, [posed.stem, list(posed.continuations)])
        pairs = [self.renderer.encode_pair(posed.stem, text) for text in posed.continuations]
        group = digest([item.item_id, posed.stem], length=16)
        requests = tuple(
            Request(
                f"{key}/{n:02d}", group, tuple(p.context_ids), tuple(p.continuation_ids), p.words
            )
            for n, p in enumerate(pairs)
        )
        scorable = all(pair.scorable for pair in pairs)
        in_words = any(pair.words for pair in pairs)
        return Question(
            key=key,
            item=item,
            configuration=configuration,
            posed=posed,
            prompt=posed.stem,
            requests=requests if scorable else (),
            boundary=tuple(pair.boundary for pair in pairs),
            prompt_tokens=None if in_words else min(len(pair.context_ids) for pair in pairs),
        )

    def _key(self, item: Item, configuration: Configuration, asked: Any) -> str:
        material = [PROTOCOL_VERSION, self.origin, item.item_id, configuration.key, asked]
        return digest(material, length=24)


def requests_of(questions: Sequence[Question]) -> list[Request]:
    """Return all requests of a shard.

    Raises
    ------
    ModelError
        If two have the same id, which would let one answer stand for two observations.
    """
    requests = [request for question in questions for request in question.requests]
    if len({request.id for request in requests}) != len(requests):
        raise ModelError("two observations have the same key; are item ids unique?")
    return requests


def prompt_sha256(question: Question) -> str:
    """Return the sha256 of the text that was sent."""
    return sha256_text(question.prompt)
