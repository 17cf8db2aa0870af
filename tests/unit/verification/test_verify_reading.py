"""The second computation's reader of Parquet: cells are what Arrow itself says they are."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.verification.files.reading import read_parquet, read_table
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.text.cells import text_of

COLUMNS = {
    "text": [["a", "b", None], ["b", "c", "a"]],
    "whole": [[1, None, 2], [2, 3, 1]],
    "flag": [[True, None, False], [True, True, None]],
    "day": [[dt.date(2020, 1, 1), None, dt.date(1999, 1, 1)], [None, None, dt.date(2020, 1, 1)]],
    "moment": [[dt.datetime(2020, 1, 1, 3), None, None], [None, dt.datetime(2020, 1, 1), None]],
    "exact": [[Decimal("1.20"), None, Decimal("0.05")], [Decimal("1.20"), None, None]],
    "bytes": [[b"a", b"b", None], [b"a", b"c", b"c"]],
    "list": [[[1], [2], None], [[1], [], [3]]],
    "nothing": [[None, None, None], [None, None, None]],
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("coded", [False, True])
def test_cells_are_those_of_arrow(name: str, coded: bool) -> None:
    parts = [pa.array(part, pa.array(COLUMNS[name][0]).type) for part in COLUMNS[name]]
    column = pa.chunked_array(parts)
    if coded and name not in ("list", "nothing"):  # each part with a dictionary of its own
        column = pa.chunked_array([part.dictionary_encode() for part in parts])
    table = pa.table({name: column})
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=2)
    found = read_parquet(file.getvalue(), "x.parquet").column(name).row_texts()
    expected = [cell for part in COLUMNS[name] for cell in part]
    assert found == [None if cell is None else text_of(cell) for cell in expected]


def test_dates_of_files_and_of_folders_are_read_as_declared(tmp_path):
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "t.csv"
    path.write_text("born,x\n" + "".join(f"{d:02d}/02/2020,a\n" for d in range(1, 29)))
    answer = Reading(dates={"born": "dmy"})
    for place in (path, path.parent):
        assert read_table(place, answer).column("born").row_texts()[2] == "2020-02-03"
