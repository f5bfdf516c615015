"""The search for a planted secret finds it wherever a file may hide it."""

from __future__ import annotations

import base64
import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.secrets import spilled

SECRET = "hf_planted0123456789"


@pytest.mark.parametrize("kind", ["plain", "hex", "base64", "gzip", "page", "zip", "parquet"])
def test_it_is_found(tmp_path: Path, kind: str) -> None:
    said = f"the key is {SECRET}, keep it".encode()
    path = tmp_path / "deep" / f"file.{kind}"
    path.parent.mkdir()
    match kind:
        case "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("member.txt", said * 20)
        case "parquet":
            pq.write_table(pa.table({"text": [said.decode()] * 9}), path, compression="zstd")
        case _:
            forms = {
                "plain": said,
                "hex": said.hex().encode(),
                "base64": base64.b64encode(said),
                "gzip": gzip.compress(said * 20),
                # As the report holds its items.
                "page": b"<script>" + base64.b64encode(gzip.compress(said * 20)) + b"</script>",
            }
            path.write_bytes(forms[kind])
    assert spilled(tmp_path, SECRET) == [path]
    assert spilled(tmp_path, "another-secret-1234") == []
