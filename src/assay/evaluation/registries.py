"""Policies and tables of failures of a project, beside those that come with Assay.

They are files ``config/policies/NAME.yaml`` and ``config/failures/NAME.yaml``, looked for from
where the command or the workflow runs, and are named as the packaged ones are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.core.errors import ConfigError
from assay.core.validation import unknown

Kind = Literal["policies", "failures"]

_FOLDER = Path("config")
_PACKAGED = {
    "policies": Path(__file__).parent / "policies",
    "failures": Path(__file__).parent / "data",
}
_ONE = {"policies": "policy", "failures": "table of failures"}
_YAML = (".yaml", ".yml")


def is_file_name(given: str) -> bool:
    """Return whether something is called by its file, not by its name."""
    return Path(given).suffix in _YAML


def names(kind: Kind) -> list[str]:
    """Return the names at hand, sorted: the packaged ones and those of the project."""
    folders = (_PACKAGED[kind], _FOLDER / kind)
    return sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})


def located(kind: Kind, name: str) -> Path:
    """Return the file of a name.

    Raises
    ------
    ConfigError
        If there is none of that name, or the project's has the name of a packaged one.
    """
    packaged, own = (folder / f"{name}.yaml" for folder in (_PACKAGED[kind], _FOLDER / kind))
    if packaged.is_file() and own.is_file():
        raise ConfigError(
            f"{name!r} is a {_ONE[kind]} that comes with Assay.", where=own, fix="rename the file."
        )
    for path in (packaged, own):
        if path.is_file():
            return path
    raise unknown(_ONE[kind], name, names(kind), where=_FOLDER / kind)


def project_file(kind: Kind, name: str, folder: Path) -> Path | None:
    """Return the file that a name or a path means, None where that is a packaged one.

    Parameters
    ----------
    folder : Path
        What a path is relative to.
    """
    path = folder / name if is_file_name(name) else located(kind, name)
    return None if path.parent == _PACKAGED[kind] else path
