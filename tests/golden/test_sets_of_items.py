"""Cells that hold sets: k^m-anonymity and the best cut, by hand and by all cuts of small trees."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_core.base.errors import AnonError, BadPlan, Infeasible
from anon_core.methods.sensitive_statistics import itemsets
from anon_core.methods.sensitive_statistics.itemsets import (
    best_cut,
    items_of,
    rare_itemsets,
    read_item_tree,
)
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify
from tests.making import Case

BAGS = ("a1|b1|b2", "a2|b1", "a2|b1|b2", "a1|a2|b2")
TREE = "A: a1, a2\nB: b1, b2"
Nodes = Mapping[str, Sequence[str]]
NODES: Nodes = {"*": ("A", "B"), "A": ("a1", "a2"), "B": ("b1", "b2")}


def case_of(bags: Sequence[str | None], quasi: Sequence[str] = ()) -> Case:
    return Case(
        columns={"q": list(quasi or ["x"] * len(bags)), "bag": list(bags)},
        quasi=("q",),
        sensitive=("bag",),
        kinds={"q": "text", "bag": "text"},
        levels={"q": [(v, "*") for v in sorted({*quasi} or {"x"})]},
    )


def released(
    bags: Sequence[str | None],
    *,
    k: int,
    m: int,
    change: dict[str, Any] | None = None,
    quasi: Sequence[str] = (),
    **algorithm: Any,
) -> Result:
    """Publish q as it is, where k^m-anonymity holds; with a change before, where one is given."""
    case = case_of(bags, quasi)
    made = [{"name": "item-generalization", "columns": ["bag"], **change}] if change else []
    plan = case.plan(
        algorithm=({} if "name" in algorithm else {"name": "fixed-levels", "levels": {"q": 0}})
        | algorithm,
        models=[{"name": "km-anonymity", "k": k, "m": m}],
        changes=made,
    )
    result = run(plan, case.dataset, case.levels)
    assert result.verification.holds
    again = verify(Plan.from_toml(plan.as_toml()).completed(), case.frame, case.levels,
                   result.files)  # fmt: skip
    assert again.holds
    return result


def held_by(bags: Sequence[frozenset[str]], m: int) -> Counter[frozenset[str]]:
    """Return the rows that hold each itemset of up to m items that some row holds; by counting."""
    every = {frozenset(c) for b in bags for n in range(m + 1) for c in itertools.combinations(b, n)}
    return Counter({one: sum(one <= bag for bag in bags) for one in every})


def sets(*bags: str) -> list[frozenset[str]]:
    return [frozenset(items_of(bag, "|")) for bag in bags]


def cuts(nodes: Nodes, label: str = "*") -> Iterator[frozenset[str]]:
    yield frozenset((label,))
    if label in nodes:
        for parts in itertools.product(*(list(cuts(nodes, one)) for one in nodes[label])):
            yield frozenset().union(*parts)


def leaves(nodes: Nodes, label: str) -> set[str]:
    return set().union(*(leaves(nodes, x) for x in nodes[label])) if label in nodes else {label}


def loss(nodes: Nodes, cut: frozenset[str], bags: Sequence[frozenset[str]]) -> Fraction:
    """Return (leaves − 1) / (all leaves − 1) of each item's label, mean over the items of rows."""
    label = {item: one for one in cut for item in leaves(nodes, one)}
    whole = len(leaves(nodes, "*")) - 1
    values = [Fraction(len(leaves(nodes, label[x])) - 1, whole) for bag in bags for x in bag]
    return sum(values, Fraction(0)) / len(values)


def keeps(
    nodes: Nodes, cut: frozenset[str], bags: Sequence[frozenset[str]], k: int, m: int
) -> bool:
    label = {item: one for one in cut for item in leaves(nodes, one)}
    values = [frozenset(label[x] for x in bag) for bag in bags]
    return all(rows >= k for itemset, rows in held_by(values, m).items() if itemset)


def counted(bags: Sequence[frozenset[str]]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sorted(bag)) for bag in bags)


def test_pe_55_itemsets_that_too_few_rows_hold() -> None:
    rows = counted(sets(*BAGS))
    assert rare_itemsets(rows, 2, 1) == {}
    assert rare_itemsets(rows, 2, 2) == {("a1", "a2"): 1, ("a1", "b1"): 1}
    assert released(BAGS, k=2, m=1).verdicts[0].reached == 2
    with pytest.raises(Infeasible):
        released(BAGS, k=2, m=2)


