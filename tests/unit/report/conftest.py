"""One small synthetic study, analysed once for all tests of the report."""

from __future__ import annotations

import pytest

from support.reports import SmallStudy, write_study


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """Three models, two benchmarks, one hostile item."""
    return write_study(tmp_path_factory.mktemp("study"))
