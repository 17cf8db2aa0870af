"""The lines of a CSV file, put together by columns, are those that are written row by row."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.pipeline.publish import file_formats
from anon_core.verification.files import writing as file_bytes
from anon_core.verification.files.csv_files import Split
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.text.cells import Cells
from anon_core.verification.text.texts import Spelling

_TEXTS = ["", "a", "b,c", 'say "hi"', "two\nlines", "é", "5"]


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows of few different texts, in order as a release's are or as they come."""
    width = draw(st.integers(1, 4))
    cells = st.sampled_from(_TEXTS[: draw(st.integers(1, len(_TEXTS)))])
    rows = draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=60))
    return sorted(rows) if draw(st.booleans()) else rows


@pytest.fixture(scope="module", autouse=True)
def some_at_a_time() -> Any:
    """Let even short tables be put together in several pieces."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(file_formats, "_ROWS_AT_ONCE", 7)
        patched.setattr(file_bytes, "_CHUNK", 5)
        yield


def _coded(rows: list[tuple[str, ...]]) -> tuple[list[Any], list[list[str]]]:
    codes, pools = [], []
    for column in zip(*rows, strict=True):
        pool = list(dict.fromkeys(column))
        codes.append(np.array([pool.index(text) for text in column], dtype=np.int32))
        pools.append(pool)
    return codes, pools


def _difference(content: bytes, header: list[str], codes: list[Any], pools: list[list[str]]) -> int:
    cells = [Cells(codes=own, texts=pool) for own, pool in zip(codes, pools, strict=True)]
    found = Split(header=header, columns=cells, rows=len(codes[0]), ragged={})
    text = Spelling(kind="text", neutralised=False)
    shown = PublishedTable(found, (), lambda _: text)
    return file_bytes.first_difference(content, shown, range(shown.rows))


def _plainly(header: list[str], rows: list[tuple[str, ...]]) -> bytes:
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows([header, *rows])
    return made.getvalue().encode()


@given(tables())
def test_lines_are_those_written_row_by_row(rows: list[tuple[str, ...]]) -> None:
    codes, pools = _coded(rows)
    header = [f"c{place}" for place in range(len(codes))]
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(own), pa.array(pool, type=pa.string()))
        for own, pool in zip(codes, pools, strict=True)
    ]
    plain = _plainly(header, rows)
    assert file_formats.as_csv(pa.table(columns, names=header)) == plain
    assert _difference(plain, header, codes, pools) == -1


@given(tables(), st.integers(0, 10**6), st.sampled_from([b"x", b",", b'"', b"\n", b""]))
def test_one_other_byte_is_a_difference(rows: list[tuple[str, ...]], at: int, other: bytes) -> None:
    codes, pools = _coded(rows)
    header = [f"c{place}" for place in range(len(codes))]
    plain = _plainly(header, rows)
    at %= len(plain)
    changed = plain[:at] + other + plain[at + 1 :]
    found = _difference(changed, header, codes, pools)
    assert (found < 0) == (changed == plain)


@given(tables(), st.integers(0, 10**6))
def test_a_file_that_ends_early_is_told_where_it_ends(rows: list[tuple[str, ...]], at: int) -> None:
    rows = [tuple(cell.replace("\n", " ") for cell in row) for row in rows]
    codes, pools = _coded(rows)
    header = [f"c{place}" for place in range(len(codes))]
    plain = _plainly(header, rows)
    cut = plain[: at % len(plain)]
    assert _difference(cut, header, codes, pools) == cut.count(b"\n")
