"""Mondrian: what it publishes, refuses and tells."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled, Infeasible
from anon_core.methods.partition.mondrian_cuts import cut_by_tree, normalized_positions
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.making import PATIENTS, Case, random_case

PROBLEM = PATIENTS.problem()


def test_a_partition_and_its_account() -> None:
    outcome = Mondrian().run(PROBLEM, [KAnonymity(k=2)], Context())
    account = outcome.account
    assert not account.proven
    assert account.node is None
    assert account.partition == {"parts": 2, "smallest": 3, "largest": 3, "mean": 3}
    release = outcome.release
    assert release.suppressed == 0
    shown = [
        tuple(release.vocabularies[n].texts[release.cells[n][c]] for n in PROBLEM.quasi)
        for c in range(2)
    ]
    assert shown == [("20", "10*"), ("40", "20*")]


def test_columns_with_groups_are_cut_by_their_tree() -> None:
    kinds = {"text": True, "ordered": False, "number": False}
    for kind, by_tree in kinds.items():
        case = Case(
            columns={"q": ["1", "2", "3"]},
            quasi=("q",),
            kinds={"q": kind},  # type: ignore[dict-item]
            levels={"q": [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*")]},
        )
        problem = case.problem()
        assert cut_by_tree(problem, problem.hierarchies["q"]) is by_tree
    flat = Case(columns={"q": ["1", "2"]}, quasi=("q",), kinds={"q": "text"}).problem()
    assert not cut_by_tree(flat, flat.hierarchies["q"])


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("number", ["0", "10", "40"], [0, 0.25, 1]),
        ("number", ["0", "10", "40", None], [0, 0.25, 1, 2]),
        ("number", ["-1e99", "0", "1e99"], [0, 0.5, 1]),  # as far apart as numbers go
        ("number", ["7"], [0]),
        ("number", [None], [2]),
        ("ordered", ["a", "b", "c"], [0, 0.5, 1]),
        ("ordered", ["a", "b", None], [0, 0.5, 2]),
        ("ordered", ["a"], [0]),
        ("date", ["2025-01-01", "2025-01-03", "2025-01-05"], [0, 0.5, 1]),
    ],
)
def test_positions(kind: str, values: list[str | None], expected: list[float]) -> None:
    case = Case(columns={"q": values}, quasi=("q",), kinds={"q": kind})  # type: ignore[dict-item]
    assert normalized_positions(case.problem().hierarchies["q"]).tolist() == expected


def test_the_widest_column_is_cut_first_and_a_tie_goes_to_the_first() -> None:
    columns: dict[str, list[str | None]] = {
        "a": ["0", "0", "9", "9"],
        "b": ["0", "9", "0", "9"],
    }
    for quasi in (("a", "b"), ("b", "a")):
        case = Case(columns=columns, quasi=quasi, kinds={"a": "number", "b": "number"})
        release = Mondrian().run(case.problem(), [KAnonymity(k=2)], Context()).release
        first = release.vocabularies[quasi[0]].texts
        assert sorted(first[c] for c in release.cells[quasi[0]]) == ["0", "9"]
        second = release.vocabularies[quasi[1]].texts
        assert [second[c] for c in release.cells[quasi[1]]] == ["[0, 9]"] * 2


def test_a_category_is_cut_all_or_not_at_all() -> None:
    """One child of the root has a single row, so none is split off."""
    case = Case(
        columns={"q": ["a", "a", "b", "b", "c"]},
        quasi=("q",),
        kinds={"q": "text"},
        levels={"q": [("a", "A", "*"), ("b", "B", "*"), ("c", "C", "*")]},
    )
    outcome = Mondrian().run(case.problem(), [KAnonymity(k=2)], Context())
    assert outcome.account.partition == {"parts": 1, "smallest": 5, "largest": 5, "mean": 5}
    assert outcome.release.vocabularies["q"].texts == ("*",)


def test_every_side_shows_enough_values() -> None:
    outcome = Mondrian().run(PROBLEM, [KAnonymity(k=2), DistinctLDiversity(l=3)], Context())
    # Under 30 only flu and cold are known, so the table stays whole.
    assert outcome.account.partition is not None
    assert outcome.account.partition["parts"] == 1


def test_values_seen_on_one_side_still_count_on_the_next() -> None:
    """A median cut, then a cut along a tree: each side's values are counted by themselves."""
    case = Case(
        columns={
            "n": ["1", "1", "1", "1", "90", "90", "90", "90"],
            "t": list("aabbaabb"),
            "s": list("uvuvuvuv"),
        },
        quasi=("n", "t"),
        sensitive=("s",),
        kinds={"n": "number", "t": "text", "s": "text"},
        levels={"t": [("a", "A", "*"), ("b", "B", "*")], "n": [("1", "*"), ("90", "*")]},
    )
    outcome = Mondrian().run(case.problem(), [KAnonymity(k=2), DistinctLDiversity(l=2)], Context())
    assert outcome.account.partition is not None
    assert outcome.account.partition["parts"] == 4


def test_promises_the_whole_table_does_not_keep_are_infeasible() -> None:
    with pytest.raises(Infeasible) as refused:
        Mondrian().run(PROBLEM, [KAnonymity(k=7)], Context())
    assert "Not even the whole table as one class satisfies k-anonymity" in refused.value.message
    with pytest.raises(Infeasible, match="satisfies Distinct l-diversity"):
        Mondrian().run(PROBLEM, [KAnonymity(k=2), DistinctLDiversity(l=4)], Context())


def test_cancelling_between_two_pieces_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.GRAIN", 1)
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.WORK", 1)
    case = random_case(np.random.default_rng(157), rows=100, quasi=3, kinds=("number",))
    context = Context()
    seen: list[float] = []

    def stop(share: float, stage: str) -> None:
        seen.append(share)
        if len(seen) == 3:
            context.cancel.set()

    with pytest.raises(Cancelled):
        Mondrian().run(
            case.problem(), [KAnonymity(k=2)], dataclasses.replace(context, progress=stop)
        )
    assert seen == sorted(seen)
    assert len(seen) == 3


def test_relaxed_cuts_are_at_the_median() -> None:
    with pytest.raises(BadPlan, match="cut_at is 'best-gain'"):
        Mondrian(cuts="relaxed", cut_at="best-gain").run(PROBLEM, [KAnonymity(k=2)], Context())
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        Mondrian(weights={"illness": 2}).run(PROBLEM, [KAnonymity(k=2)], Context())
