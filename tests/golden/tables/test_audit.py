"""What a reader tells of suppressed cells: intervals of the literature, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.errors import BadInput, BadPlan
from anon_core.tables import audit as audits
from anon_core.tables import suppressed
from anon_core.tables.audit import Everyone, Insider, audit, insiders_of, intervals, judged
from anon_core.tables.contributions import Contributions
from anon_core.tables.publication import protect
from anon_core.tables.reader import Reader
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.sensitivity import PPercent
from anon_core.tables.suppressed import Judged, judge
from anon_core.tables.system import Bounds, Level, System, capped, refuse_levels, union
from tests.tabulated import dataset_of, grid

CHILDREN = grid(
    ["high", "low", "medium", "very high"], ["black", "white"], [[1, 2], [7, 8], [0, 1], [1, 0]]
)
SMALL = [
    "high|black", "high|white", "medium|T", "medium|white", "very high|T", "very high|black",
]  # fmt: skip
INVESTMENT = grid(["I", "II", "III"], ["A", "B", "C"], [[20, 50, 10], [8, 19, 22], [17, 32, 12]])
SQUARE = ["II|A", "II|C", "III|A", "III|C"]


def proven(
    system: System, names: list[str], bounds: Bounds | None = None, *, whole: bool = False
) -> dict[str, tuple[object, object]]:
    """Return the intervals of cells by name, after both ends are proven and witnessed."""
    limits = bounds or Bounds.of(system)
    hidden = system.cells(names)
    found = intervals(system, hidden, limits, cells=hidden, whole=whole)
    for one in found.values():
        assert one.exact
        for witness, end in ((one.least, one.low), (one.greatest, one.high)):
            for relation in system.relations:
                values = {**dict(enumerate(system.values)), **witness}
                assert values[relation.parent] == sum(values[c] for c in relation.children)
            assert end is None or witness[one.cell] == end
    return {system.names[cell]: (one.low, one.high) for cell, one in found.items()}


def line(total: int, *parts: int) -> System:
    values = {"T": total, **{f"c{at}": part for at, part in enumerate(parts)}}
    return System.of(values, ["T=" + "+".join(list(values)[1:])])


def test_printed_zeros_tell_every_small_count() -> None:  # TB-03
    assert proven(CHILDREN, SMALL) == {
        "high|black": (0, 2), "high|white": (1, 3), "medium|T": (0, 2), "medium|white": (0, 2),
        "very high|T": (0, 2), "very high|black": (0, 2),
    }  # fmt: skip
    least = Bounds.of(CHILDREN, lower=1)
    true = {name: CHILDREN.values[CHILDREN.place[name]] for name in SMALL}
    assert proven(CHILDREN, SMALL, least) == {name: (v, v) for name, v in true.items()}


def test_what_is_known_beforehand_decides_one_row() -> None:  # TB-04
    row = line(52, 2, 4, 18, 20, 7, 1)
    assert proven(row, ["c0", "c5"]) == {"c0": (0, 3), "c5": (0, 3)}
    for bounds in (Bounds.of(row, lower=1), Bounds.of(row, lower=1, upper=2)):
        assert proven(row, ["c0", "c5"], bounds) == {"c0": (1, 2), "c5": (1, 2)}


def test_geurts() -> None:  # TB-30
    table = grid(["1", "2", "3"], ["1", "2"], [[4, 3], [2, 1], [3, 3]])
    assert proven(table, ["1|1", "1|2", "2|1", "2|2"]) == {
        "1|1": (3, 6), "1|2": (1, 4), "2|1": (0, 3), "2|2": (0, 3),
    }  # fmt: skip


def test_fischetti_salazar() -> None:  # TB-31
    assert proven(INVESTMENT, SQUARE) == {
        "II|A": (0, 25), "II|C": (5, 30), "III|A": (0, 25), "III|C": (4, 29),
    }  # fmt: skip


def test_two_in_every_line_are_no_audit() -> None:  # TB-33
    table = grid(
        list("wxyz"),
        list("abcd"),
        [[30, 47, 64, 89], [90, 124, 5, 31], [92, 100, 59, 85], [800, 991, 651, 685]],
    )
    names = ["w|a", "w|b", "w|c", "x|a", "x|c", "y|b", "y|d", "z|b", "z|d"]
    assert proven(table, names)["w|b"] == (47, 47)
    more = {
        "w|d": (0, 136), "x|b": (0, 141), "x|d": (0, 78), "y|a": (0, 141), "y|c": (0, 116),
        "z|a": (0, 141), "z|c": (0, 116), "w|T": (47, 47), "T|d": (47, 47), "T|T": (47, 47),
    }  # fmt: skip
    for name, expected in more.items():
        assert proven(table, [*names, name])["w|b"] == expected


def test_signs_and_least_values_tell_what_elimination_does_not() -> None:  # TB-34
    assert proven(line(0, 0, 0, 0), ["c0", "c1"]) == {"c0": (0, 0), "c1": (0, 0)}
    assert proven(line(15, 10, 5, 0, 0), ["c2", "c3"]) == {"c2": (0, 0), "c3": (0, 0)}
    two = line(15, 10, 3, 1, 1)
    assert proven(two, ["c2", "c3"]) == {"c2": (0, 2), "c3": (0, 2)}
    assert proven(two, ["c2", "c3"], Bounds.of(two, lower=1)) == {"c2": (1, 1), "c3": (1, 1)}


def test_single_respondents_of_a_row_know_each_other() -> None:  # TB-35
    table = grid(["r1", "r2"], ["c1", "c2", "c3"], [[5, 7, 20], [9, 11, 30]])
    names = ["r1|c1", "r1|c2", "r2|c1", "r2|c2"]
    assert proven(table, names) == {
        "r1|c1": (0, 12), "r1|c2": (0, 12), "r2|c1": (2, 14), "r2|c2": (6, 18),
    }  # fmt: skip
    outside = Bounds.of(table)
    first = outside.with_known({table.place["r1|c1"]: (5, 5)})
    second = outside.with_known({table.place["r1|c2"]: (7, 7)})
    assert proven(table, names, first)["r1|c2"] == (7, 7)
    assert proven(table, names, second)["r1|c1"] == (5, 5)
    needs = {table.place[name]: Level(sliding=1) for name in ("r1|c1", "r1|c2")}
    insiders = [
        Insider(name="u1", known={table.place["r1|c1"]: (5, 5)}),
        Insider(name="u2", known={table.place["r1|c2"]: (7, 7)}),
    ]
    hidden = table.cells(names)
    assert audit(table, hidden, needs, outside).safe
    exposed = audit(table, hidden, needs, outside, insiders=insiders).exposed
    assert [(one.reader, table.names[one.cell]) for one in exposed] == [
        ("u1", "r1|c2"),
        ("u2", "r1|c1"),
    ]


def test_three_singletons() -> None:  # TB-36
    table = grid(["1", "2"], list("ABHMW"), [[1, 1, 7, 1, 0], [1, 0, 0, 2, 8]])
    names = ["1|A", "1|B", "1|M", "2|A", "2|M", "T|A", "T|B"]
    assert proven(table, names) == dict.fromkeys(names, (0, 3))
    least = proven(table, names, Bounds.of(table, lower=1))
    true = {name: table.values[table.place[name]] for name in names}
    assert least == {name: (v, v) for name, v in true.items()}
    seen = {
        "1|B": {"T|A", "T|B"}, "1|M": {"2|A", "2|M"}, "2|A": {"1|M", "2|M"}, "T|B": {"1|B", "T|A"},
    }  # fmt: skip
    for mine, others in seen.items():
        known = Bounds.of(table).with_known({table.place[mine]: (1, 1)})
        found = proven(table, names, known)
        assert {name for name in others if found[name] == (true[name],) * 2} == others


def test_an_empty_cell_that_is_known_hides_nothing() -> None:  # TB-37
    row = line(13, 4, 0, 9)
    assert proven(row, ["c0", "c1"]) == {"c0": (0, 4), "c1": (0, 4)}
    known = Bounds.of(row, impossible=row.cells(["c1"]))
    assert proven(row, ["c0", "c1"], known) == {"c0": (4, 4), "c1": (0, 0)}


def counties() -> tuple[System, System]:
    values = {
        "A": 2, "B": 2, "I": 8, "J": 8, "K": 3, "L": 3, "M": 3, "N": 7, "county-1": 20,
        "county-2": 16, "BIG": 6, "small": 30, "T": 36,
    }  # fmt: skip
    return (
        System.of(values, ["county-1=A+B+I+J", "county-2=K+L+M+N", "T=county-1+county-2"]),
        System.of(values, ["BIG=L+M", "small=A+B+I+J+K+N", "T=BIG+small"]),
    )


def test_safe_one_by_one_and_unsafe_together() -> None:  # TB-38
    first, second = counties()
    names = list("ABKLM")
    assert proven(first, names) == {
        "A": (0, 4), "B": (0, 4), "K": (0, 9), "L": (0, 9), "M": (0, 9),
    }  # fmt: skip
    assert proven(second, names) == {
        "A": (0, 7), "B": (0, 7), "K": (0, 7), "L": (0, 6), "M": (0, 6),
    }  # fmt: skip
    both = union([first, second])
    assert proven(both, names) == {
        "A": (0, 4), "B": (0, 4), "K": (3, 3), "L": (0, 6), "M": (0, 6),
    }  # fmt: skip
    assert proven(both, [*names, "N"])["K"] == (0, 10)


ODD = System.of(
    {"x": 1, "y": 0, "z": 0, "s1": 0, "s2": 1, "s3": 0, "t": 1, "P": 1, "Q": 1, "R": 1, "T": 2},
    ["P=x+y+s1", "Q=y+z+s2", "R=x+z+s3", "T=x+y+z+t"],
)


def test_whole_numbers_tell_more_round_an_odd_cycle() -> None:  # TB-39
    names = ["x", "y", "z", "s1", "s2", "s3", "t"]
    assert proven(ODD, names)["t"] == (Fraction(1, 2), 2)
    assert proven(ODD, names, whole=True)["t"] == (1, 2)


def test_whole_numbers_tell_no_more_of_two_ways() -> None:  # TB-40
    table = grid(["1", "2", "3"], ["1", "2", "3"], [[1, 2, 0], [0, 3, 1], [2, 0, 1]])
    names = [f"{r}|{c}" for r in "123" for c in "123"]
    expected = dict(zip(names, [3, 3, 2, 3, 4, 2, 3, 3, 2], strict=True))
    for whole in (False, True):
        assert proven(table, names, whole=whole) == {n: (0, most) for n, most in expected.items()}


def test_flags_tell_more_than_one_symbol() -> None:  # TB-42
    row = line(42, 1, 2, 9, 30)
    names = ["c0", "c1", "c2"]
    assert proven(row, names) == dict.fromkeys(names, (0, 12))
    flagged = Bounds.of(row).with_known({row.place[n]: (1, 2) for n in ("c0", "c1")})
    assert proven(row, names, flagged) == {"c0": (1, 2), "c1": (1, 2), "c2": (8, 10)}


def test_everything_suppressed_has_no_upper_end() -> None:  # TB-43
    table = grid(["1", "2"], ["1", "2"], [[5, 6], [7, 8]])
    assert proven(table, list(table.names)) == dict.fromkeys(table.names, (0, None))


def test_levels_are_reached_not_passed() -> None:  # TB-44
    cell = INVESTMENT.place["II|C"]
    reader = Reader(INVESTMENT, INVESTMENT.cells(SQUARE), Bounds.of(INVESTMENT))
    found = [
        judged(reader, cell, level).answer
        for level in (
            Level(lower=17, upper=8),
            Level(lower=18, upper=8),
            Level(lower=17, upper=9),
            Level(sliding=25),
            Level(sliding=26),
        )
    ]
    assert found == ["safe", "unsafe", "unsafe", "safe", "unsafe"]
    with pytest.raises(BadPlan, match="allowed is at most 22"):
        refuse_levels(INVESTMENT, {cell: Level(lower=23)}, Bounds.of(INVESTMENT))


def test_a_level_above_the_value_is_refused_or_capped() -> None:  # TB-46
    row = line(9, 5, 4)
    bounds, cell = Bounds.of(row), row.place["c0"]
    refuse_levels(row, {cell: Level(lower=5)}, bounds)
    with pytest.raises(BadPlan, match=r"'c0' is to be protected by 6 downwards.*at most 5"):
        refuse_levels(row, {cell: Level(lower=6)}, bounds)
    assert capped(Level(lower=6, upper=2), 5, 0, None) == Level(lower=5, upper=2)


def test_two_cells_of_one_respondent_are_one() -> None:  # TB-41
    from anon_core.tables.audit import implied

    row = line(334, 98, 86, 150)
    members = [{}, {1: 90, 2: 5, 3: 3}, {1: 80, 4: 4, 5: 2}, {6: 50, 7: 50, 8: 50}]
    rule = PPercent(p=10)
    for cell, level in ((1, 6), (2, 6)):
        assert rule.excess(Contributions.of(members[cell].values())) == level
    hidden = row.cells(["c0", "c1"])
    assert proven(row, ["c0", "c1"]) == {"c0": (0, 184), "c1": (0, 184)}
    (found,) = implied(row, hidden, [rule], members, "firms")
    assert (found.total, found.cells, found.value) == (0, (1, 2), 184)
    assert rule.excess(Contributions.of([170, 5, 4, 3, 2])) == 8


def test_a_tree_protects_through_both_branches() -> None:  # TB-28
    tree = System.of(
        {"T": 53, "A": 25, "B": 28, "A1": 2, "A2": 9, "A3": 14, "B1": 7, "B2": 1, "B3": 20},
        ["T=A+B", "A=A1+A2+A3", "B=B1+B2+B3"],
    )
    assert proven(tree, ["A1", "A2", "B1", "B2"]) == {
        "A1": (0, 11), "A2": (0, 11), "B1": (0, 8), "B2": (0, 8),
    }  # fmt: skip


def test_a_reader_who_knows_the_choice_rules_out_more() -> None:  # TB-48
    # The interval says 0 to 5, and the rule "threshold 3, one cheapest secondary" leaves 2 and 3.
    row = line(28, 2, 3, 3, 20)
    assert proven(row, ["c0", "c1"]) == {"c0": (0, 5), "c1": (0, 5)}
    left = []
    for value in range(6):
        parts = [value, 5 - value, 3, 20]
        small = [at for at, part in enumerate(parts) if 0 < part < 3]
        rest = [at for at in range(4) if at not in small and parts[at]]
        if len(small) == 1:
            small.append(min(rest, key=lambda at: (parts[at], at)))
        if sorted(small) == [0, 1]:
            left.append(value)
    assert left == [2, 3]


def test_totals_that_do_not_add_up() -> None:  # TB-91
    with pytest.raises(BadInput, match="'T' is not the sum of 'c0', 'c1'") as error:
        line(12, 5, 6)
    assert error.value.values == ("12", "11")


def test_a_true_value_outside_what_is_known_is_refused() -> None:
    row = line(9, 5, 0, 4)
    with pytest.raises(BadPlan, match="'c1' is outside what a reader"):
        audit(row, row.cells(["c0", "c1"]), {}, Bounds.of(row, lower=1))


def test_a_part_is_known_where_the_same_cell_is_printed_elsewhere() -> None:  # TB-06
    tree = System.of({"T": 11, "A": 5, "B": 6, "B1": 6}, ["T=A+B", "B=B1"])
    needs = {tree.place["B1"]: Level(sliding=1)}
    hidden = tree.cells(["A", "B1"])  # B is printed, and says it
    assert [one.answer for one in audit(tree, hidden, needs, Bounds.of(tree)).exposed] == ["unsafe"]
    assert audit(tree, tree.closed(hidden), needs, Bounds.of(tree)).safe


def test_levels_are_compared_in_whole_numbers_however_large_the_values() -> None:
    # A tolerance of a millionth would let ten units pass at ten millions.
    row = line(10**12 + 9 + 10**7, 10**12, 9, 10**7)
    reader = Reader(row, row.cells(["c0", "c1"]), Bounds.of(row))
    levels = [Level(upper=9), Level(upper=10), Level(sliding=10**7)]
    assert [judged(reader, 1, level).answer for level in levels] == ["safe", "unsafe", "safe"]
    wide = Level(sliding=10**12 + 10)
    assert judged(reader, 1, wide).answer == "unsafe"


# ---- all readers at once ----


def sole_firms() -> Judged:
    """Return a table of amounts in which many cells have one firm, and thus many readers."""
    draw = np.random.default_rng(11)
    rows = 45
    columns = {
        "place": draw.choice([f"p{n}" for n in range(5)], rows).tolist(),
        "kind": draw.choice([f"k{n}" for n in range(4)], rows).tolist(),
        "turnover": draw.integers(20, 60, rows).tolist(),
    }
    recipe = TableRecipe.from_toml(
        '[table]\ncolumns = ["place", "kind"]\nvalue = "turnover"\n[[rules]]\nname = "threshold"\n'
        'n = 2\n[protect]\nmethod = "heuristic"\n'
    )
    return judge(dataset_of(columns), recipe, {})


def test_what_is_safe_from_all_readers_at_once_is_safe_from_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = sole_firms()
    each = protect(made)
    assert each.audit is not None
    assert each.audit.readers > 5
    assert len(each.audit.judgements) > len(made.needs)
    for module in (audits, suppressed):
        monkeypatch.setattr(module, "MOST_PROGRAMS", 10)
    together = protect(made)
    assert together.audit is not None
    assert together.audit.safe
    # A judgement a cell, not one for each of its readers, and the plain audit agrees.
    assert len(together.audit.judgements) == len(made.needs)
    readers = insiders_of(made.table.members, made.table.values, together.suppressed)
    monkeypatch.setattr(audits, "MOST_PROGRAMS", 10**9)
    plain = audit(made.table.system, together.suppressed, made.needs, made.bounds, insiders=readers)
    assert plain.safe
    assert len(plain.judgements) > len(made.needs)
    # The second computation takes the changes as proposals, and no linear program is left.
    assert together.proposals.keys() == {
        tuple(made.table.names[c].split("|")) for c in made.findings
    }


def test_a_change_that_some_reader_rules_out_keeps_no_one_from_a_cell() -> None:
    table = System.of(
        {"T": 20, "A": 9, "B": 11, "a": 4, "b": 5, "c": 5, "d": 6, "X": 9, "Y": 11},
        ["T=A+B", "T=X+Y", "A=a+b", "B=c+d", "X=a+c", "Y=b+d"],
    )
    place = table.place
    hidden = frozenset(place[name] for name in "abcd")
    change = {place["a"]: 1, place["b"]: -1, place["c"]: -1, place["d"]: 1}
    outside = Bounds.of(table)

    def kept(level: Level, bounds: Bounds = outside, alone: str = "", **more: int) -> bool:
        all_of_them = Everyone(bounds=bounds, outside=outside, alone=table.cells(alone))
        own = {**change, **{place[name]: by for name, by in more.items()}}
        return all_of_them.kept_by(table, hidden, place["a"], level, own)

    assert kept(Level(lower=4, upper=5))
    assert not kept(Level(lower=5, upper=5))  # a would fall below 0
    assert not kept(Level(upper=6))  # b and c would
    assert not kept(Level(upper=1), d=2)  # sums break
    assert not kept(Level(upper=1), A=1)  # A is published
    knows = outside.with_known({place["b"]: (5, 5)})
    assert not kept(Level(upper=1), knows, "b")  # whose only respondent may read
    own = outside.with_known({place["a"]: (4, 4)})
    assert kept(Level(lower=4, upper=5), own, "a")  # who is alone in a knows it anyway
    assert not kept(Level(lower=5, upper=5), own, "a")
    part = outside.with_known({place["b"]: (3, None)})
    assert [kept(Level(upper=n), part) for n in (2, 3)] == [True, False]
