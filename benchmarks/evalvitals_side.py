"""The side of EvalVitals in `benchmarks/statistics.py`, run by an interpreter that has it.

Usage: ``python evalvitals_side.py DATA.npz TASK AMOUNT``; prints seconds of processor time and a
check as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import combinations
from typing import Any

import numpy as np
from evalvitals.stats import clustered_bootstrap_diff, friedman_test, mcnemar


def gaps(right: Any, draws: int) -> float:
    """Bootstrap the gap of the first two models at the reference, with this many resamples."""
    found = clustered_bootstrap_diff(right[0, :, 0], right[1, :, 0], n_boot=draws)
    return float(found["effect"])


def pairs(right: Any, configurations: int) -> float:
    """Test every pair of models under this many configurations."""
    rows = right.tolist()
    total = 0.0
    for c in range(configurations):
        columns = [[item[c] for item in model] for model in rows]
        total += sum(mcnemar(a, b)["p_value"] for a, b in combinations(columns, 2))
    return total


def conditions(right: Any, models: int) -> float:
    """Compare all configurations of this many models."""
    total = 0.0
    for m in range(models):
        columns = {str(c): right[m, :, c].tolist() for c in range(right.shape[2])}
        total += friedman_test(columns)["statistic"]
    return total


def main() -> None:
    """Run one task and say how long it took."""
    data, task, amount = sys.argv[1:]
    right = np.load(data)["right"].astype(int)
    run = {"gaps": gaps, "pairs": pairs, "conditions": conditions}[task]
    start = time.process_time()
    check = run(right, int(amount))
    print(json.dumps({"seconds": time.process_time() - start, "check": check}))


if __name__ == "__main__":
    main()
