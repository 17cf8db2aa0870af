"""Models of how sensitive values are spread: worked examples, through a whole run.

Of Samarati's slides K-18 to K-21, of Aalborg group 3 A-04 to A-09 and A-19; the others are tables
recomputed by hand. Every run ends in the second computation, which has to agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from anon_core.base.errors import Infeasible
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.techniques.models.entropy_l_diversity import EntropyLDiversity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from anon_core.techniques.models.recursive_l_diversity import RecursiveLDiversity
from tests.making import Case

Rows = Sequence[tuple[str, object]]

A = [("q1", "a"), ("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b"), ("q2", "c")]
B: Rows = [*(("q1", v) for v in (1, 1, 2)), *(("q2", v) for v in (2, 3, 3))]
B_ALL: Rows = [*B, *(("q3", v) for v in (1, 2, 3, 3))]
D = [("q1", "a"), ("q2", "b"), ("q2", "b"), ("q2", "b")]
E = [("q1", "a"), ("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b"), ("q2", "b")]
G: Rows = [("q1", 10), ("q1", 14), ("q2", 12), ("q2", 30)]
H = [("q1", v) for v in "aaaaabc"]
U = [("q1", v) for v in "abc"]
P = [("q1", "c"), ("q2", "d")]
S1: Rows = [("q1", 1), ("q1", 1), ("q2", 1)]
ORDER: Rows = [("q1", 1), ("q1", 2), ("q2", 3), ("q2", 3)]
RAGGED = [("1", "L", "*"), ("2", "L", "*"), ("3", "3", "*")]
PADDED = [("a", "A", "X", "*"), ("b", "B", "X", "*"), ("c", "C", "C", "*"), ("d", "C", "C", "*")]
BY_LEAF = [*PADDED[:2], ("c", "c", "C", "*"), ("d", "d", "C", "*")]


def published(
    rows: Rows,
    model: Mapping[str, object],
    *,
    levels: Sequence[Sequence[str]] = (),
    budget: float = 0.0,
    also: Sequence[Mapping[str, object]] = (),
) -> Result:
    """Publish the quasi-identifier as it is; refused where a group breaks the promise."""
    columns = {"q": [str(q) for q, _ in rows], "s": [str(s) for _, s in rows]}
    number = all(isinstance(s, int | float) for _, s in rows) and not levels
    case = Case(
        columns=columns,  # type: ignore[arg-type]
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "number" if number else "text"},
    )
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": {"q": 0}, "max_suppression": budget},
        models=[model, *also],
    )
    given = {"s": [list(line) for line in levels]} if levels else None
    result = run(plan, case.dataset, given, assess=False)
    assert result.verification.holds
    return result


def groups_of(rows: Rows) -> list[list[object]]:
    return [[s for q, s in rows if q == name] for name in dict.fromkeys(q for q, _ in rows)]


@pytest.mark.parametrize(
    ("rows", "model", "per_class"),
    [
        pytest.param(
            A, {"name": "entropy-l-diversity", "l": 1.8}, [3 / 2 ** (2 / 3), 3], id="M-06"
        ),
        pytest.param(U, {"name": "entropy-l-diversity", "l": 3}, [3], id="M-07"),
        pytest.param(A, {"name": "recursive-l-diversity", "c": 3, "l": 2}, [2, 0.5], id="M-09"),
        pytest.param(
            A, {"name": "alpha-k-anonymity", "alpha": 0.67, "k": 3}, [2 / 3, 1 / 3], id="M-13"
        ),
        pytest.param(B_ALL, {"name": "t-closeness", "t": 0.4}, [0.4, 0.3, 0.1], id="M-15"),
        pytest.param(
            B_ALL,
            {"name": "t-closeness", "t": 0.384, "distance": "ordered"},
            [23 / 60, 17 / 60, 3 / 40],
            id="M-16",
        ),
        pytest.param(S1, {"name": "t-closeness", "t": 0, "distance": "ordered"}, [0, 0], id="M-19"),
        pytest.param(
            A, {"name": "beta-likeness", "beta": 1, "enhanced": False}, [1 / 3, 1], id="M-24"
        ),
        pytest.param(
            D, {"name": "beta-likeness", "beta": 3, "enhanced": False}, [3, 1 / 3], id="M-25"
        ),
        pytest.param(A, {"name": "beta-likeness", "beta": 1}, [1 / 3, 1], id="M-27"),
        pytest.param(
            E, {"name": "delta-disclosure", "delta": 0.47}, [math.log(1.5)] * 2, id="M-29"
        ),
        pytest.param(G, {"name": "k-e-anonymity", "k": 2, "e": 4}, [4, 18], id="M-31"),
        pytest.param(G, {"name": "epsilon-m-anonymity", "epsilon": 2, "m": 2}, [2, 2], id="M-32"),
        pytest.param(
            G,
            {"name": "epsilon-m-anonymity", "epsilon": 0.2, "m": 2, "relative": True},
            [2, 2],
            id="M-34",
        ),
    ],
)
def test_what_groups_reach(rows: Rows, model: dict[str, object], per_class: list[float]) -> None:
    result = published(rows, model)
    (verdict,) = result.verdicts
    assert verdict.state == "holds"
    assert verdict.per_class.tolist() == pytest.approx(per_class, abs=1e-12)
    check = next(c for c in result.verification.checks if c.name == model["name"])
    assert check.reached == pytest.approx(verdict.reached, abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "model"),
    [
        pytest.param(A, {"name": "entropy-l-diversity", "l": 2}, id="M-05"),
        pytest.param(A, {"name": "recursive-l-diversity", "c": 2, "l": 2}, id="M-08"),
        pytest.param(H, {"name": "recursive-l-diversity", "c": 5, "l": 3}, id="M-10"),
        pytest.param(A, {"name": "alpha-k-anonymity", "alpha": 0.66, "k": 3}, id="M-13, less"),
        pytest.param(A, {"name": "alpha-k-anonymity", "alpha": 0.9, "k": 4}, id="k above"),
        pytest.param(B_ALL, {"name": "t-closeness", "t": 0.399999}, id="M-15, less"),
        pytest.param(B_ALL, {"name": "t-closeness", "t": 0.375, "distance": "ordered"}, id="M-16"),
        pytest.param(ORDER, {"name": "t-closeness", "t": 0.34, "distance": "ordered"}, id="M-22"),
        pytest.param(D, {"name": "beta-likeness", "beta": 3}, id="M-26"),
        pytest.param(D, {"name": "beta-likeness", "beta": 1e9}, id="M-26, no beta"),
        pytest.param(E, {"name": "delta-disclosure", "delta": 0.405}, id="M-28"),
        pytest.param(A, {"name": "delta-disclosure", "delta": math.log(1000)}, id="M-30"),
        pytest.param(G, {"name": "k-e-anonymity", "k": 2, "e": 4.01}, id="M-31, more"),
        pytest.param(G, {"name": "k-e-anonymity", "k": 3, "e": 4}, id="M-31, more values"),
        pytest.param(
            [("q", v) for v in (10, 14, 12, 30)],
            {"name": "epsilon-m-anonymity", "epsilon": 2, "m": 2},
            id="M-33",
        ),
        pytest.param(A, {"name": "background-bound", "factor": 1}, id="two values leave one"),
    ],
)
def test_what_groups_break(rows: Rows, model: dict[str, object]) -> None:
    with pytest.raises(Infeasible):
        published(rows, model)


@pytest.mark.parametrize(
    ("rows", "levels", "t", "reached"),
    [
        pytest.param(B_ALL, RAGGED, 0.4, [0.4, 17 / 60, 0.1], id="M-17"),
        pytest.param(P, PADDED, 0.25, [1 / 6, 1 / 6], id="M-18"),
        pytest.param(P, BY_LEAF, 0.25, [1 / 6, 1 / 6], id="M-18, padded by leaf"),
        pytest.param(
            [*(("q1", v) for v in "xyyz"), *(("q2", v) for v in "xxz")],
            [("x", "x", "*"), ("y", "x", "*"), ("z", "z", "*")],
            0.2,
            [1 / 8, 1 / 6],
            id="a value that is the label of its group",
        ),
    ],
)
def test_distance_by_a_ragged_tree(
    rows: Rows, levels: list[tuple[str, ...]], t: float, reached: list[float]
) -> None:
    model: dict[str, object] = {"name": "t-closeness", "t": t, "distance": "hierarchical"}
    result = published(rows, model, levels=levels)
    assert result.verdicts[0].per_class.tolist() == pytest.approx(reached, abs=1e-12)
    again = next(c for c in result.verification.checks if c.name == "t-closeness")
    assert again.reached == pytest.approx(max(reached), abs=1e-12)
    with pytest.raises(Infeasible):
        published(rows, model | {"t": max(reached) - 1e-9}, levels=levels)


def test_the_reference_is_the_table_before_anything_is_removed() -> None:
    """M-20, M-21: against the rows that are left q1 would be 1/4 away, and not 1/2."""
    rows = [("q1", "a"), ("q1", "a"), ("q2", "a"), ("q2", "b"), ("q3", "b"), ("q4", "b")]
    also = [{"name": "k-anonymity", "k": 2}]
    close: dict[str, object] = {"name": "t-closeness", "t": 0.5}
    result = published(rows, close, budget=0.4, also=also)
    assert result.release.suppressed == 2
    assert result.verdicts[0].per_class.tolist() == [0.5, 0.0]
    with pytest.raises(Infeasible):
        published(rows, close | {"t": 0.25}, budget=0.4, also=also)


def test_a_missing_value_is_none_of_the_values_and_part_of_their_spread() -> None:
    """It makes nothing diverse; a distance to the whole table's spread counts it as it is there."""
    rows = [*(("q1", v) for v in ("a", "b", "")), *(("q2", v) for v in ("a", "b", "b", ""))]
    case = Case(
        columns={"q": [q for q, _ in rows], "s": [s or None for _, s in rows]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
        levels={"s": [("a", "x", "*"), ("b", "x", "*")]},
    )
    reached = {
        "entropy-l-diversity": [2, 3 / 2 ** (2 / 3)],
        "recursive-l-diversity": [1, 2],
        "alpha-k-anonymity": [1 / 2, 2 / 3],
        "t-closeness": [2 / 21, 1 / 14],
    }
    given: dict[str, dict[str, Any]] = {
        "entropy-l-diversity": {"l": 1.8},
        "recursive-l-diversity": {"c": 3, "l": 2},
        "alpha-k-anonymity": {"alpha": 0.7, "k": 2},
        "t-closeness": {"t": 0.2},
    }
    levels = {"s": [list(line) for line in case.levels["s"]]}
    for name, per_class in reached.items():
        plan = case.plan(
            algorithm={"name": "fixed-levels", "levels": {"q": 0}},
            models=[{"name": name, **given[name]}],
        )
        result = run(plan, case.dataset, assess=False)
        assert result.verdicts[0].per_class.tolist() == pytest.approx(per_class)
    # Under the root: from `a` to the missing value it is the whole way, to `b` half of it.
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": {"q": 0}},
        models=[{"name": "t-closeness", "t": 0.2, "distance": "hierarchical"}],
    )
    result = run(plan, case.dataset, levels, assess=False)
    assert result.verdicts[0].per_class[0] == pytest.approx(1 / 21 + 1 / 2 * 1 / 21)


