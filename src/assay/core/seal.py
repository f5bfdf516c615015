"""Seals: small manifests that say which bytes a rule made, from what, with which code.

Snakemake does not hash outputs and forgets everything when ``.snakemake`` is lost. Every rule
writes one seal; every reader verifies it; `assay reconcile` compares it with the present code.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.core.errors import RecordError
from assay.core.files import read_json, write_json
from assay.core.identity import sha256_file
from assay.core.validation import first_problem


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataFile(_Frozen):
    """Size and content of one file."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> DataFile:
        """Measure `path`."""
        return cls(bytes=path.stat().st_size, sha256=sha256_file(path))

    def verify(self, path: Path) -> None:
        """Refuse `path` unless it is byte for byte the file that was described.

        Raises
        ------
        RecordError
            If the file is missing, truncated or altered.
        """
        fix = "delete the manifest beside it and run the workflow again; no answer is lost."
        if not path.is_file():
            raise RecordError("file is missing.", where=path, fix=fix)
        size = path.stat().st_size
        if size != self.bytes:
            raise RecordError(
                f"file has {size} bytes, its manifest says {self.bytes}: truncated or edited.",
                where=path,
                fix=fix,
            )
        if sha256_file(path) != self.sha256:
            raise RecordError("file was edited: not what its manifest says.", where=path, fix=fix)


class Seal(_Frozen):
    """What one rule made.

    Attributes
    ----------
    spec, code : str
        The rule's parameters (canonical JSON) and code digest.
    files : dict
        Path relative to the seal's folder → size and content.
    """

    spec: str
    code: str
    files: dict[str, DataFile]


def write_seal(path: Path, files: Sequence[Path], *, spec: str, code: str) -> None:
    """Describe `files` in a seal at `path`."""
    described = {
        Path(os.path.relpath(file, path.parent)).as_posix(): DataFile.of(file) for file in files
    }
    write_json(path, Seal(spec=spec, code=code, files=described).model_dump(mode="json"))


def verify_seal(path: Path) -> Seal:
    """Return the seal at `path` after every file it describes agrees with it.

    Raises
    ------
    RecordError
        Naming the file that is missing, truncated or edited.
    """
    if not path.is_file():
        raise RecordError("no seal: its rule never finished.", where=path)
    try:
        seal = Seal.model_validate(read_json(path))
    except ValidationError as error:
        raise RecordError(f"not a seal: {first_problem(error)}.", where=path) from error
    for name, described in seal.files.items():
        described.verify(path.parent / name)
    return seal
