from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import assay.evaluation
import assay.leaderboard
import assay.stats

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (assay.stats, assay.leaderboard, assay.evaluation)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
