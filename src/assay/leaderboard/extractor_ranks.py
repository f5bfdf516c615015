"""Whether the ranking depends on how answers are read out of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assay.extraction import EXTRACTORS
from assay.leaderboard.audit import STANDARD, ExtractionAudit
from assay.leaderboard.correctness import Correctness, Scope
from assay.leaderboard.finding import Finding
from assay.leaderboard.wording import count, listed
from assay.stats import kendall_matrix

_OTHERS = tuple(name for name in EXTRACTORS if name != STANDARD)


@dataclass(frozen=True)
class ExtractorRanks(Finding):
    """The models ranked by the same generated texts, read by each extractor.

    Attributes
    ----------
    models : tuple of str
        Those with texts.
    extractors : tuple of str
        The standard one first.
    accuracy : ndarray of float, shape (extractor, model)
        Over the texts of all generation configurations.
    ranks : ndarray of int, same shape
        1 is best; equals share the best of their places.
    tau : ndarray of float, shape (extractor,)
        Kendall's tau-b with the standard extractor's ranking.
    texts : int
        Texts of each model; the fewest where they differ.
    """

    name: ClassVar[str] = "extractor_ranks"
    models: tuple[str, ...]
    extractors: tuple[str, ...]
    accuracy: NDArray[np.float64]
    ranks: NDArray[np.int64]
    tau: NDArray[np.float64]
    texts: int

    @property
    def reading(self) -> str:
        """Whether another extractor would name another leader."""
        if len(self.models) < 2:
            return (
                "Whether the ranking depends on the extractor cannot be asked: it needs generated "
                f"texts of two models, and there are those of {len(self.models)}."
            )
        leaders = [self._leader(row) for row in range(len(self.extractors))]
        other = [
            f"{name} ({leader})"
            for name, leader in zip(self.extractors[1:], leaders[1:], strict=True)
            if leader != leaders[0]
        ]
        lead = f"is led by {leaders[0]} whichever extractor reads them"
        if other:
            lead = f"is led by {leaders[0]} as read by {STANDARD}, by others under {listed(other)}"
        known = self.tau[1:][~np.isnan(self.tau[1:])]
        agreement = (
            f"at a tau of at least {known.min():.2f}" if known.size else "nowhere (all tied)"
        )
        moves = int(np.ptp(self.ranks, axis=0).max())
        return (
            f"The ranking by {count(self.texts, 'generated text')} a model {lead}; other "
            f"extractors agree with {STANDARD} {agreement}, and the widest move of a model is "
            f"{count(moves, 'rank')}."
        )

    def _leader(self, row: int) -> str:
        first = zip(self.models, self.ranks[row], strict=True)
        return " = ".join(model for model, rank in first if rank == 1)


def extractor_ranks(
    correctness: Correctness, scope: Scope, *, audit: ExtractionAudit
) -> ExtractorRanks:
    """Rank the models of `scope` by each extractor's reading of the same texts.

    Parameters
    ----------
    audit : ExtractionAudit
        Filled while the shards were read.
    """
    models = tuple(
        model for model in correctness.models if (model, scope.benchmark, STANDARD) in audit.tallies
    )
    names = (STANDARD, *_OTHERS)
    tallies = [[audit.tallies[m, scope.benchmark, name] for m in models] for name in names]
    accuracy = np.array([[t.right / t.n for t in row] for row in tallies]).reshape(
        len(names), len(models)
    )
    ranks = rankdata(-accuracy, method="min", axis=1) if models else np.zeros(accuracy.shape)
    tau = kendall_matrix(accuracy)[0] if len(models) > 1 else np.full(len(names), np.nan)
    return ExtractorRanks(
        benchmark=scope.benchmark,
        models=models,
        extractors=names,
        accuracy=accuracy,
        ranks=ranks.astype(np.int64),
        tau=tau,
        texts=min((tally.n for tally in tallies[0]), default=0),
    )
