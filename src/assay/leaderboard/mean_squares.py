"""Variance components of a complete design, from expected mean squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.leaderboard.correctness import Bools

Floats = NDArray[np.float64]

#: The components, in the order of `VarianceFinding.estimate`.
COMPONENTS = (
    "model",
    "configuration",
    "model x configuration",
    "item",
    "item x model",
    "item x configuration",
    "item x model x configuration",
    "noise",
)


@dataclass(frozen=True)
class Moments:
    """Sums over the cells of a design that decide every component.

    Each attribute is one number, or an array over bootstrap samples.

    Attributes
    ----------
    cell, model, configuration, item : float or ndarray
        Mean over items of the sum of y squared; of the squared totals of each model and of each
        configuration; and of the squared grand total of the item.
    mean_cell, mean_model, mean_configuration, mean_item : float or ndarray
        The same for the means over items instead of single items.
    """

    cell: Floats
    model: Floats
    configuration: Floats
    item: Floats
    mean_cell: Floats
    mean_model: Floats
    mean_configuration: Floats
    mean_item: Floats


def components(values: Floats | Bools, *, flip_rate: float | None = None) -> Floats:
    """Estimate the components of complete data.

    Parameters
    ----------
    values : ndarray of float or bool, shape (model, item, configuration)
        At least two along each axis.
    flip_rate : float, optional
        A/A disagreement; see `variance`.

    Returns
    -------
    ndarray of float, shape (8,)
        In the order of `COMPONENTS`; they sum to the variance of a cell drawn at random.

    Notes
    -----
    Items are the random factor. The item component is the mean covariance, over items, of two
    cells that share neither model nor configuration; item x model is what cells of one model
    have beyond that, item x configuration likewise, and the three-way term (with the noise) is
    what is left of the variance of a cell. These are the solutions of the expected mean squares
    of Searle, Casella & McCulloch (1992), and need no distribution. The fixed components are the
    variances of the effects themselves, free of the sampling noise of the items.

    Examples
    --------
    >>> cells = np.zeros((2, 4, 2))
    >>> cells[:, :2] = 1  # two items are easy for everybody, two are hard
    >>> components(cells)[3].round(3), components(cells)[6].round(3)
    (np.float64(0.333), np.float64(0.0))
    """
    m, n, c = values.shape
    # Sums as floats, so that a large table of bits is never copied as one of numbers.
    by_model, by_configuration = values.sum(axis=2, dtype=float), values.sum(axis=0, dtype=float)
    mean = values.mean(axis=1)
    squares = by_model if values.dtype == np.bool_ else values**2
    moments = Moments(
        cell=np.asarray(squares.sum() / n),
        model=np.asarray((by_model**2).sum() / n),
        configuration=np.asarray((by_configuration**2).sum() / n),
        item=np.asarray((by_configuration.sum(axis=1) ** 2).sum() / n),
        mean_cell=np.asarray((mean**2).sum()),
        mean_model=np.asarray((mean.sum(axis=1) ** 2).sum()),
        mean_configuration=np.asarray((mean.sum(axis=0) ** 2).sum()),
        mean_item=np.asarray(mean.sum() ** 2),
    )
    return solve(moments, m, n, c, flip_rate)


def solve(moments: Moments, m: int, n: int, c: int, flip_rate: float | None) -> Floats:
    """Return the components, shape (8, ...), of m models, n items and c configurations."""
    unbiased = n / (n - 1)
    # Covariances over items, summed over all ordered pairs of cells that share ...
    both = (moments.cell - moments.mean_cell) * unbiased
    model = (moments.model - moments.mean_model) * unbiased - both
    configuration = (moments.configuration - moments.mean_configuration) * unbiased - both
    neither = (moments.item - moments.mean_item) * unbiased - both - model - configuration
    pairs = m * c
    item = neither / (pairs * (m - 1) * (c - 1))
    item_model = model / (pairs * (c - 1)) - item
    item_configuration = configuration / (pairs * (m - 1)) - item
    rest = both / pairs - item - item_model - item_configuration
    # Variances of the means of cells, less what the sampling of items adds to them.
    grand = moments.mean_item / pairs**2
    of_model = moments.mean_model / (m * c**2) - grand
    of_configuration = moments.mean_configuration / (c * m**2) - grand
    of_both = moments.mean_cell / pairs - grand - of_model - of_configuration
    of_model = of_model - (m - 1) / m * (item_model + rest / c) / n
    of_configuration = of_configuration - (c - 1) / c * (item_configuration + rest / m) / n
    of_both = of_both - (m - 1) * (c - 1) / pairs * rest / n
    noise = np.full_like(rest, np.nan) if flip_rate is None else np.full_like(rest, flip_rate / 2)
    three_way = rest - np.nan_to_num(noise)
    fixed = (of_model, of_configuration, of_both)
    return np.stack([*fixed, item, item_model, item_configuration, three_way, noise])
