"""Views of one table, against every table that fits them; rows that a pseudonym joins."""

from __future__ import annotations

import datetime
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base.context import Context
from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.construction import from_rows
from anon_core.data.hierarchy.propose.dates_and_times import calendar, weeks
from anon_core.data.table import Dataset
from anon_core.methods.consistent_tables.program import solutions
from anon_core.methods.consistent_tables.views import (
    Projection,
    candidates,
    fitting,
    joined,
    joined_by,
)


def view(columns: str, rows: list[tuple[str, ...]]) -> Projection:
    return Projection(name=columns, columns=tuple(columns.split()), rows=Counter(rows))


def projected(table: list[tuple[str, ...]], columns: str, onto: str) -> Projection:
    places = [columns.split().index(c) for c in onto.split()]
    return view(onto, [tuple(row[p] for p in places) for row in table])


def worlds(views: list[Projection], columns: str) -> int:
    rows = joined(views, columns.split())
    program = fitting(views, columns.split(), rows)
    found = solutions([program], range(len(program)), 1000, Context())
    assert found.complete
    return len(found.found)


JOBS = view("name job", [("George", "Manager"), ("John", "Manager"), ("Bill", "Lawyer")])
ILLS = view("job problem", [("Manager", "Cold"), ("Manager", "Obesity"), ("Lawyer", "HIV")])


def test_l62_a_column_that_two_views_share_is_the_group() -> None:
    found = candidates([JOBS, ILLS], "name", "problem", Context())
    assert found.possible == {
        "George": {"Cold", "Obesity"},
        "John": {"Cold", "Obesity"},
        "Bill": {"HIV"},
    }
    assert (found.least, found.most, found.one_table) == (1, 1, False)
    assert worlds([JOBS, ILLS], "name job problem") == 2


CYCLE = [("0", "0", "0"), ("0", "0", "1"), ("0", "1", "0"), ("1", "0", "0")]


@pytest.mark.parametrize(
    ("shown", "tables"),
    [(("A B", "B C"), 2), (("A B", "A C"), 2), (("B C", "A C"), 2), (("A B", "B C", "A C"), 1)],
)
def test_l63_three_views_in_a_cycle_leave_one_table_where_any_two_leave_two(
    shown: tuple[str, ...], tables: int
) -> None:
    views = [projected(CYCLE, "A B C", onto) for onto in shown]
    assert worlds(views, "A B C") == tables
    assert candidates(views, "A", "C", Context()).one_table is (tables == 1)
    every = itertools.combinations_with_replacement(itertools.product("01", repeat=3), 4)
    fits = [t for t in every if all(projected([*t], "A B C", v.name).rows == v.rows for v in views)]
    assert len(fits) == tables


@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_those_of_every_table_that_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = [*itertools.combinations_with_replacement(itertools.product("01", repeat=3), 5)]
    fewer = 0
    for _ in range(6):
        table = [tuple(map(str, rng.integers(0, 2, 3).tolist())) for _ in range(5)]
        views = [projected(table, "A B C", onto) for onto in ("A B", "B C", "A C")]
        sizes: list[int] = []
        for own in (views[:2], views):
            possible: dict[str, set[str]] = {a: set() for a, *_ in table}
            for one in every:
                if all(projected([*one], "A B C", v.name).rows == v.rows for v in own):
                    for a, _, c in one:
                        possible[a].add(c)
            found = candidates(own, "A", "C", Context())
            assert found.possible == possible
            assert not any(found.open.values())
            sizes.append(sum(map(len, possible.values())))
        fewer += sizes[1] < sizes[0]
    assert fewer


def test_l64_tables_with_one_pseudonym_are_checked_on_the_joined_row() -> None:
    ages = view("u age", [("u1", "<40"), ("u2", "<40"), ("u3", ">=40"), ("u4", ">=40")])
    sides = view("u side", [("u1", "N"), ("u2", "S"), ("u3", "N"), ("u4", "S")])
    found = joined_by([ages, sides], "u")
    assert (found.by_row, found.all_rows) == ({"u age": 2, "u side": 2}, 1)


def test_l65_rows_of_one_pseudonym_intersect() -> None:
    rows = [("p1", "Mon", "A"), ("p2", "Mon", "A"), ("p1", "Tue", "B"), ("p3", "Tue", "B")]
    found = joined_by([view("u day area", rows)], "u")
    assert (found.by_row, found.all_rows) == ({"u day area": 2}, 1)


def test_l66_weeks_do_not_nest_in_months() -> None:
    first = datetime.date(2026, 1, 26)
    days = [str(first + datetime.timedelta(n)) for n in range(70)]
    assert sorted({day[:7] for day in days[:7]}) == ["2026-01", "2026-02"]
    seen = Dataset.from_frame(pd.DataFrame({"seen": days})).with_kinds({"seen": "date"})
    column = seen.column("seen")
    by_week, by_month = weeks(column), calendar(column)
    assert {row[1] for row in by_week[:7]} == {"2026-W05"}
    assert {row[1] for row in by_month[:7]} == {"2026-01", "2026-02"}
    for rows in (by_week, by_month):
        assert from_rows(column, [(*row[:2], "*") for row in rows]).height == 2
    both = [(*week[:2], month[1], "*") for week, month in zip(by_week, by_month, strict=True)]
    with pytest.raises(BadHierarchy, match="nest"):
        from_rows(column, both)


def written(folder: Path, views: list[Projection]) -> list[str]:
    paths: list[str] = []
    for number, one in enumerate(views):
        lines = [one.columns, *one.rows.elements()]
        path = folder / f"{number}.csv"
        path.write_text("".join(",".join(line) + "\n" for line in lines))
        paths.append(str(path))
    return paths


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["views", *written(tmp_path, [JOBS, ILLS])]
    assert main([*given, "--person", "name", "--about", "problem", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["k"] == {"least": 1, "most": 1}
    assert printed["persons_by_values"] == {"1": 1, "2": 2}
    assert "Bill" not in str(printed)
    assert main([*given, "--person", "name", "--about", "problem", "--show-values"]) == 0
    assert "Bill: HIV" in capsys.readouterr().out
    cycle = [projected(CYCLE, "A B C", onto) for onto in ("A B", "B C", "A C")]
    assert main(["views", *written(tmp_path, cycle), "--person", "A", "--about", "C"]) == 0
    assert "Only one table fits all 3 views" in capsys.readouterr().out
    ages = [view("u age", [("u1", "a"), ("u2", "a")]), view("u b", [("u1", "N"), ("u2", "S")])]
    assert main(["views", *written(tmp_path, ages), "--joined-by", "u"]) == 0
    assert "all rows of one pseudonym: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("views", "more", "why"),
    [
        ([JOBS, ILLS], ["--person", "who", "--about", "problem"], "No view has a column 'who'"),
        ([JOBS, ILLS], ["--person", "name"], "--about"),
        ([JOBS], ["--joined-by", "u"], "needs a column 'u'"),
        (
            [JOBS, view("job", [("Manager",)])],
            ["--person", "name", "--about", "job"],
            "as many rows",
        ),
        (
            [JOBS, view("job ill", [("Cook", "Cold")] * 3)],
            ["--person", "name", "--about", "ill"],
            "No table fits",
        ),
    ],
)
def test_bad_views_are_refused(
    views: list[Projection],
    more: list[str],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["views", *written(tmp_path, views), *more]) == 1
    assert why in capsys.readouterr().err