@pytest.mark.parametrize(
    ("k", "m", "cut", "lost"),
    [
        (2, 1, ("a1", "a2", "b1", "b2"), Fraction(0)),
        (2, 2, ("A", "b1", "b2"), Fraction(5, 33)),
        (2, 3, ("A", "b1", "b2"), Fraction(5, 33)),
        (3, 2, ("A", "B"), Fraction(1, 3)),
    ],
)
def test_pe_56_the_best_cut(k: int, m: int, cut: tuple[str, ...], lost: Fraction) -> None:
    bags = sets(*BAGS)
    tree = read_item_tree(TREE, {x for bag in bags for x in bag})
    assert best_cut(tree, counted(bags), k, m) == cut
    assert loss(NODES, frozenset(cut), bags) == lost
    assert len(list(tree.cuts())) == tree.number_of_cuts() == 5
    result = released(BAGS, k=k, m=m, change={"k": k, "m": m, "tree": TREE})
    label = {item: one for one in cut for item in leaves(NODES, one)}
    shown = sorted("|".join(sorted({label[x] for x in bag})) for bag in bags)
    assert sorted(result.published.to_pandas()["bag"]) == shown
    assert result.verdicts[0].reached >= k


def test_pe_57_with_quasi_identifiers() -> None:
    bags, quasi = sets(*BAGS), ("x", "x", "y", "y")
    rare = {
        (q, *sorted(itemset)): rows
        for q in "xy"
        for itemset, rows in held_by(
            [bag for bag, own in zip(bags, quasi, strict=True) if own == q], 1
        ).items()
        if rows < 2
    }
    assert rare == {
        ("x", "a1"): 1, ("x", "a2"): 1, ("x", "b2"): 1, ("y", "a1"): 1, ("y", "b1"): 1,
    }  # fmt: skip
    holding: set[frozenset[str]] = set()
    for cut in cuts(NODES):
        label = {item: one for one in cut for item in leaves(NODES, one)}
        text = ["|".join(sorted({label[x] for x in bag})) for bag in bags]
        try:
            found = released(text, k=2, m=1, quasi=quasi)
        except Infeasible:
            continue
        assert found.verdicts[0].reached == 2
        holding.add(cut)
    assert holding == {frozenset(("A", "B")), frozenset("*")}
    # The cut for k = 3 of the whole table is one of them; classes can be merged instead, too.
    made = {"k": 3, "m": 2, "tree": TREE}
    assert released(BAGS, k=2, m=1, quasi=quasi, change=made).release.suppressed == 0
    merged = released(BAGS, k=2, m=1, quasi=quasi, name="optimal")
    assert set(merged.published.to_pandas()["q"]) == {"*"}


def test_pe_58_an_absent_item_is_not_hidden() -> None:
    bags = ("a", "a|b", "a|b")
    assert released(bags, k=2, m=2).verdicts[0].reached == 2
    assert sum(one == frozenset("a") for one in sets(*bags)) == 1


def test_an_item_twice_an_empty_set_and_a_missing_cell() -> None:
    assert items_of("b|a| b", "|") == ("a", "b")
    held = released(("a|a", " a", "|", "|", None, None), k=2, m=2)
    assert held.verdicts[0].reached == 2
    with pytest.raises(Infeasible):
        released(("a", "a", "a", None), k=2, m=2)
    with pytest.raises(Infeasible, match="without a value"):
        released(("a", "a", "a", None), k=2, m=1, change={"k": 2, "m": 1})
    shown = released(("a|b", "a|c", "|", None, None), k=2, m=1, change={"k": 2, "m": 1},
                     max_suppression=0.2)  # fmt: skip
    assert sorted(shown.published.to_pandas()["bag"].fillna("")) == ["", "", "*", "*", "|"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tree": "A: a1, a2"}, "2 of 4 items are in no group"),
        ({"tree": "A: a1, a2\nB b1, b2"}, "Line 2 of the tree of items"),
        ({"tree": TREE + "\nC: a1"}, "in a group already"),
        ({"tree": TREE + "\nA: c"}, "another line"),
        ({"tree": "A: a1, a2, B\nB: b1, b2, A"}, "circle"),
        ({"tree": "A|B: a1, a2, b1, b2"}, "separator in its name"),
        ({"tree": "a1: a2, b1, b2\nC: a1"}, "groups that are items"),
        ({"separator": ""}, "separator of items is empty"),
        ({"k": 5}, "Only 4 rows hold an item"),
        ({"k": 1}, "k"),
        ({"m": 0}, "m"),
    ],
)
def test_what_cannot_be_done_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(AnonError) as refused:
        released(BAGS, k=2, m=1, change={"k": 2, **change})
    assert said in str(refused.value)


