"""What was fetched from a hub, written down so that offline use needs no hub library.

The cache layouts of `datasets` and `huggingface_hub` depend on versions and on being online. A
holding lists the files of one pin with sizes and sha256; they are read from their own paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict

from assay.core.errors import SourceError
from assay.core.files import read_json, write_json
from assay.core.identity import digest, sha256_file
from assay.core.pins import HubPin

Kind = Literal["dataset", "model", "model_with_code"]


class HeldFile(BaseModel):
    """Size and digest of one file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    sha256: str


class Contents(BaseModel):
    """The files of one pin; `folder` is relative to the cache."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repo: str
    revision: str
    folder: str
    files: dict[str, HeldFile]


@dataclass(frozen=True)
class Holding:
    """The place in the cache where the files of one pin are listed."""

    kind: Kind
    pin: HubPin
    cache: Path

    @property
    def index(self) -> Path:
        """The list of files; it exists only once everything was fetched."""
        asked = [self.kind, self.pin.repo, self.pin.revision, self.pin.config, self.pin.split]
        return self.cache / "hub" / "holdings" / f"{digest(asked, length=32)}.json"

    def recorded(self) -> Contents | None:
        """Return the list of files, or None where the fetch never came to its end."""
        if not self.index.is_file():
            return None
        return Contents.model_validate(read_json(self.index))

    def record(self, folder: Path, files: list[str]) -> Contents:
        """Write down `files` under `folder` with their sizes and digests, once they are right."""
        held = {
            name: HeldFile(bytes=(folder / name).stat().st_size, sha256=sha256_file(folder / name))
            for name in sorted(files)
        }
        self._compare_with_pin(held)
        contents = Contents(
            repo=self.pin.repo,
            revision=self.pin.revision,
            folder=str(PurePosixPath(folder.relative_to(self.cache))),
            files=held,
        )
        write_json(self.index, contents.model_dump(mode="json"))
        return contents

    def absent(self, contents: Contents) -> list[str]:
        """Return the names of files that are no longer there."""
        return [name for name in contents.files if not self.path(contents, name).is_file()]

    def path(self, contents: Contents, name: str) -> Path:
        """Return where file `name` lies."""
        return self.cache / contents.folder / name

    def verify(self, contents: Contents) -> None:
        """Raise `SourceError` for the first file that is absent or altered."""
        for name in self.absent(contents):
            raise SourceError(
                f"a file of {self.pin.repo} is missing from the cache.",
                where=self.path(contents, name),
                fix="fetch again with a connection; only what is missing is downloaded.",
            )
        for name, held in contents.files.items():
            path = self.path(contents, name)
            if path.stat().st_size != held.bytes or sha256_file(path) != held.sha256:
                raise SourceError(
                    f"a file of {self.pin.repo} was altered after it was fetched.",
                    where=path,
                    fix=f"delete it, {path.resolve()} and {self.index}, then fetch again.",
                )
        self._compare_with_pin(contents.files)

    def _compare_with_pin(self, held: Mapping[str, HeldFile]) -> None:
        for name, expected in self.pin.files.items():
            if name not in held:
                raise SourceError(
                    f"the pin names the file {name!r}, which {self.pin.repo} does not have there.",
                    where=f"{self.pin.repo}@{self.pin.revision}",
                    fix=f"the files are: {', '.join(sorted(held))}.",
                )
            if held[name].sha256 != expected:
                raise SourceError(
                    f"{name} has sha256 {held[name].sha256}, the pin says {expected}.",
                    where=f"{self.pin.repo}@{self.pin.revision}",
                    fix="correct the pin if the file is the one you mean; else do not use it.",
                )
