"""Whether a benchmark's questions may be printed in a report that others will read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

EmbedItems = Literal["licensed", "all", "none"]

# Licences that allow passing a text on, unless one of the restrictions below is added.
_OPEN = re.compile(
    r"\b(MIT|Apache|AFL|BSD|ISC|CC0|CC[ -]BY|ODC|PDDL|MPL|L?GPL|public domain|own)\b", re.IGNORECASE
)
_RESTRICTED = re.compile(
    r"\b(NC|ND|non-?commercial|no[ -]?deriv\w*|propriet\w*|confidential|gated|research[ -]only"
    r"|no redistribution)\b",
    re.IGNORECASE,
)


def may_embed(licence: str) -> bool:
    """Return whether a licence allows texts to be shown in a report that may be passed on.

    A licence that is not recognised does not.

    Examples
    --------
    >>> may_embed("CC BY-SA 4.0"), may_embed("CC BY-NC-SA 4.0"), may_embed("unknown")
    (True, False, False)
    """
    return bool(_OPEN.search(licence)) and not _RESTRICTED.search(licence)


def withheld_benchmarks(
    licences: Mapping[str, str], benchmarks: list[str], policy: EmbedItems
) -> dict[str, str]:
    """Return benchmark → why its texts are left out of the report, for those that are."""
    if policy == "all":
        return {}
    if policy == "none":
        return dict.fromkeys(benchmarks, "the run file says embed_items: none")
    return {
        name: f"licence: {licences.get(name) or 'not stated'}"
        for name in benchmarks
        if not may_embed(licences.get(name, ""))
    }