# ---- the seeds' own examples ---------------------------------------------------------------------


def test_k_19_who_rules_out_one_of_two_values_is_sure() -> None:
    """K-19: Hellen runs, so she has no short breath; chest pain is left."""
    rows = [("h", "chest pain"), ("h", "short breath")]
    with pytest.raises(Infeasible) as refused:
        published(rows, {"name": "background-bound", "factor": 100})
    assert (refused.value.best, refused.value.best_of) == (2, "distinct values")
    three = [*rows, ("h", "flu")]
    (verdict,) = published(three, {"name": "background-bound", "factor": 1}).verdicts
    assert verdict.reached == 1


def test_k_20_skewness() -> None:
    """K-20: three of four have diabetes, of everyone one in five."""
    rows = [("q", "diabetes")] * 3 + [("q", "short breath")] + [("p", "short breath")] * 11
    (verdict,) = published(rows, {"name": "t-closeness", "t": 0.55}).verdicts
    assert verdict.per_class.tolist() == pytest.approx([0.2, 0.55])
    with pytest.raises(Infeasible):
        published(rows, {"name": "t-closeness", "t": 0.5499})
    gains: dict[str, object] = {"name": "beta-likeness", "enhanced": False}
    (verdict,) = published(rows, gains | {"beta": 2.75}).verdicts
    assert verdict.reached == pytest.approx(2.75)  # a factor of 3.75
    with pytest.raises(Infeasible):
        published(rows, gains | {"beta": 2.7499})


