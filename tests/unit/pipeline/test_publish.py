"""The public edition: canonical order, CSV that comes back whole, nothing a sheet executes."""

from __future__ import annotations

import csv
import io
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from anon_core import Dataset, Plan, run
from anon_core.data.frequency import row_order
from anon_core.pipeline.publish.file_formats import as_csv, as_parquet
from anon_core.pipeline.publish.published_table import (
    draw_rows,
    in_text_order,
    neutralised,
    public_edition,
)
from tests.making import PATIENTS, Case, by_hand
from tests.often import often

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
AWKWARD = st.sampled_from(
    ["", " ", ",", '"', "\n", "\r", "\r\n", "a,b", '"q"', "é€𝄞", "=1+1", "\ufeff"]
)


def table_of(names: list[str], rows: list[tuple[str, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(list(c), pa.string()).dictionary_encode() for c in columns]
    return pa.Table.from_arrays(arrays, names=names)


@often(300)
@given(st.data())
def test_csv_comes_back_exactly(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 4))
    cell = st.one_of(AWKWARD, TEXTS)
    rows = data.draw(st.lists(st.tuples(*[cell] * width), max_size=8))
    names = data.draw(st.lists(TEXTS.filter(bool), min_size=width, max_size=width, unique=True))
    text = as_csv(table_of(names, rows)).decode("utf-8")
    header, *back = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header == names
    assert [tuple(row) for row in back] == rows
    assert text.endswith("\n")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", ",", "x"])), max_size=12))
def test_equal_rows_are_written_as_often_as_they_stand(rows: list[tuple[str, str]]) -> None:
    text = as_csv(table_of(["u", "v"], rows)).decode()
    assert [tuple(row) for row in csv.reader(io.StringIO(text))][1:] == rows


def test_csv_quotes_only_where_it_must() -> None:
    table = table_of(["a", "b"], [("x y", ""), ('say "hi"', "1,5"), ("é", "l1\nl2")])
    assert as_csv(table).decode() == 'a,b\nx y,\n"say ""hi""","1,5"\né,"l1\nl2"\n'


def test_an_empty_cell_alone_is_no_empty_line() -> None:
    assert as_csv(table_of(["a"], [("",), ("x",)])) == b'a\n""\nx\n'


def test_csv_of_slices_and_of_no_rows() -> None:
    table = table_of(["a", "b"], [("x", "1"), ("y", "2"), ("z", "3")])
    assert as_csv(table.slice(1, 1)) == b"a,b\ny,2\n"
    assert as_csv(table.slice(0, 0)) == b"a,b\n"
    assert as_csv(pa.concat_tables([table.slice(2), table.slice(0, 1)])) == b"a,b\nz,3\nx,1\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-cmd", "'-cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("-5", "-5"),
        ("+5.5", "+5.5"),
        ("-1,5", "-1,5"),
        ("-1e3", "-1e3"),
        ("-", "'-"),
        ("1-2", "1-2"),
        ("'=1", "''=1"),
        ("''=1", "'''=1"),
        ("'-5", "''-5"),
        ("'til", "'til"),
        ("", ""),
    ],
)
def test_a_formula_gets_an_apostrophe_and_a_number_stays(text: str, shown: str) -> None:
    assert neutralised(text) == shown


def test_rows_stand_in_the_order_of_their_texts() -> None:
    codes = [np.array([1, 0, 1, 0], np.int32), np.array([0, 0, 1, 1], np.int32)]
    texts = [["b", "a"], ["10", "9"]]
    order = row_order(*in_text_order(codes, texts))
    rows = [(texts[0][codes[0][i]], texts[1][codes[1][i]]) for i in order]
    assert rows == sorted(rows) == [("a", "10"), ("a", "9"), ("b", "10"), ("b", "9")]


def test_one_text_under_two_codes_is_one_text_to_the_order() -> None:
    codes = [np.array([0, 1, 0, 1], np.int32), np.array([3, 2, 1, 0], np.int32)]
    order = row_order(*in_text_order(codes, [["same", "same"], ["a", "b", "c", "d"]]))
    assert codes[1][order].tolist() == [0, 1, 2, 3]


