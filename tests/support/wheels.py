"""Small real wheels, served to pip from a folder, for tests of the wheel source."""

from __future__ import annotations

import zipfile
from pathlib import Path

from assay.core.identity import sha256_file
from assay.core.pins import Distribution


def make_wheel(folder: Path, name: str, members: dict[str, bytes]) -> Distribution:
    """Write a wheel ``name==1.0`` with `members` to `folder` and return its pin."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    info = f"{name.replace('-', '_')}-1.0.dist-info"
    metadata = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in {**members, **metadata}.items():
            archive.writestr(member, content)
    return Distribution(name=name, version="1.0", sha256=sha256_file(path))
