"""Sets of columns that identify: the examples checked by hand, and every pair of small tables."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.__main__ import main
from anon_core.base.context import Context, now
from anon_core.data.identifying_sets import MOST_COLUMNS, identifying_sets
from anon_core.data.table import Dataset
from tests.golden.test_preferences import CASE
from tests.often import often

#: PE-40: distinction, separation and rows that are alone.
SETS: dict[str, tuple[Fraction, Fraction, int]] = {
    "sex": (Fraction(1, 6), Fraction(35, 66), 0),
    "age": (Fraction(5, 12), Fraction(28, 33), 1),
    "zip": (Fraction(1, 4), Fraction(47, 66), 0),
    "sex,age": (Fraction(3, 4), Fraction(21, 22), 6),
    "sex,zip": (Fraction(1, 2), Fraction(29, 33), 2),
    "age,zip": (Fraction(7, 12), Fraction(59, 66), 4),
    "sex,age,zip": (Fraction(3, 4), Fraction(21, 22), 6),
}


@pytest.mark.parametrize("names", SETS)
def test_pe_40_distinction_and_separation(names: str) -> None:
    columns = names.split(",")
    # Of these columns alone, so that the whole set is the only one that tells so much apart.
    found = identifying_sets(CASE.dataset, columns, separates=float(SETS[names][1]) - 1e-9)
    one = next((s for s in found.sets if s.columns == tuple(columns)), None)
    if names == "sex,age,zip":  # a part of it tells apart as much
        assert one is None
        return
    assert one is not None
    distinction, separation, alone = SETS[names]
    assert one.distinction == pytest.approx(float(distinction))
    assert one.separation == pytest.approx(float(separation))
    assert one.uniques == alone


def test_pe_41_the_smallest_set_and_what_adds_nothing_to_it() -> None:
    (one,) = identifying_sets(CASE.dataset).sets
    assert one.columns == ("sex", "age")
    assert one.adds_nothing == ("zip",)


def test_pe_42_one_row_and_two_equal_rows() -> None:
    def of(rows: int) -> object:
        table = Dataset.from_frame(pd.DataFrame({"a": ["x"] * rows}))
        return [(s.distinction, s.separation) for s in identifying_sets(table, separates=0).sets]

    assert of(1) == []  # no pair, so nothing is distinguished
    assert of(2) == [(0.5, 0.0)]


tables = st.integers(1, 4).flatmap(
    lambda wide: st.lists(
        st.tuples(*[st.sampled_from(("a", "b", "c", None))] * wide, st.sampled_from("pqrs")),
        min_size=1,
        max_size=8,
    )
)


@often(400)
@given(rows=tables, people=st.booleans(), separates=st.sampled_from((0.3, 0.6, 0.9, 1.0)))
def test_sets_are_those_of_every_pair(
    rows: list[tuple[str | None, ...]], people: bool, separates: float
) -> None:
    wide = len(rows[0]) - 1
    names = [f"c{d}" for d in range(wide)]
    frame = pd.DataFrame(rows, columns=[*names, "person"], dtype=object)
    table = Dataset.from_frame(frame, kinds=dict.fromkeys([*names, "person"], "text"))
    found = identifying_sets(table, names, person="person" if people else "", separates=separates)
    good: dict[frozenset[str], tuple[Fraction, int]] = {}
    for size in range(1, wide + 1):
        for chosen in combinations(range(wide), size):
            shown = [(tuple(row[d] for d in chosen), row[-1]) for row in rows]
            entries = sorted(set(shown), key=repr) if people else shown
            pairs = [
                (one, other)
                for one, other in combinations(entries, 2)
                if not people or one[1] != other[1]
            ]
            apart = sum(one[0] != other[0] for one, other in pairs)
            if not pairs or apart < separates * len(pairs) - 1e-12:
                continue
            own = [e[0] for e in entries]
            lonely = [e for e in entries if own.count(e[0]) == 1]
            alone = len({e[1] for e in lonely}) if people else len(lonely)
            good[frozenset(names[d] for d in chosen)] = Fraction(apart, len(pairs)), alone
    least = {s for s in good if not any(other < s for other in good)}
    assert {frozenset(one.columns) for one in found.sets} == least
    for one in found.sets:
        separation, alone = good[frozenset(one.columns)]
        assert one.separation == pytest.approx(float(separation))
        assert one.uniques == alone
    assert found.size == min(wide, MOST_COLUMNS)


def test_time_that_ends_says_how_far_was_looked() -> None:
    found = identifying_sets(CASE.dataset, context=Context(deadline=now() - 1))
    assert (found.sets, found.looked, found.size) == ((), 0, 0)


def test_the_command_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    CASE.frame.to_csv(path, index=False)
    assert main(["identifiers", "--data", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["counted"] == "rows"
    assert printed["sets"] == [
        {
            "columns": ["sex", "age"],
            "distinction": 0.75,
            "separation": pytest.approx(21 / 22),
            "uniques": 6,
            "adds_nothing": ["zip"],
        }
    ]
    assert main(["identifiers", "--data", str(path)]) == 0
    said = capsys.readouterr().out
    assert "sex, age: distinguishes 95.5% of all pairs of rows; 6 of 12 rows are unique" in said
    assert "sex: " not in said
    assert main(["identifiers", "--data", str(path), "--roles", "--json"]) == 0
    roles = json.loads(capsys.readouterr().out)["suggested_roles"]
    assert {one["name"]: one["role"] for one in roles}["sex"] == "quasi"
    assert main(["identifiers", "--data", str(path), "--roles"]) == 0
    assert "sex: quasi. " in capsys.readouterr().out
    assert main(["identifiers", "--data", str(path), "--person", "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err