def test_the_order_of_rows_in_the_table_is_no_part_of_the_file() -> None:
    seen: set[bytes] = set()
    columns = list(PATIENTS.columns)
    rows = list(zip(*PATIENTS.columns.values(), strict=True))
    for turn in itertools.islice(itertools.permutations(rows), 0, 720, 90):
        cells = dict(zip(columns, (list(c) for c in zip(*turn, strict=True)), strict=True))
        case = Case(
            columns=cells,
            quasi=PATIENTS.quasi,
            sensitive=PATIENTS.sensitive,
            identifier=PATIENTS.identifier,
            kinds=PATIENTS.kinds,
            levels=PATIENTS.levels,
        )
        seen.add(run(case.plan(), case.dataset, case.levels, assess=False).csv)
    assert len(seen) == 1


@pytest.mark.parametrize("formulas", ["neutralise", "keep"])
def test_formulas_in_cells_are_neutralised_unless_the_plan_keeps_them(formulas: str) -> None:
    case = Case(
        columns={"q": ["=A1", "=A1", "-5", "-5"], "s": ["@x", "+1", "@x", "-y"]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    result = run(case.plan(export={"formulas": formulas}), case.dataset, assess=False)
    mark = "'" if formulas == "neutralise" else ""
    expected = [
        ("-5", f"{mark}-y"),
        ("-5", f"{mark}@x"),
        (f"{mark}=A1", "+1"),
        (f"{mark}=A1", f"{mark}@x"),
    ]
    _, *rows = csv.reader(io.StringIO(result.csv.decode()))
    assert [tuple(row) for row in rows] == sorted(expected)
    assert result.verification.holds


def test_parquet_holds_the_same_texts() -> None:
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, assess=False)
    back = parquet.read_table(io.BytesIO(result.parquet))
    assert back.column_names == ["age", "zip", "illness", "note"]
    _, *rows = csv.reader(io.StringIO(result.csv.decode()))
    column = zip(*(back.column(n).to_pylist() for n in back.column_names), strict=True)
    assert [list(row) for row in column] == rows
    assert result.parquet is result.parquet


def test_parquet_carries_no_notes_of_the_run() -> None:
    table = table_of(["a"], [("x",)]).replace_schema_metadata({"seed": "7"})
    back = parquet.read_table(io.BytesIO(as_parquet(table)))
    assert back.schema.metadata is None


def test_members_tell_the_class_of_every_published_row() -> None:
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, assess=False)
    edition = public_edition(result.release, np.random.default_rng(0))
    table, member = edition.tables["release"], edition.member
    assert np.array_equal(member, result.member)
    rows = list(zip(*(table.column(n).to_pylist() for n in ("age", "zip")), strict=True))
    by_class = {c: {rows[i] for i in np.flatnonzero(member == c)} for c in set(member.tolist())}
    assert all(len(cells) == 1 for cells in by_class.values())
    assert len(by_class) == len(set(rows))


def test_a_single_block_keeps_rows_whole() -> None:
    problem = PATIENTS.problem()
    release = by_hand(problem, [0, 0, 1, 1, 0, 1], ((*problem.quasi, *problem.sensitive),))
    codes = draw_rows(release, np.random.default_rng(0)).codes
    for name in (*problem.quasi, *problem.sensitive):
        texts = release.vocabularies[name].texts
        assert [texts[c] for c in codes[name]] == PATIENTS.column(name)


def test_no_file_holds_a_value_that_only_a_removed_row_had() -> None:
    rows = [(str(30 + i % 3), "F", "cold" if i % 2 else "flu") for i in range(60)]
    rows.append(("97", "F", "RAREDISEASE"))
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"])
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age", "sex"], "sensitive": ["ill"]},
            "algorithm": {"name": "optimal", "max_suppression": 0.05},
            "models": [{"name": "k-anonymity", "k": 5}],
        }
    )
    result = run(plan, Dataset.from_frame(frame), assess=False)
    assert result.release.suppressed == 1
    table = parquet.ParquetFile(io.BytesIO(result.parquet), read_dictionary=["age", "ill"]).read()
    chunks = [chunk for name in ("age", "ill") for chunk in table[name].chunks]
    texts = {text for chunk in chunks for text in chunk.dictionary.to_pylist()}
    assert texts == {"30", "31", "32", "cold", "flu"}
    assert b"RAREDISEASE" not in result.csv + result.parquet
