"""Tables from rows: margins, respondents, holdings, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from anon_core.base.errors import BadHierarchy, BadInput, BadPlan
from anon_core.tables.axis import Axis
from anon_core.tables.sensitivity import PPercent, Threshold, ZeroCells, sensitive_cells
from anon_core.tables.system import Bounds, refuse_levels
from anon_core.tables.table import Layout, Table, build, relations_of
from tests.tabulated import CHILDREN, dataset_of


def by_name(table: Table) -> dict[str, Fraction]:
    return {n: table.number(v) for n, v in zip(table.names, table.values, strict=True)}


def test_counts_with_margins_and_threshold() -> None:  # TB-01
    table = build(dataset_of(CHILDREN), Layout(columns=("education", "race")))
    totals = {
        "high|Total": 3, "low|Total": 15, "medium|Total": 1, "very high|Total": 1,
        "Total|black": 9, "Total|white": 11, "Total|Total": 20,
    }  # fmt: skip
    found = by_name(table)
    assert {name: found[name] for name in totals} == totals
    sensitive = sensitive_cells(table.contributions, [Threshold(n=3)])
    assert {table.names[cell] for cell in sensitive} == {
        "high|black", "high|white", "medium|Total", "medium|white", "very high|Total",
        "very high|black",
    }  # fmt: skip


def test_magnitudes_are_exact() -> None:  # TB-05
    rows = {"sex": list("MMMMFFF"), "area": list("abcdabd")}
    amounts = ["2", "8.5", "23.5", "3", "3", "30.5", "5"]
    table = build(dataset_of({**rows, "x": amounts}), Layout(columns=("sex", "area"), value="x"))
    found = by_name(table)
    assert [found[f"{s}|Total"] for s in "MF"] == [37, Fraction(77, 2)]
    assert [found[f"Total|{a}"] for a in "abcd"] == [5, 39, Fraction(47, 2), 8]
    assert found["Total|Total"] == Fraction(151, 2)
    assert table.text(table.values[table.names.index("Total|Total")]) == "75.5"


def test_a_total_of_one_part_is_that_part() -> None:  # TB-06
    tree = {"T": ["A", "B"], "A": ["A1", "A2"], "B": ["B1"]}
    axis = Axis.from_tree("c", tree)
    relations = relations_of([axis])
    text = {
        f"{axis.labels[r.parent]}={'+'.join(axis.labels[c] for c in r.children)}" for r in relations
    }
    assert text == {"T=A+B", "A=A1+A2", "B=B1"}
    from anon_core.tables.system import System

    values = {"T": 11, "A": 5, "A1": 4, "A2": 1, "B": 6, "B1": 6}
    system = System.of(values, sorted(text))
    assert system.same[system.place["B1"]] == system.place["B"]
    assert system.closed(system.cells(["B1"])) == system.cells(["B", "B1"])


def test_cells_and_relations_of_two_trees() -> None:  # TB-07
    trees = [
        Axis.from_tree("a", {"T": ["A", "B"], "A": ["A1", "A2", "A3"]}),
        Axis.from_tree("b", {"T": ["x", "y"]}),
    ]
    relations = relations_of(trees)
    assert [len(axis.labels) for axis in trees] == [6, 3]
    assert len(relations) == 12
    assert len([r for r in relations if r.children[0] - r.parent >= 3]) == 6


def test_rules_are_on_holdings_where_there_are_some() -> None:  # TB-20
    rows = {"u": ["u1", "u2", "u3", "u4"], "h": ["h1", "h1", "h2", "h3"], "x": [40, 35, 15, 10]}
    data = dataset_of({**rows, "place": ["p"] * 4})
    units = build(data, Layout(columns=("place",), value="x", respondent="u"))
    held = build(data, Layout(columns=("place",), value="x", respondent="u", holding="h"))
    rule = PPercent(p=20)
    assert [rule.excess(t.contributions[0]) for t in (units, held)] == [-17, 5]
    assert [t.contributions[0].respondents for t in (units, held)] == [4, 3]


def test_a_hierarchy_gives_subtotals_and_an_only_child_appears_once() -> None:
    levels = [["n1", "north", "*"], ["n2", "north", "*"], ["south", "south", "*"]]
    data = dataset_of({"place": ["n1", "n1", "n2", "south"], "sex": list("mfmf")})
    table = build(data, Layout(columns=("place", "sex")), {"place": levels})
    assert table.axes[0].labels == ("Total", "north", "n1", "n2", "south")
    found = by_name(table)
    assert (found["north|Total"], found["north|m"], found["south|Total"]) == (3, 2, 1)
    coarse = build(data, Layout(columns=("place",), levels={"place": (1,)}), {"place": levels})
    assert by_name(coarse) == {"Total": 4, "north": 3, "south": 1}


def test_a_missing_category_is_one_of_its_own() -> None:
    data = dataset_of({"place": ["a", "", "a"], "sex": list("mfm")})
    assert by_name(build(data, Layout(columns=("place",)))) == {
        "Total": 3,
        "a": 2,
        "(missing)": 1,
    }


def test_weights() -> None:
    data = dataset_of({"p": list("aab"), "x": [1, 2, 3], "w": ["1.5", "2", "1"]})
    table = build(data, Layout(columns=("p",), value="x", weight="w"))
    assert by_name(table) == {"Total": Fraction(17, 2), "a": Fraction(11, 2), "b": 3}
    counted = build(data, Layout(columns=("p",), weight="w"))
    assert by_name(counted) == {"Total": Fraction(9, 2), "a": Fraction(7, 2), "b": 1}
    assert [c.respondents for c in counted.contributions] == [3, 2, 1]


Columns = Mapping[str, Sequence[object]]
ROWS: Columns = {"p": list("aab"), "x": [1, -3, 3], "w": [1, -1, 1], "r": ["u", "u", "v"]}


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"value": "x"}, "'x' is negative in row 2; allowed are numbers from 0 up"),
        ({"weight": "w"}, "The weight 'w' is negative in row 2; allowed are numbers from 0 up"),
        ({"value": "p"}, "'p' has a value that is not a number in row 1;"),
        ({"respondent": "r", "holding": "x"}, "1 respondent of 'r' is in two holdings of 'x'"),
        ({"holding": "r"}, "names a holding and no respondent"),
    ],
)
def test_refused_rows(layout: dict[str, str], message: str) -> None:  # TB-91
    with pytest.raises((BadInput, BadPlan), match=message):
        build(dataset_of(ROWS), Layout(columns=("p",), **layout))  # type: ignore[arg-type]


def test_refused_layouts() -> None:  # TB-91
    with pytest.raises(BadPlan, match="5 columns; allowed are 1 to 4"):
        Layout(columns=tuple("abcde"))
    with pytest.raises(BadHierarchy, match="'x' is under two parents"):
        Axis.from_tree("c", {"T": ["A", "B"], "A": ["x"], "B": ["x", "y"]})
    many = {name: [f"v{n}" for n in range(60)] for name in "abcd"}
    with pytest.raises(BadPlan, match=r"61 × 61 × 61 × 61 = 13,845,841 cells; allowed are"):
        build(dataset_of(many), Layout(columns=tuple("abcd")))


def test_negatives_are_summed_before_their_size_is_taken() -> None:  # TB-22
    rows = {"p": list("aaaa"), "u": ["u1", "u1", "u2", "u3"], "x": [50, -48, 3, -1]}
    table = build(
        dataset_of(rows),
        Layout(columns=("p",), value="x", respondent="u", negatives="absolute"),
    )
    cell = table.contributions[0]
    assert (table.values[0], cell.total) == (4, 6)
    assert PPercent(p=40).excess(cell) == Fraction(1, 5)


def test_cells_are_told_apart_where_labels_have_the_sign_between_them() -> None:
    table = build(dataset_of({"a": ["p|x", "p/x"], "b": ["y", "y"]}), Layout(columns=("a", "b")))
    assert len(set(table.names)) == len(table.names)
    assert len(table.system.place) == len(table.values)


@pytest.mark.parametrize("zeros", [[0, 0, 0], [0, 0, 7]])
def test_a_sensitive_cell_of_0_contradicts_that_zeros_are_printed(zeros: list[int]) -> None:
    table = build(dataset_of({"a": ["p", "p", "q"], "x": zeros}), Layout(columns=("a",), value="x"))
    found = sensitive_cells(table.contributions, [ZeroCells()])
    needs = {cell: one.level for cell, one in found.items()}
    with pytest.raises(BadPlan, match="is 0 and sensitive, and a reader is taken to know"):
        refuse_levels(table.system, needs, Bounds.of(table.system, lower=1))
    refuse_levels(table.system, needs, Bounds.of(table.system, lower=0))


def test_the_only_respondent_who_contributes_0_is_one() -> None:
    table = build(dataset_of({"a": ["p"], "x": [0]}), Layout(columns=("a",), value="x"))
    reasons = {one.reason for one in sensitive_cells(table.contributions, [ZeroCells()]).values()}
    assert reasons == {"its only respondent contributes 0"}
