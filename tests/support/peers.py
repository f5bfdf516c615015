"""Other projects' own readers, from their pinned wheels: they judge what we export.

A wheel is fetched once into the cache, put on the path of a process of its own, and never
installed. Its code runs on the libraries that this project has already.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from assay.core.identity import sha256_file
from assay.core.pins import Distribution

EVERY_EVAL_EVER = Distribution(
    name="every-eval-ever",
    version="0.3.0",
    sha256="564b8bc624c1f822f749a769dc69dc058a736e83d920cbeb147c3a30d3152317",
)
LM_EVAL = Distribution(
    name="lm-eval",
    version="0.4.13",
    sha256="5daaa1973bf874005f64f28d3834b875f6886f0d6475878e6a6c821994a5286a",
)


def wheel(pin: Distribution, cache: Path) -> Path:
    """Return the verified wheel, fetched if it is not in the cache."""
    folder = cache / "peers"
    path = folder / f"{pin.name.replace('-', '_')}-{pin.version}-py3-none-any.whl"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        # every-eval-ever asks for Python 3.12; what is used of it runs on 3.11.
        options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder)]
        subprocess.run([*command, f"{pin.name}=={pin.version}"], check=True, capture_output=True)
    assert sha256_file(path) == pin.sha256, f"{path} is not the pinned wheel"
    return path


def run_peer(
    archive: Path, arguments: list[str], *, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run Python with the wheel on its path, in `folder`."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=False,
    )
