"""What kind a column is, is decided once: run, engines, pages and verification read it alike.

Columns are nasty on purpose: numbers beyond what floats tell apart, spellings, control characters,
line ends in headers and cells, names that differ in case alone.
"""

from __future__ import annotations

import datetime
import gzip
import io
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadInput, InputChanged
from anon_core.data.column import Column
from anon_core.data.profile import profile
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.table import Dataset
from anon_core.engines.sql_table import SqlTable
from anon_core.verification.files.reading import read_table as read_again
from anon_core.verification.recipe import read_terms
from anon_core.verification.rows.tables import PrivateTable
from tests.making import Case
from tests.often import EVERY, crossed, often

#: Cells that columns are drawn from, a kind of trouble each.
POOLS: dict[str, Sequence[str]] = {
    "16 to 25 figures": [str(10**19 + 3 * n) for n in range(5)] + ["9007199254740993"],
    "beyond 2^53": [str(2**53 + n) for n in range(5)] + [str(2**63), "-" + str(2**63 + 1)],
    "near 15 figures": ["999999999999999", "1000000000000000", "100000000000000", "7"],
    "fine decimals": ["0.27658333333333334769", "0.27658333333333334768", "0.5", "1e-320"],
    "large and small": ["1e100", "-1e100", "1e-100", "0", "5"],
    "too large": ["1e101", "5", "6.5"],
    "huge": ["1e308", "-1e308", "1.7976931348623157e308", "1e400", "1E5", "100000"],
    "spellings": ["1", "1.0", "1.00", "+1", "2,0", "2", "-0", "0"],
    "codes": ["007", "7", "08", "10"],
    "thousands": ["1.164,09", "12.500", "950", "3,5"],
    "either mark": ["1,234", "5,678", "950"],
    "points": ["1.234", "5.678", "9.000", "950"],
    "blanks": ["16 595", "7 001", "950", "16\u202f595"],
    "control": ["\x01", "\x1f", "a\x0bb", "a\x0cb", "\x02end of table\x03", "\x7f"],
    "line ends": ["a\r\nb", "a\nb", "a\rb", "a", '"', 'x"y'],
    "separators": ["a\u2028b", "a\u2029b", "a\x85b", "a\x1cb", "ab"],
    "marks of order": ["\ufeff1", "1", "\u200b1", "\ufeff", "1\ufeff"],
    "other digits": ["\u0663", "3", "\u00b2", "\uff13"],
    "dates": ["2024-02-29", "2024/2/9", "29.02.2024", "2024-1-2", "1.2.2024"],
    "odd dates": ["2024- 1- 2", "2024-02-30", "0000-01-01", "2024-02-29"],
    "days and months": ["31/12/2026", "01/02/2026", "13/01/2026", "12/12/2026"],
    "either order": ["01/02/2026", "03/04/2026", "05/06/2026"],
    "midnights": ["2024-02-29 00:00:00", "2024-03-01T00:00", "2024-03-02", "2.3.2024 0:00"],
    "midnights of UTC": ["2024-02-29T00:00:00Z", "2024-03-01 00:00:00.000+00:00", "2024-03-02"],
    "moments": ["2024-02-29 07:08:09", "2024-02-29T07:08", "29.02.2024 17:00", "2024-03-01 00:00"],
    "moments and days": ["2024-02-29 07:08", "2024-03-01", "2024-03-02", "2024-03-03 00:00"],
    "fractions": ["2024-02-29 07:08:09.5", "2024-02-29 07:08:09,50", "2024-02-29 07:08:09.123456"],
    "fine fractions": [
        "2024-02-29 07:08:09.123456789",
        "2024-02-29 07:08:09.123456788",
        "2024-1-1 1:00",
    ],
    "long ago": ["1024-02-29 07:08:09.123456", "1024-02-29 07:08:09.123457", "0001-01-01 00:00:01"],
    "ends of time": ["9999-12-31 23:59:59", "0001-01-01 00:00:01", "9999-12-31 23:59:59.999999"],
    "offsets": [
        "2024-02-29T07:08+01:00",
        "2024-02-29T06:08Z",
        "2024-02-29 07:08:00+0530",
        "2024-02-28 23:00-02",
    ],
    "beyond by offset": ["0001-01-01T00:30+01:00", "2024-02-29T06:08Z"],
    "with and without": ["2024-02-29T07:08+01:00", "2024-02-29T06:08"],
    "halves": ["02/29/2024 7:08 PM", "02/29/2024 12:08 AM", "03/01/2024 12:00 p.m."],
    "strokes": ["29/02/2024 07:08", "01/02/2024 17:00:30", "13/01/2024 00:00"],
    "strokes either way": ["09/02/2024 07:08", "01/02/2024 17:00:30"],
    "no moments": ["2024-02-29 24:00", "2024-02-30 07:00", "2024-02-29 07:60", "2024-02-29 7"],
    "missing": ["NA", "null", "?", "N/A", "x", "nan"],
    "words of SQL": ["NULL ", "inf", "Infinity", "-inf", "true", "NaN "],
}
NAMES = [
    ("a", "b"),
    ("Age", "age"),
    ("i", "\u0130"),
    ("a\r\nb", "b"),
    ("a\nb", "A\nB"),
    ("a", "\ufeffa"),
    ("a\x0cb", "a\u2028b"),
    ("c0", "n1"),
    ("C1", "c1"),
    ('say "x"', "it's"),
    (" a ", "coded"),
    ("\x01", "\x02"),
    ("stra\u00dfe", "STRASSE"),
]
#: Pools whose values a sample may spell in several ways.
SAMPLED = ["spellings", "dates", "thousands", "codes", "large and small"]
ILLS = ["gout", "flu", "cold", "acne"]
RECIPE = """
[data]
separator = ","
{data}
[roles]
quasi = [{quasi}]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""
Values = Counter[str]


def written(name: str) -> str:
    return '"' + "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in name) + '"'


def contents(column: Column) -> tuple[str, Values]:
    """Return a column's kind, and how many rows have each value as it is published."""
    return column.kind, Counter(dict(zip(column.values, column.counts.tolist(), strict=True)))


