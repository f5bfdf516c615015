"""Everything a shard asks: prompts, tokens and the key that names each observation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.benchmarks.item import Item
from assay.core.errors import ModelError
from assay.core.identity import digest, sha256_text
from assay.core.model import Request
from assay.core.spec import ModelSpec
from assay.grid.configuration import Configuration, Grid
from assay.grid.protocol import PROTOCOL_VERSION
from assay.grid.render import ClozeQuestion, LabelQuestion, Posed, ShownQuestion, pose
from assay.models.render import Pair, Rendered
from assay.models.words import Prompter


@dataclass(frozen=True, slots=True)
class Question:
    """One observation to make: an item under a configuration, ready to be asked.

    Attributes
    ----------
    key : str
        Digest of everything that decides the answer; the journal is keyed by it.
    posed : LabelQuestion, ShownQuestion, ClozeQuestion or None
        None where the configuration is not applicable to the item.
    prompt : str
        The rendered prompt, or the stem where no options are shown.
    requests : tuple of Request
        One for a generation, one per option for a likelihood, then one per option after the
        unconditional stem if there is one; none where nothing can be asked.
    boundary : tuple of bool
        For each scored pair whether its tokens do not simply extend the stem's.
    prompt_tokens : int or None
        None where a server counts them.
    """

    key: str
    item: Item
    configuration: Configuration
    posed: Posed | None
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
    pool : sequence of Item
        The snapshot's few-shot pool.
    """

    spec: ModelSpec
    renderer: Prompter
    grid: Grid
    origin: dict[str, Any]
    decode: dict[str, Any]
    pool: Sequence[Item] = ()

    def ask(self, items: Sequence[Item]) -> Iterator[Question]:
        """Yield one question for each item and configuration, in that order.

        Raises
        ------
        ModelError
            If a format shows more examples than the pool holds, or has a system turn that the
            model's chat template refuses.
        """
        if self.grid.fewshot > len(self.pool):
            raise ModelError(
                f"grid {self.grid.name} shows {self.grid.fewshot} examples, the snapshot's pool "
                f"holds {len(self.pool)}.",
                fix=f"set `pool: {self.grid.fewshot}` beside the benchmark's key in the run file.",
            )
        configurations = list(self.grid.configurations())
        for item in items:
            for configuration in configurations:
                yield self._question(item, configuration)

    def _question(self, item: Item, configuration: Configuration) -> Question:
        posed = pose(item, configuration, self.grid, self.pool)
        if posed is None:
            return Question(self._key(item, configuration, None), item, configuration, None)
        if isinstance(posed, LabelQuestion):
            return self._labelled(item, configuration, posed)
        if isinstance(posed, ShownQuestion):
            return self._shown(item, configuration, posed)
        return self._cloze(item, configuration, posed)

    def _labelled(self, item: Item, configuration: Configuration, posed: LabelQuestion) -> Question:
        rendered = self._render(posed)
        key = self._key(item, configuration, [rendered.sha256, self.decode])
        group = _group(item, configuration, posed.system, posed.shared)
        return Question(
            key=key,
            item=item,
            configuration=configuration,
            posed=posed,
            prompt=rendered.text,
            requests=(
                Request(
                    key,
                    group,
                    tuple(rendered.token_ids),
                    words=rendered.words,
                    again=configuration.again,
                ),
            ),
            prompt_tokens=None if rendered.words else len(rendered.token_ids),
            thinking=rendered.thinking,
        )

    def _shown(self, item: Item, configuration: Configuration, posed: ShownQuestion) -> Question:
        rendered = self._render(posed.asked)
        # A model's turn begins with a word: a space goes before it where the prompt has none.
        gap = "" if rendered.text[-1:].isspace() else " "
        answers = [gap + text for text in posed.continuations]
        key = self._key(item, configuration, [rendered.sha256, answers])
        group = _group(item, configuration, posed.asked.system, posed.asked.shared)
        pairs = [self.renderer.encode_pair(rendered.text, text) for text in answers]
        question = Question(key, item, configuration, posed, rendered.text)
        return replace(_scoring(question, pairs, [group] * len(pairs)), thinking=rendered.thinking)

    def _render(self, asked: LabelQuestion) -> Rendered:
        from jinja2 import TemplateError

        turns = [{"role": "user", "content": asked.text}]
        if asked.system is None:
            return self.renderer.render_chat(turns)
        try:
            return self.renderer.render_chat([{"role": "system", "content": asked.system}, *turns])
        except TemplateError as error:
            raise ModelError(
                f"the chat template takes no system turn: {error}.",
                where=self.spec.key,
                fix="leave formats with `system` out of the grid for this model.",
            ) from error

    def _cloze(self, item: Item, configuration: Configuration, posed: ClozeQuestion) -> Question:
        stems = [posed.stem]
        asked: list[Any] = [posed.stem, list(posed.continuations)]
        if posed.unconditional is not None:
            stems.append(posed.unconditional)
            asked.append(posed.unconditional)
        question = Question(
            self._key(item, configuration, asked), item, configuration, posed, posed.stem
        )
        ways = [(stem, text) for stem in stems for text in posed.continuations]
        pairs = [self.renderer.encode_pair(stem, text) for stem, text in ways]
        return _scoring(question, pairs, [_group(item, configuration, stem) for stem, _ in ways])

    def _key(self, item: Item, configuration: Configuration, asked: Any) -> str:
        material = [PROTOCOL_VERSION, self.origin, item.item_id, configuration.key, asked]
        return digest(material, length=24)


def _group(item: Item, configuration: Configuration, *opening: str | None) -> str:
    """Return what prompts of one item share that open alike: their tokens up to the options.

    The second asking shares nothing with the first, or it would be answered from the same cache,
    in the same batch, and could not differ.
    """
    parts = [item.item_id, *(text for text in opening if text is not None)]
    return digest([*parts, "again"] if configuration.again else parts, length=16)


def _scoring(question: Question, pairs: Sequence[Pair], groups: Sequence[str]) -> Question:
    """Return `question` with one request for each pair of a stem and a continuation."""
    requests = tuple(
        Request(
            f"{question.key}/{n:02d}",
            group,
            tuple(pair.context_ids),
            tuple(pair.continuation_ids),
            pair.words,
            question.configuration.again,
        )
        for n, (pair, group) in enumerate(zip(pairs, groups, strict=True))
    )
    conditional = pairs[: len(question.item.options)]
    in_words = any(pair.words for pair in pairs)
    return replace(
        question,
        requests=requests if all(pair.scorable for pair in pairs) else (),
        boundary=tuple(pair.boundary for pair in pairs),
        prompt_tokens=None if in_words else min(len(pair.context_ids) for pair in conditional),
    )


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
