"""Model weights: fetched from where the registry pins them, converted once, verified on load."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.benchmarks.sources.holding import Holding, Kind
from assay.benchmarks.sources.hub import download_model
from assay.benchmarks.sources.wheel import extract_members
from assay.core.errors import ModelError
from assay.core.files import read_json
from assay.core.identity import digest
from assay.core.pins import HubPin, PathPin, WheelPin
from assay.core.spec import ModelSpec
from assay.core.validation import first_problem
from assay.models.convert import CONVERTER_VERSION, convert_gguf
from assay.models.files import model_digest, recorded_digests, verify_digests


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model folder on this machine and the digests of what is in it.

    Attributes
    ----------
    digests : mapping of str to str
        "weights" (configuration included), "tokenizer", "template".
    """

    folder: Path
    digests: Mapping[str, str]


class Location(BaseModel):
    """What a collect job needs to know of a fetched model.

    Attributes
    ----------
    model : str
    folder : str or None
        Relative to the cache, since a result never holds a path of this machine; None for a model
        behind a server.
    digests : dict of str to str
        As those of `ModelFiles`; of a server, a digest of its address.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: str
    folder: str | None
    digests: dict[str, str]


def locate_model(spec: ModelSpec, *, cache: Path, offline: bool) -> Location:
    """Fetch the weights of `spec` and return what a collect job needs to know of them.

    Raises
    ------
    SourceError, ModelError
        As `fetch_model`. A server is not asked anything here.
    """
    if spec.served:
        served = digest(spec.served.model_dump(mode="json", exclude={"access"}))
        return Location(model=spec.key, folder=None, digests={"served": served})
    files = fetch_model(spec, cache=cache, offline=offline)
    folder = os.path.relpath(files.folder.resolve(), cache.resolve())
    return Location(model=spec.key, folder=folder, digests=dict(files.digests))


def read_location(path: Path) -> Location:
    """Return what `locate_model` said, from the file it was written to.

    Raises
    ------
    ModelError
        If the file is not such a description.
    """
    try:
        return Location.model_validate(read_json(path))
    except ValidationError as error:
        raise ModelError(
            f"not the description of a fetched model: {first_problem(error)}.",
            where=path,
            fix="delete it and run again, which writes it anew.",
        ) from error


def fetch_model(
    spec: ModelSpec,
    *,
    cache: Path,
    offline: bool,
    verify: bool = False,
    tell: Callable[[str], None] | None = None,
) -> ModelFiles:
    """Bring the weights of `spec` to `cache` and return the folder to load them from.

    Parameters
    ----------
    cache : Path
        Folder for everything fetched. Converted weights are under ``models/``, named by the
        sha256 of what they were converted from and the converter's version.
    offline : bool
        Refuse to download; what is in the cache is used.
    verify : bool
        Recompute the sha256 of converted weights; sizes are always checked.
    tell : callable, optional
        Is given `spec.notice` when weights are brought in; writes to stderr by default.

    Raises
    ------
    SourceError
        If the pinned files cannot be had, or are not the pinned ones.
    ModelError
        If files of a converted model are missing or altered.
    """
    if isinstance(spec.source, PathPin):
        folder = _users_folder(spec.source)
        return ModelFiles(folder, model_digest(folder))
    if isinstance(spec.source, HubPin):
        if spec.notice and not offline:
            (tell or _to_stderr)(spec.notice)
        code = spec.trust_remote_code
        folder = download_model(spec.source, cache, offline, code=code)
        kind: Kind = "model_with_code" if code else "model"
        held = Holding(kind, spec.source, cache).recorded()
        known = {name: file.sha256 for name, file in held.files.items()} if held else {}
        return ModelFiles(folder, model_digest(folder, known=known))
    if not isinstance(spec.source, WheelPin):
        raise ModelError("a model behind a server has no weights to fetch.", where=spec.key)
    folder = _converted(spec, spec.source, cache, offline, tell or _to_stderr)
    if verify:
        verify_digests(folder)
    return ModelFiles(folder, model_digest(folder, known=recorded_digests(folder)))


def _to_stderr(notice: str) -> None:
    print(notice, file=sys.stderr)


def _users_folder(pin: PathPin) -> Path:
    folder = Path(pin.path).expanduser()
    if not folder.is_dir():
        raise ModelError(
            "there is no such model folder.",
            where=pin.path,
            fix="check the path; relative paths start from the folder Assay is run in.",
        )
    return folder


def _converted(
    spec: ModelSpec, pin: WheelPin, cache: Path, offline: bool, tell: Callable[[str], None]
) -> Path:
    """Return the converted model of a pinned GGUF file, converting it where the cache has none."""
    if pin.content_sha256 is None:
        raise ModelError(
            "the pin of a model in distributions does not say the sha256 of its GGUF file.",
            where=spec.key,
            fix="add content_sha256: converted weights are named by it.",
        )
    models = cache / "models"
    folder = models / f"{pin.content_sha256}-c{CONVERTER_VERSION}"
    if folder.is_dir():
        return folder
    if spec.notice:
        tell(spec.notice)
    models.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=models, prefix=".convert-"))
    try:
        gguf = work / "model.gguf"
        extract_members(pin, cache, offline, gguf)
        convert_gguf(gguf, work / "whole")
        _publish(work / "whole", folder)
    finally:
        shutil.rmtree(work)
    return folder


def _publish(built: Path, folder: Path) -> None:
    """Rename a finished folder into place; a job that was faster wins."""
    built.chmod(0o755)
    try:
        built.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
