"""Parquet files that tell what cannot be."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.verification.files.csv_files import Split
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.files.writing import is_parquet_of
from anon_core.verification.text.cells import Cells
from anon_core.verification.text.texts import Spelling

#: How a footer says of a chunk that it holds bytes or 64-bit numbers, and what comes after.
BYTES, NUMBERS = b"\x15\x0c\x19", b"\x15\x04\x19"


def as_text(_: str) -> Spelling:
    return Spelling(kind="text", neutralised=False)


def file_of(**columns: list[object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize("mark", [BYTES, NUMBERS])
@pytest.mark.parametrize("kind", [b"\x0e", b"\x20", b"\x21", b"\x7f"])
def test_a_chunk_of_another_kind_than_its_column_ends_nothing(mark: bytes, kind: bytes) -> None:
    content = file_of(age=["1", "2"], pay=[3, 4])
    place = content.rindex(mark)
    broken = content[: place + 1] + kind + content[place + 2 :]
    columns = [Cells.of(["1", "2"]), Cells.of(["3", "4"])]
    found = Split(header=["age", "pay"], columns=columns, rows=2, ragged={})
    shown = PublishedTable(found, (), as_text)
    assert not is_parquet_of(broken, shown, range(2))
