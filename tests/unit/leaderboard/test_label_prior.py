from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.leaderboard.apart import Apart, LabelScores
from assay.leaderboard.correctness import Correctness
from assay.leaderboard.label_prior import label_prior, label_prior_table

from .builders import build

CYCLIC = np.array([[(slot + k) % 4 for slot in range(4)] for k in range(4)])
PRIOR = np.array([0.55, 0.2, 0.15, 0.1])
KEYS = tuple(f"ll|s|p{k}" for k in range(4))


def study(orders: np.ndarray = CYCLIC, *, items: int = 40, options: int = 4) -> Correctness:
    """Return label scores that are a prior of the labels plus a liking for the right option."""
    rng = np.random.default_rng(3)
    gold = rng.integers(options, size=items)
    size = len(orders)
    liking = rng.normal(0, 0.3, (items, 4))
    liking[np.arange(items), gold] += 0.8
    log_probs = np.log(PRIOR) + liking[:, orders]
    log_probs -= np.log(np.exp(log_probs).sum(axis=2, keepdims=True))
    slots = np.argsort(orders, axis=1)[:, gold].T.astype(np.int8)
    data = build(np.ones((1, items, size)), keys=KEYS[:size], reference=KEYS[0], options=options)
    scores = LabelScores(
        columns=tuple(range(size)),
        log_probs=log_probs[None].astype(np.float32),
        orders=np.broadcast_to(orders, (items, *orders.shape)).astype(np.int8),
    )
    return replace(data, gold_slots=slots, apart=Apart(labels={"s": scores}))


def test_the_prior_is_told_apart_from_the_options() -> None:
    data = study()
    found = label_prior(data, data.scope("all"))
    (one,) = found.priors
    assert one.prior == pytest.approx(PRIOR, abs=1e-5), "likings cancel over cyclic orders"
    assert one.items == 40
    assert one.debiased > one.accuracy + 0.1
    assert "Whatever the options, m00 gives label 1 of 4 55.0 %" in found.reading
    json.dumps(found.as_json(), allow_nan=False)
    table = label_prior_table(found)
    assert table["prior"].tolist() == list(one.prior)
    assert table["label"].tolist() == [1, 2, 3, 4]


def test_it_is_not_offered_where_orders_are_not_balanced() -> None:
    data = study(CYCLIC[[0, 1]])
    found = label_prior(data, data.scope("all"))
    assert found.priors == ()
    assert "is unknown" in found.reading


def test_items_without_a_score_or_in_one_order_are_left_out() -> None:
    data = study()
    scores = data.apart.labels["s"]
    log_probs, orders = scores.log_probs.copy(), scores.orders.copy()
    log_probs[0, 3, 2, 1] = np.nan
    orders[5, 1:] = -1
    changed = replace(scores, log_probs=log_probs, orders=orders)
    data = replace(data, apart=Apart(labels={"s": changed}))
    (one,) = label_prior(data, data.scope("all")).priors
    assert one.items == 38