class Desk:
    """A table in a folder, and what each reader finds in it."""

    def __init__(self, folder: Path, data: Path, names: Sequence[str], more: str = "") -> None:
        self.folder, self.data, self.names = folder, data, names
        self.recipe = folder / "r.toml"
        quasi = ", ".join(written(name.strip()) for name in names)
        recipe = RECIPE.format(quasi=quasi, data=more)
        self.options = DataOptions(separator=",")
        if data.suffix == ".parquet":  # of which a separator says nothing
            recipe, self.options = recipe.replace('separator = ","\n', ""), DataOptions()
        self.recipe.write_text(recipe, encoding="utf-8")

    def in_memory(self) -> Dataset:
        return read_table(self.data, self.options)

    def by_database(self) -> Dataset:
        names = tuple(n.strip() for n in self.names)
        with tempfile.TemporaryDirectory() as spill:
            table = SqlTable(self.data, Path(spill), 2 << 30)
            with closing(table):
                table.read(self.options, {}, names, ())
                return table.dataset

    def again(self, name: str) -> tuple[str, Values]:
        """Return the kind and values that the second computation finds by itself."""
        recipe = tomllib.loads(self.recipe.read_text(encoding="utf-8"))
        private = read_again(self.data)
        table = PrivateTable(read_terms(recipe, private.names), private, {})
        shown, column = table.written_codes(name), table.columns[name]
        count = np.bincount(column.codes, minlength=len(column.keys) + 1)
        return column.spelling.kind, Counter({t: int(count[c]) for c, t in shown.items()})

    def run(self, engine: str, *more: str) -> tuple[int, str, dict[str, bytes]]:
        """Run the recipe; return status, what was said and the files."""
        out = self.folder / engine
        said = io.StringIO()
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            given = ["run", str(self.recipe), "--data", str(self.data), "--out", str(out)]
            status = main([*given, "--engine", engine, *more])
        files = {f.name: f.read_bytes() for f in out.iterdir()} if out.is_dir() else {}
        return status, said.getvalue(), files

    def verify(self, recipe: Path) -> int:
        with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
            given = ["verify", str(recipe), "--data", str(self.data)]
            return main([*given, "--release", str(self.folder / "memory")])

    def agree(self) -> bool:
        """Hold all readers, and what comes of them, against each other; say if it is released."""
        try:
            held = self.in_memory()
        except BadInput as error:
            with pytest.raises(BadInput, match=re.escape(error.message)):
                self.by_database()
            return False
        counted = self.by_database()
        shown = {one.name: one for one in profile(held)}
        undecided = False
        for name in (n.strip() for n in self.names):
            own = contents(held.column(name))
            assert contents(counted.column(name)) == own
            assert counted.column(name).undecided == held.column(name).undecided
            assert (shown[name].kind, shown[name].distinct) == (own[0], len(own[1]))
            if held.column(name).undecided:
                undecided = True
            elif own[1]:
                assert self.again(name) == own
        kept = self.folder / "kept.toml"
        first, words, files = self.run("memory", "--recipe-out", str(kept))
        second, other_words, other = self.run("duckdb")
        assert (first, files) == (second, other)
        if first:
            assert first == (1 if undecided else 2), words
            assert words.strip().splitlines()[-1] == other_words.strip().splitlines()[-1]
            return False
        kinds = tomllib.loads(kept.read_text(encoding="utf-8"))["types"]
        wanted = {n.strip(): held.column(n.strip()) for n in self.names}
        assert {n: kinds.get(n) for n in wanted if wanted[n].values} == {
            n: c.kind for n, c in wanted.items() if c.values
        }
        assert self.verify(self.recipe) == self.verify(kept) == 0
        return True


