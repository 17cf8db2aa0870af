"""Tables that are safe alone and tell more together."""

from __future__ import annotations

import re

import pytest

from anon_core.base.errors import BadPlan
from anon_core.tables.audit import intervals
from anon_core.tables.contributions import Contributions
from anon_core.tables.differencing import Earlier, Together, atoms, differences, linked
from anon_core.tables.publication import files_of, protect
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.sensitivity import Threshold
from anon_core.tables.suppressed import Judged, judge
from anon_core.tables.system import Bounds
from tests.tabulated import dataset_of

AGES = {"<20": ["a"], "<25": ["a", "b"], "25-39": ["c"], "20-39": ["b", "c"]}


def test_atoms_of_overlapping_age_groups() -> None:  # TB-78
    assert atoms(AGES) == {
        frozenset({"<20", "<25"}): ["a"],
        frozenset({"<25", "20-39"}): ["b"],
        frozenset({"25-39", "20-39"}): ["c"],
    }
    system, hidden = linked(AGES)
    found = intervals(system, hidden, Bounds.of(system))
    assert {(one.low, one.high) for one in found.values()} == {(1, 1)}


def test_two_groupings_of_age() -> None:  # TB-77
    def rows(counts: dict[str, int]) -> dict[str, list[str]]:
        every = [f"{age}:{n}" for age, many in counts.items() for n in range(many)]

        def of(*ages: str) -> list[str]:
            return [row for row in every if row.partition(":")[0] in ages]

        return {
            "<20": of("<20"), "20-39": of("20-24", "25-39"), "<25": of("<20", "20-24"),
            "25-39": of("25-39"),
        }  # fmt: skip

    male = rows({"<20": 6, "20-24": 1, "25-39": 8})
    assert [len(r) for r in male.values()] == [6, 9, 7, 8]
    one = {name: male[name] for name in ("<20", "20-39")}
    other = {name: male[name] for name in ("<25", "25-39")}
    found = {(d.larger, d.smaller): d.value for d in differences(one, other)}
    assert found == {("20-39", "25-39"): 1, ("<25", "<20"): 1}
    female = rows({"<20": 10, "25-39": 38})
    system, hidden = linked(female)
    assert all(one.low == one.high for one in intervals(system, hidden, Bounds.of(system)).values())


def test_an_area_within_another() -> None:  # TB-75
    larger = [[52, 55], [130, 140], [39, 49]]
    smaller = [[50, 54], [128, 140], [39, 49]]
    inside = {f"{r}|{c}": range(n) for r, row in enumerate(smaller) for c, n in enumerate(row)}
    whole = {f"{r}|{c}": range(n) for r, row in enumerate(larger) for c, n in enumerate(row)}
    found = [
        [
            sum(
                d.value
                for d in differences({"larger": whole[f"{r}|{c}"]}, {"smaller": inside[f"{r}|{c}"]})
            )
            for c in range(2)
        ]
        for r in range(3)
    ]
    assert found == [[2, 1], [2, 0], [0, 0]]
    rule = Threshold(n=3)
    flags = [[rule.sensitive(Contributions.of([1] * int(n))) for n in row] for row in found]
    assert flags == [[True, True], [True, False], [False, False]]


def test_living_and_working() -> None:  # TB-76
    people = {"both": 22, "living": 63, "working": 27}
    males = {"both": 21, "living": 58, "working": 23}
    every = {kind: {f"{kind}:{n}" for n in range(many)} for kind, many in people.items()}
    living, working = every["both"] | every["living"], every["both"] | every["working"]
    assert (len(living), len(working)) == (85, 49)
    found = differences({"living": living, "working": working}, {"both": every["both"]})
    assert [d.value for d in found] == [63, 27]
    printed = {kind: {f"{kind}:{n}" for n in range(many)} for kind, many in males.items()}
    women = [
        d.value for kind in people for d in differences({kind: every[kind]}, {kind: printed[kind]})
    ]
    assert women == [1, 5, 4]


#: A quarter within a town, so that one table's cells are the other's less a few people.
PEOPLE = {
    "area": ["inside"] * 20 + ["inside"] * 15 + ["edge"] * 1 + ["edge"] * 6 + ["out"] * 18,
    "large": ["a"] * 35 + ["a"] * 7 + ["b"] * 18,
    "small": ["a"] * 35 + ["b"] * 7 + ["b"] * 18,
    "sex": ["f"] * 20 + ["m"] * 15 + ["f"] * 1 + ["m"] * 6 + ["f"] * 9 + ["m"] * 9,
}


def of(column: str, method: str = "optimal") -> Judged:
    recipe = TableRecipe.from_toml(
        f'[table]\ncolumns = ["{column}", "sex"]\n[[rules]]\nname = "threshold"\nn = 3\n'
        f'[protect]\nmethod = "{method}"\n[reader]\nsingle_respondents = false\n'
    )
    return judge(dataset_of(PEOPLE), recipe, {})


def test_tables_that_are_safe_alone_are_protected_together() -> None:
    old = protect(of("large"))
    csv_file = files_of(old)["table.csv"]
    assert not old.suppressed  # no cell has fewer than 3
    assert not protect(of("small")).suppressed
    earlier = Earlier.read(of("large"), csv_file)
    both = Together(earlier, of("small"))
    rests = [one for one in both.rests(frozenset()) if one.reason]
    assert {str(one) for one in rests} == {
        "earlier: a|f less a|f leaves 1: 1 respondent, fewer than 3",
        "b|f less earlier: b|f leaves 1: 1 respondent, fewer than 3",
    }
    # Anyone who subtracts is shown of one woman: she is a cell like any other, and hidden.
    new = both.protected()
    names = new.table.names
    assert {names[c] for c in new.suppressed} == {"a|f", "b|f", "a|m", "b|m"}
    assert not [one for one in both.rests(new.suppressed) if one.reason]


@pytest.mark.parametrize(
    ("column", "exposed", "hidden"),
    [
        ("small", set[str](), set[str]()),
        # Printed, a less inside leaves the one woman of the edge.
        ("large", {"earlier: edge|f"}, {"a|f", "a|m", "b|f", "b|m"}),
    ],
)
def test_what_one_table_suppresses_the_other_does_not_give_away(
    column: str, exposed: set[str], hidden: set[str]
) -> None:
    old = protect(of("area"))
    assert {old.table.names[c] for c in old.suppressed} == {"edge|f", "edge|m", "out|f", "out|m"}
    assert not protect(of(column)).suppressed
    both = Together(Earlier.read(of("area"), files_of(old)["table.csv"]), of(column))
    assert {both.names[one.cell] for one in both.audited(frozenset()).exposed} == exposed
    new = both.protected()
    assert {new.table.names[c] for c in new.suppressed} == hidden
    assert both.audited(new.suppressed).safe


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (b"a,f,22\n", "does not print 'a|f' as these rows"),
        (b"a,f,21\nc,f,9\n", "has 1 cells that its recipe does not make"),
    ],
)
def test_an_earlier_table_of_other_rows_is_refused(printed: bytes, message: str) -> None:
    content = files_of(protect(of("large")))["table.csv"]
    assert b"a,f,21\n" in content
    with pytest.raises(BadPlan, match=re.escape(message)):
        Earlier.read(of("large"), content.replace(b"a,f,21\n", printed))


def test_an_earlier_table_with_rounded_numbers_is_refused() -> None:
    judged = of("large", "random-rounding")
    with pytest.raises(BadPlan, match="protected by 'random-rounding'"):
        Earlier.read(judged, files_of(protect(judged))["table.csv"])
