"""`assay.evaluation` names its functions, whatever was imported before."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import assay.evaluation


def test_no_module_hides_a_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(assay.evaluation.__path__)}
    assert not modules & set(assay.evaluation.__all__)


def test_every_name_is_what_its_module_says() -> None:
    for name in assay.evaluation.__all__:
        found = getattr(assay.evaluation, name)
        assert found is getattr(importlib.import_module(found.__module__), name)
        assert name in dir(assay.evaluation)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'diagnosed'"):
        assay.evaluation.diagnosed  # noqa: B018


@pytest.mark.parametrize("heavy", ["pandas", "scipy", "statsmodels"])
def test_the_package_costs_nothing(heavy: str) -> None:
    code = f"import assay.evaluation, sys; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
