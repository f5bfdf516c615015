"""Assay tells whether a leaderboard difference is real, and why a model fails.

Names are imported when they are first used, so that `import assay` costs nothing; they are listed
as text, since the code digest of every script would otherwise follow them.
"""

import importlib

_WHERE = {
    "Answer": "assay.models.text",
    "Capability": "assay.core.capability",
    "CapabilityError": "assay.core.capability",
    "ModelSpec": "assay.core.spec",
    "RuntimeConfig": "assay.models.runtime",
    "Score": "assay.models.text",
    "TextModel": "assay.models.text",
    "compose": "assay.models.compose",
    "discover": "assay.models.anatomy",
    "get_spec": "assay.config.models",
    "infer_spec": "assay.models.infer",
    "list_specs": "assay.config.models",
    "load": "assay.config.models",
    "load_config": "assay.config.run",
    "registry": "assay.grid.consumers",
    "run": "assay.config.run",
    "wrap": "assay.models.compose",
}
__all__ = sorted(_WHERE)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