def csv_of(names: Sequence[str], rows: Sequence[Sequence[str]], end: str) -> bytes:
    lines = [",".join(map(cell, row)) + end for row in [[*names, "ill"], *rows]]
    return "".join(lines).encode()


def cell(text: str) -> str:
    """Return a cell as CSV writes it: quoted where a sign needs it."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[str, str], list[list[str]]]:
    """Draw names of two columns, and their cells."""
    names = draw(st.sampled_from(NAMES))
    columns: list[list[str]] = []
    for _ in names:
        pool = POOLS[draw(st.sampled_from(sorted(POOLS)))]
        cells = [
            *pool,
            *([""] if draw(st.booleans()) else []),
            *([" 1 "] * draw(st.integers(0, 1))),
        ]
        columns.append(draw(st.lists(st.sampled_from(cells), min_size=12, max_size=12)))
    ills = [ILLS[n % 4] for n in range(12)]
    return names, [list(row) for row in zip(*columns, ills, strict=True)]


def of_pools(*pools: str) -> list[list[str]]:
    """Return rows of one or two pools; a second column without a trouble is next to only one."""
    columns = [*(POOLS[pool] for pool in pools), "FM"][:2]
    return [[*(one[n % len(one)] for one in columns), ILLS[n % 4]] for n in range(12)]


def agree(names: tuple[str, str], rows: list[list[str]], end: str) -> bool:
    with tempfile.TemporaryDirectory() as place:
        data = Path(place, "t.csv")
        data.write_bytes(csv_of(names, rows, end))
        return Desk(Path(place), data, names).agree()


#: Pools of which a person must say how they are read.
UNDECIDED = ["either mark", "either order", "points", "strokes either way"]


def in_twos(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return one and one in the long run, and else two in one table, which takes half as long."""
    step = 1 if EVERY else 2
    return [tuple(names[at : at + step]) for at in range(0, len(names), step)]


@pytest.mark.parametrize("pool", UNDECIDED)
def test_a_trouble_that_a_person_decides_is_refused_alike(pool: str) -> None:
    assert not agree(("a", "b"), of_pools(pool), "\n")


@pytest.mark.often
@pytest.mark.parametrize("pools", in_twos(sorted(POOLS.keys() - set(UNDECIDED))), ids=" and ".join)
def test_every_trouble_is_read_alike(pools: tuple[str, ...]) -> None:
    assert agree(("a", "b"), of_pools(*pools), "\n")