def test_too_many_itemsets_and_a_k_above_all_are_refused(monkeypatch: Any) -> None:
    with pytest.raises(Infeasible, match="no item is held by more than three rows"):
        released(BAGS, k=4, m=1)
    monkeypatch.setattr(itemsets, "MOST_ITEMSETS", 5)
    with pytest.raises(BadPlan, match="hold 21 itemsets of up to 2 items"):
        released(BAGS, k=2, m=2)


def drawn(rng: np.random.Generator) -> tuple[Nodes, list[frozenset[str]], int, int]:
    items = [*"stuvwxyz"][: int(rng.integers(3, 9))]
    parts = np.sort(rng.choice(np.arange(1, len(items)), min(2, len(items) - 1), replace=False))
    nodes: dict[str, Sequence[str]] = {}
    tops: list[str] = []
    for number, part in enumerate(np.split(np.array(items), parts)):
        nodes[f"g{number}"] = part.tolist()
        tops.append(f"g{number}")
    if len(tops) == 3 and rng.random() < 0.5:
        nodes["h"] = tops[1:]
        tops = [tops[0], "h"]
    nodes["*"] = tops
    bags = [
        frozenset(rng.choice(items, int(rng.integers(0, 4))).tolist())
        for _ in range(int(rng.integers(5, 14)))
    ]
    return nodes, bags, int(rng.integers(2, 4)), int(rng.integers(1, 4))


def test_the_best_cut_is_the_best_of_all(monkeypatch: Any) -> None:
    """On drawn tables; where groups are put in place one by one, it holds and loses no less."""
    compared = 0
    for number in range(60):
        nodes, bags, k, m = drawn(np.random.default_rng([7, number]))
        some = sum(map(bool, bags))
        if some < k:
            continue
        lines = "\n".join(f"{g}: {', '.join(own)}" for g, own in nodes.items() if g != "*")
        tree = read_item_tree(lines, {x for bag in bags for x in bag})
        best = min(loss(nodes, cut, bags) for cut in cuts(nodes) if keeps(nodes, cut, bags, k, m))
        found = frozenset(best_cut(tree, counted(bags), k, m))
        assert keeps(nodes, found, bags, k, m)
        assert loss(nodes, found, bags) == best
        monkeypatch.setattr(itemsets, "EXACT", 0)
        quick = frozenset(best_cut(tree, counted(bags), k, m))
        monkeypatch.undo()
        assert keeps(nodes, quick, bags, k, m)
        assert loss(nodes, quick, bags) >= best
        compared += 1
    assert compared > 50


def test_of_too_many_cuts_groups_are_put_in_place_and_made_again() -> None:
    rng = np.random.default_rng(9)
    items = [f"i{n:02}" for n in range(44)]
    lines = "\n".join(f"g{n:02}: i{2 * n:02}, i{2 * n + 1:02}" for n in range(22))
    nodes = {f"g{n:02}": items[2 * n : 2 * n + 2] for n in range(22)}
    assert read_item_tree(lines, items).number_of_cuts() == 1 + 2**22
    bags = ["|".join(rng.choice(items, int(rng.integers(1, 3)))) for _ in range(160)]
    shown = released(bags, k=3, m=1, change={"k": 3, "m": 1, "tree": lines})
    values = [frozenset(bag.split("|")) for bag in shown.published.to_pandas()["bag"]]
    assert min(held_by(values, 1).values()) >= 3
    labels = frozenset().union(*values)
    assert labels & nodes.keys()
    assert labels & {*items}
    # Each group is there because one of its items was rare.
    rows = held_by(sets(*bags), 1)
    assert all(min(rows[frozenset((x,))] for x in nodes[g]) < 3 for g in labels & nodes.keys())


def test_the_model_counts_itemsets_of_every_class() -> None:
    """Against counting all itemsets of drawn tables, where classes that break it may go."""
    ended = Counter[str]()
    for number in range(40):
        rng = np.random.default_rng([8, number])
        bags = [
            "|".join(rng.choice([*"abc"], int(rng.integers(1, 4))))
            for _ in range(rng.integers(4, 11))
        ]
        quasi = rng.choice([*"xy"], len(bags)).tolist()
        m = int(rng.integers(1, 4))
        classes = [
            sets(*(bag for bag, own in zip(bags, quasi, strict=True) if own == q)) for q in "xy"
        ]
        good = [bool(own) and min(held_by(own, m).values()) >= 2 for own in classes]
        left = sum(len(own) for own, keeps_it in zip(classes, good, strict=True) if keeps_it)
        try:
            found = released(bags, k=2, m=m, quasi=quasi, max_suppression=1.0)
        except Infeasible:
            assert not any(good)
            ended["none"] += 1
            continue
        assert len(bags) - found.release.suppressed == left
        ended["all" if left == len(bags) else "some"] += 1
    assert min(ended[how] for how in ("none", "some", "all")) >= 2