def test_k_21_similar_values_are_near_by_their_hierarchy() -> None:
    """K-21: two kinds of stomach disease are two values, and one illness."""
    rows = [("q", "stomach ulcer")] * 2 + [("q", "gastritis")] + [("p", "flu")] * 3
    levels = [
        ("stomach ulcer", "stomach disease", "*"),
        ("gastritis", "stomach disease", "*"),
        ("flu", "flu", "*"),
    ]
    near: dict[str, object] = {"name": "t-closeness", "t": 0.5, "distance": "hierarchical"}
    (verdict,) = published(rows, near, levels=levels).verdicts
    assert verdict.per_class.tolist() == pytest.approx([0.5, 0.5])
    (verdict,) = published(rows[:3], {"name": "entropy-l-diversity", "l": 1.8}).verdicts
    assert verdict.reached == pytest.approx(3 / 2 ** (2 / 3))


A_06 = [("a", "A"), ("a", "B"), ("a", "B"), ("b", "A"), ("b", "A"), ("b", "B")]


def test_a_06_two_of_three() -> None:
    """A-04, A-06: distinct 2-diverse, but neither of entropy 2 nor (2, 2)-diverse."""
    (verdict,) = published(A_06, {"name": "entropy-l-diversity", "l": 1.889}).verdicts
    assert verdict.per_class.tolist() == pytest.approx([1.889882, 1.889882], abs=1e-6)
    (verdict,) = published(A_06, {"name": "recursive-l-diversity", "c": 2.01, "l": 2}).verdicts
    assert verdict.reached == 2
    (verdict,) = published(A_06, {"name": "alpha-k-anonymity", "alpha": 0.667, "k": 3}).verdicts
    assert verdict.reached == pytest.approx(2 / 3)
    broken: list[dict[str, object]] = [
        {"name": "entropy-l-diversity", "l": 2},
        {"name": "recursive-l-diversity", "c": 2, "l": 2},
        {"name": "alpha-k-anonymity", "alpha": 0.666, "k": 3},
    ]
    for model in broken:
        with pytest.raises(Infeasible):
            published(A_06, model)


