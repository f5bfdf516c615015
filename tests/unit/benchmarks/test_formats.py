from __future__ import annotations

import gzip
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.benchmarks.sources.formats import read_table
from assay.core.errors import SourceError

ROWS = [{"q": "one\u2028line", "n": 1}, {"q": 'zwei, "drei"\n', "n": 2}]


def arrow(kind: Any) -> bytes:
    table, sink = pa.Table.from_pylist(ROWS), io.BytesIO()
    with kind(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    return sink.getvalue()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    return sink.getvalue()


def jsonl() -> bytes:
    text = '{"q": "one\u2028line", "n": 1}\n\n{"q": "zwei, \\"drei\\"\\n", "n": 2}\n'
    return text.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", jsonl()),
        ("rows.jsonl.gz", gzip.compress(jsonl(), mtime=0)),
        ("rows.parquet", parquet()),
        ("rows.arrow", arrow(pa.ipc.new_stream)),
        ("rows.arrow", arrow(pa.ipc.new_file)),
        ("ROWS.JSONL", jsonl()),
    ],
)
def test_every_format_gives_the_same_rows(name: str, content: bytes) -> None:
    rows = list(read_table(io.BytesIO(content), name))
    assert [value for _, value in rows] == ROWS
    assert [where.row for where, _ in rows] == [0, 1]


def test_jsonl_lines_count_empty_ones() -> None:
    rows = list(read_table(io.BytesIO(jsonl()), "rows.jsonl"))
    assert [str(where) for where, _ in rows] == ["rows.jsonl:1", "rows.jsonl:3"]


def test_csv_counts_lines_and_reads_a_byte_order_mark() -> None:
    content = '\ufeffq,n\n"a\nb",1\nc,2\n'.encode()
    rows = list(read_table(io.BytesIO(content), "rows.csv"))
    assert [value for _, value in rows] == [{"q": "a\nb", "n": "1"}, {"q": "c", "n": "2"}]
    assert [str(where) for where, _ in rows] == ["rows.csv:3", "rows.csv:4"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", b'{"q": 1}\n{"q": \n', r"^x\.jsonl:2: not valid JSON"),
        ("x.jsonl", b"[1]\n", r"^x\.jsonl:1: a line must be a JSON object"),
        ("x.jsonl", b'{"q": "\xff"}\n', r"^x\.jsonl:1: not valid JSON"),
        ("x.jsonl.gz", b"not gzip", "the compressed file is broken"),
        ("x.jsonl.gz", gzip.compress(jsonl(), mtime=0)[:-9], "the compressed file is broken"),
        ("x.csv", b"q,n\na\n", r"^x\.csv:2: this row does not have 2 columns"),
        ("x.csv", b"q,n\na,1,2\n", r"^x\.csv:2: this row does not have 2 columns"),
        ("x.csv", b'q,n\n"a"b,1\n', r"^x\.csv:2: not valid CSV"),
        ("x.parquet", b"PAR1 no", "not valid parquet"),
        ("x.arrow", b"nothing", "not valid Arrow"),
        ("x.xlsx", b"", r"format of this file is not known.*\.jsonl, \.csv"),
    ],
)
def test_broken_files_are_named(name: str, content: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        list(read_table(io.BytesIO(content), name))