@crossed("names, end", NAMES, ["\n", "\r\n"], share=2, ids=ascii)
def test_every_pair_of_names_is_read_alike(names: tuple[str, str], end: str) -> None:
    agree(names, of_pools("line ends"), end)


@crossed("pool, name", SAMPLED, ["k-optimize", "mondrian", "optimal", "anatomy"], share=2)
def test_a_sample_of_several_spellings_is_published_and_verified(pool: str, name: str) -> None:
    rng = np.random.default_rng([len(pool), len(name)])
    cells = [str(c) for c in rng.choice(list(POOLS[pool]), 60)]
    terms = {"name": "frequency-l-diversity", "l": 2}
    case = Case(
        columns={"a": [*cells], "b": [*"FM" * 30], "c": [*cells[::-1]], "ill": [*ILLS * 15]},
        quasi=("a", "b"),
        sensitive=("ill",),
        kinds={},
    )
    for share in (0.3, 0.5, 0.8):
        plan = case.plan(
            algorithm={"name": name} | ({"seconds": 1} if name == "k-optimize" else {}),
            models=[terms if name == "anatomy" else {"name": "k-anonymity", "k": 2}],
            data={"sample": share},
            confirmed=[{"column": "c", "what": "day", "rows": 60}] if pool == "dates" else [],
        )
        assert run(plan, case.dataset, {}, assess=False).verification.holds


#: More rows than DuckDB keeps in one group (122,880), and more bytes than Arrow reads at a time.
MANY = [f"{n},{'x' * 14}" for n in range(130_000)]
#: Tables of the columns n and s with a cell or a row that is refused, and the declared kind of n.
BAD_CELLS: dict[str, tuple[list[str], str]] = {
    "no number": (["1,x", "2,x", "x,x", "3,x", "x,x", "a,x"], "number"),
    "no number late": ([*MANY, "y,x", *MANY, "a,x"], "number"),
    "no number, padded": (["1,x", " z ,x", "2,x", "-,x"], "number"),
    "no date": (["2020-01-01,x", "2020-02-30,x"], "date"),
    "no time": (["2020-01-01 07:00,x", "2020-02-01 24:30,x"], "datetime"),
    "after quotes": (["1,x", '2,"a', 'b"', "x,x"], "number"),
    "after blanks": (["1,x", "", "2,x", "", "x,x"], "number"),
    "too wide": (["1,x", "2,x,y", "3,x"], ""),
    "too narrow": (["1,x", "2", "3,x", "4", "5", "6"], ""),
    "too wide late": ([*MANY, "2,x,y"], ""),
    "too wide after blanks": (["1,x", "", "2,x,y"], ""),
    "all too wide": (["1,x,y", "2,x,y"], ""),
    "open quote": (["1,x", '2,"x', "3,x"], ""),
    "open quote late": ([*MANY, '"2,x', *MANY], ""),
    "NUL": (["1,x", "2,x", "3,x\0y"], ""),
    "NUL in n": (["1,x", "\x002,x"], ""),
}


@crossed("bad, packed", list(BAD_CELLS), [False, True], share=2)
def test_a_refused_cell_is_named_by_its_row_on_every_engine(
    tmp_path: Path, bad: str, packed: bool
) -> None:
    rows, kind = BAD_CELLS[bad]
    data = tmp_path / "t.csv"
    content = "\n".join(["n,s", *rows, ""]).encode()
    data.write_bytes(gzip.compress(content, 1) if packed else content)
    kinds: dict[str, Any] = {"n": kind} if kind else {}
    with pytest.raises(BadInput, match=r"row \d+") as memory:
        read_table(data, DataOptions(), kinds=kinds)
    table = SqlTable(data, tmp_path, 2 << 30)
    with closing(table), pytest.raises((BadInput, InputChanged)) as database:
        table.read(DataOptions(), kinds, ("n", "s"), ())
    assert str(database.value) == str(memory.value)