def test_a_08_shares_are_of_the_class_and_not_of_the_table() -> None:
    """E-26: 7 and 5 of 20 rows would make an entropy of 0.714; of the class's 12 it is 0.679."""
    rows = [("q", "A")] * 7 + [("q", "B")] * 5 + [("p", "A")] * 4 + [("p", "B")] * 4
    (verdict,) = published(rows, {"name": "entropy-l-diversity", "l": 1.97}).verdicts
    assert math.log(verdict.reached) == pytest.approx(0.679193, abs=1e-6)
    with pytest.raises(Infeasible):
        published(rows, {"name": "entropy-l-diversity", "l": 2})


@pytest.mark.parametrize(
    ("counts", "c", "largest"),
    [((3, 2, 1), 2, 2), ((2, 1), 2, 1), ((2, 1), 2.01, 2), ((5,), 3, 1)],
)
def test_a_09_the_largest_l(counts: tuple[int, ...], c: float, largest: int) -> None:
    """E-24: the sum begins at the l-th value, and the comparison is strict."""
    rows = [("q", "abc"[i]) for i, n in enumerate(counts) for _ in range(n)]
    for l in range(2, 5):  # noqa: E741
        model: dict[str, object] = {"name": "recursive-l-diversity", "c": c, "l": l}
        if l <= largest:
            assert published(rows, model).verdicts[0].holds
        else:
            with pytest.raises(Infeasible):
                published(rows, model)


def test_a_19_race_allows_no_entropy_of_two() -> None:
    """E-40: the table's own entropy is 0.536, so no release reaches log 2; removing rows could."""
    counts = (38903, 4228, 1303, 435, 353)
    cells = [str(i) for i, n in enumerate(counts) for _ in range(n)]
    case = Case(
        columns={"q": ["x"] * len(cells), "race": list(cells)},
        quasi=("q",),
        sensitive=("race",),
        kinds={"q": "text", "race": "text"},
    )
    problem = case.problem()
    with pytest.raises(Infeasible) as refused:
        EntropyLDiversity(l=2).check(problem)
    assert refused.value.best == pytest.approx(1.7088, abs=1e-4)
    assert "1.708" in refused.value.remedy
    EntropyLDiversity(l=1.7).check(problem)
    EntropyLDiversity(l=2).check(problem, removable=40_000)
    (answer,) = EntropyLDiversity(l=2).feasible(problem)
    assert answer.high == refused.value.best
    least = {a.parameter: a for a in RecursiveLDiversity(l=2).feasible(problem)}
    assert least["c"].low == pytest.approx(6.1565, abs=1e-4)
    assert least["c"].open
    assert least["l"].high == 5
    (allowed,) = DistinctLDiversity(l=2).feasible(problem)
    assert (allowed.low, allowed.high) == (2, 5)
