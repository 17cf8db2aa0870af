"""Tables that are safe alone and tell more together."""

from __future__ import annotations

from anon_core.tables.audit import intervals
from anon_core.tables.differencing import atoms, differences, linked
from anon_core.tables.sensitivity import Contributions, Threshold
from anon_core.tables.system import Bounds

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