def test_a_refused_cell_of_parquet_is_named_by_its_row_on_every_engine(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "n": pa.array([*range(130_000), None, 7]),
        "s": pa.array([*["1"] * 125_000, "x", *["2"] * 5_000, "y"]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=30_000)
    for name, kind, row in (("n", "date", 1), ("s", "number", 125_001)):
        kinds: dict[str, Any] = {name: kind}
        with pytest.raises(BadInput, match=f"first in row {row}") as memory:
            read_table(tmp_path / "t.parquet", kinds=kinds)
        spill = tmp_path / name
        spill.mkdir()
        table = SqlTable(tmp_path / "t.parquet", spill, 2 << 30)
        with closing(table), pytest.raises(InputChanged) as database:
            table.read(DataOptions(), kinds, ("n", "s"), ())
        assert str(database.value) == str(memory.value)


@often(120, share=8)
@given(table=tables(), windows=st.booleans())
def test_all_readers_find_the_same_kinds_and_values(
    table: tuple[tuple[str, str], list[list[str]]], windows: bool
) -> None:
    agree(*table, "\r\n" if windows else "\n")


def moment(half_hours: int) -> datetime.datetime:
    return datetime.datetime(2024, 3, 30) + datetime.timedelta(minutes=30 * half_hours)


#: Columns of Parquet files, which no text was written of before.
TYPED: dict[str, pa.Array[Any]] = {
    "int64": pa.array([2**53 + n % 5 for n in range(11)] + [None]),
    "large int64": pa.array([2**63 - 1 - n % 3 * 5000 for n in range(12)]),
    "uint64": pa.array([2**64 - 1 - n % 3 * 5000 for n in range(12)], pa.uint64()),
    "small": pa.array([n % 4 - 2 for n in range(12)], pa.int8()),
    "doubles": pa.array([1e308, -1e308, 0.1, -0.0, 0.0, float("nan")] * 2),
    "beyond": pa.array([1e308, float("inf"), 1.0, 2.5] * 3),
    "tiny": pa.array([5e-324, 1e-300, 1.0, 2.5] * 3),
    "singles": pa.array([0.1, 1e30, 2.5, None] * 3, pa.float32()),
    "decimals": pa.array([Decimal(n % 5) / 4 for n in range(12)], pa.decimal128(20, 3)),
    "long decimals": pa.array([Decimal(10**20 + n % 5) for n in range(12)], pa.decimal128(38, 0)),
    "flags": pa.array([True, False, None] * 4),
    "days": pa.array([datetime.date(2024, 2, 1 + n % 5) for n in range(12)]),
    "times": pa.array([moment(n) for n in range(12)], pa.timestamp("us")),
    "thousandths": pa.array([moment(n) for n in range(12)], pa.timestamp("ms")),
    "billionths": pa.array([10**18 + n % 4 * 1001 for n in range(12)], pa.timestamp("ns")),
    "midnights": pa.array([moment(48 * n) for n in range(12)], pa.timestamp("us")),
    "with one midnight": pa.array([moment(24 + n % 3) for n in range(12)], pa.timestamp("s")),
    "in UTC": pa.array([moment(n) for n in range(12)], pa.timestamp("us", tz="UTC")),
    "in a zone": pa.array([moment(n) for n in range(12)], pa.timestamp("us", tz="Europe/Berlin")),
    "midnights of a zone": pa.array(
        [moment(48 * n - 2) for n in range(12)], pa.timestamp("us", tz="Europe/Berlin")
    ),
    "clocks": pa.array([datetime.time(7, n) for n in range(12)]),
    "texts": pa.array(["\x00", "a\x00b", "", None, "\ufeff1", "1"] * 2),
    "a dictionary with more": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 1] * 3, pa.int8()), pa.array(["1", "2", "3", "none has it"])
    ),
}


@crossed("kinds, names", in_twos(list(TYPED)), [("a", "b"), ("Age", "age")], share=2, ids=ascii)
def test_typed_columns_are_read_alike(
    kinds: tuple[str, ...], names: tuple[str, str], tmp_path: Path
) -> None:
    typed = [*(TYPED[kind] for kind in kinds), pa.array(["F", "M"] * 6)][:2]
    columns: list[Any] = [*typed, pa.array(ILLS * 3)]
    data = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns, names=[*names, "ill"]), data)
    assert Desk(tmp_path, data, names).agree()
