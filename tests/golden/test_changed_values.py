"""Swaps, noise, redrawn categories and condensed rows: outcomes enumerated, and exact moments."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import AnonError, BadPlan
from anon_core.base.registry import find
from anon_core.contracts.change import Chance, Change
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.queries.count_queries import asking
from anon_core.methods.queries.query_answers import estimates
from anon_core.release.problem import build_problem
from anon_core.techniques.changes.condensation import grown, moments_of, regenerated
from anon_core.techniques.changes.pram import Transition, read_transition
from anon_core.techniques.changes.rank_swapping import partners
from tests.making import by_hand

Table = dict[str, Sequence[object]]


def dataset(table: Table) -> Dataset:
    return Dataset.from_frame(
        pd.DataFrame({n: pd.Series(c, dtype="object") for n, c in table.items()}).map(
            lambda v: None if v is None else str(v)
        )
    )


class Scripted:
    """A generator whose draws are given; `fallen` says what the tree had below each."""

    def __init__(self, choices: Sequence[int] = (), *, numbers: Any = None, orders: Any = None):
        self.choices, self.at = list(choices), 0
        self.fallen: list[int] = []
        self.numbers, self.orders = numbers, orders

    def integers(self, high: int) -> int:
        self.fallen.append(high)
        chosen = self.choices[self.at] if self.at < len(self.choices) else 0
        self.at += 1
        return chosen

    def permutation(self, size: int) -> np.ndarray:
        return np.array(next(self.orders)) if self.orders is not None else np.arange(size)

    def random(self, shape: Any) -> np.ndarray:
        return np.zeros(shape) if self.numbers is None else np.asarray(next(self.numbers))

    def standard_normal(self, shape: Any) -> np.ndarray:
        return np.asarray(self.numbers).reshape(shape)


def made(
    name: str, table: Table, columns: Sequence[str], generator: Any, **settings: Any
) -> dict[str, list[Any]]:
    """Make a change of a table in the order it is in, and return the columns as numbers."""
    data = dataset(table)
    change = find("change", name).from_mapping(settings)
    assert isinstance(change, Change)
    chance = Chance(generator=generator, order=np.arange(data.rows))
    found = change.run(data, columns, Roles(), chance)
    return {n: _numbers(c.texts().tolist()) for n, c in found.items()}


def _numbers(texts: list[Any]) -> list[Any]:
    try:
        return [None if t is None else float(t) for t in texts]
    except ValueError:
        return texts


def every_outcome(draw: Callable[[Scripted], Any]) -> Iterator[tuple[Any, Fraction]]:
    """Walk the whole tree of `integers` draws; yield each outcome with its chance."""
    waiting: list[list[int]] = [[]]
    while waiting:
        choices = waiting.pop()
        script = Scripted(choices)
        outcome = draw(script)
        if len(script.fallen) > len(choices):
            high = script.fallen[len(choices)]
            waiting += [[*choices, c] for c in range(high)]
            continue
        yield outcome, Fraction(1, math.prod(script.fallen))


# ---- swapping ------------------------------------------------------------------------------------

X, Y = [1, 1, 2, 5], [0, 2, 3, 7]


def swaps(share: float, table: Table | None = None, **settings: Any) -> list[list[Any]]:
    """Return the column after each of the orders that can be drawn."""
    rows = table or {"x": X}
    size = len(rows["x"])
    return [
        made("swapping", rows, ["x"], Scripted(orders=iter([o])), share=share, **settings)["x"]
        for o in itertools.permutations(range(size))
    ]


def covariance(x: Sequence[float], y: Sequence[float]) -> Fraction:
    n = len(x)
    fx, fy = [Fraction(v) for v in x], [Fraction(v) for v in y]
    return sum((a * b for a, b in zip(fx, fy, strict=True)), Fraction(0)) / (n - 1) - sum(fx) * sum(
        fy
    ) / (n * (n - 1))


def test_l12_swapping_shrinks_covariance_and_all_swapped_turns_its_sign() -> None:
    assert covariance(X, Y) == Fraction(16, 3)
    for share, expected in ((0.5, Fraction(16, 9)), (1.0, Fraction(-16, 9))):
        found = swaps(share)
        assert sum(covariance(x, Y) for x in found) / len(found) == expected
        assert all(sorted(x) == sorted(map(float, X)) for x in found)
    one = swaps(0.5)  # a single pair
    assert Fraction(sum(x != list(map(float, X)) for x in one), len(one)) == Fraction(5, 6)


def test_l13_a_whole_column_permuted_keeps_c_squared_over_n_rows_and_no_covariance() -> None:
    """One group, its columns in blocks of their own: by what a reader estimates, and by orders."""
    data = dataset({"y": list(Y), "x": list(X)})
    problem = build_problem(data, Roles(quasi=("y",), sensitive=("x",)))
    release = by_hand(problem, [0] * 4, (("y",), ("x",)))
    code = {n: problem.hierarchies[n].code for n in ("x", "y")}
    pairs = list(itertools.product(Y, sorted({*X})))
    asked = asking(
        [{"y": (code["y"][f"{y}"],) * 2, "x": (code["x"][f"{x}"],) * 2} for y, x in pairs]
    )
    rows = dict(zip(pairs, estimates(release.view, problem.hierarchies, asked), strict=True))
    assert sum(rows[y, x] for y, x in zip(Y, X, strict=True)) == pytest.approx(3 / 2)
    away = sum(n * (x - np.mean(X)) * (y - np.mean(Y)) for (y, x), n in rows.items())
    assert away == pytest.approx(0, abs=1e-12)
    orders = list(itertools.permutations(X))
    same = [sum(a == b for a, b in zip(o, X, strict=True)) for o in orders]
    assert Fraction(sum(same), len(orders)) == Fraction(3, 2)
    assert sum(covariance(o, Y) for o in orders) == 0


def test_l14_strata_keep_their_joint_counts() -> None:
    table: Table = {"x": X, "g": ["f", "f", "m", "m"]}
    wanted = Counter(zip(table["g"], map(float, X), strict=True))
    seen = set()
    for orders in itertools.product(itertools.permutations(range(2)), repeat=2):
        x = made("swapping", table, ["x"], Scripted(orders=iter(orders)), share=1.0, strata=["g"])
        assert Counter(zip(table["g"], x["x"], strict=True)) == wanted
        seen.add(tuple(x["x"]))
    assert (1.0, 1.0, 5.0, 2.0) in seen


def test_swapping_the_area_of_matched_households() -> None:  # TB-90
    households: Table = {
        "id": ["h1", "h2", "h3", "h4"],
        "area": list("XYXY"),
        "size": ["2", "2", "3", "1"],
        "income": ["low", "high", "low", "high"],
    }
    alone = iter([[0, 1], [0], [0]])  # two of size 2 are a pair, the others have no partner
    expected = {"share": 1.0, "strata": ["size"]}
    swapped = made("swapping", households, ["area"], Scripted(orders=alone), **expected)
    after = households | swapped

    def table(of: Table, *names: str) -> Counter[tuple[object, ...]]:
        return Counter(zip(*(of[name] for name in names), strict=True))

    kept = [("area",), ("size",), ("income",), ("area", "size"), ("size", "income")]
    for names in kept:
        assert table(after, *names) == table(households, *names)
    assert table(households, "area", "income") == {("X", "low"): 2, ("Y", "high"): 2}
    assert table(after, "area", "income") == dict.fromkeys(
        [("X", "high"), ("Y", "low"), ("X", "low"), ("Y", "high")], 1
    )
    assert after["area"] == ["Y", "X", "X", "Y"]


def test_l89_the_chance_that_a_row_shows_its_own_value() -> None:
    for share, expected in (
        (0.5, ["2/3", "2/3", "1/2", "1/2"]),
        (1.0, ["1/3", "1/3", "0", "0"]),
    ):
        found = swaps(share)
        own = [Fraction(sum(x[i] == X[i] for x in found), len(found)) for i in range(4)]
        assert own == [Fraction(e) for e in expected]
        m = int(share * 4 / 2)
        s, counts = Fraction(2 * m, 4), Counter(X)
        assert own == [1 - s + s * Fraction(counts[v] - 1, 3) for v in X]


# ---- rank swapping -------------------------------------------------------------------------------


def ranks(size: int, width: int) -> dict[tuple[int, ...], Fraction]:
    found: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for partner, chance in every_outcome(lambda s: partners(size, width, s)):  # type: ignore[arg-type]
        found[tuple((partner + 1).tolist())] += chance
        assert all(partner[partner[i]] == i and abs(partner[i] - i) <= width for i in range(size))
    assert sum(found.values()) == 1
    return dict(found)


def test_l15_l16_l17_l19_outcomes_of_rank_swapping() -> None:
    assert ranks(5, 2) == {
        (2, 1, 4, 3, 5): Fraction(1, 4),
        (2, 1, 5, 4, 3): Fraction(1, 4),
        (3, 4, 1, 2, 5): Fraction(1, 2),
    }
    stay = [sum(p for o, p in ranks(5, 2).items() if o[i] == i + 1) for i in range(5)]
    assert stay == [0, 0, 0, Fraction(1, 4), Fraction(3, 4)]
    assert ranks(3, 2) == {(2, 1, 3): Fraction(1, 2), (3, 2, 1): Fraction(1, 2)}
    assert sorted(ranks(4, 3).values()) == [Fraction(1, 3)] * 3
    assert ranks(6, 1) == {(2, 1, 4, 3, 6, 5): Fraction(1)}


@pytest.mark.parametrize(("p", "why"), [(17, "anyone undoes it"), (1, "the table itself")])
def test_l19_a_window_that_draws_nothing_is_refused(p: float, why: str) -> None:
    with pytest.raises(BadPlan, match=why):
        made("rank-swapping", {"x": [1, 2, 3, 4, 5, 6]}, ["x"], Scripted(), p=p)


def test_l18_ties_and_missing_values() -> None:
    column = [10, 20, 20, 20, 30, None, 40]
    reached: dict[int, set[float]] = defaultdict(set)
    ranked = sorted(v for v in column if v is not None)
    for order in itertools.permutations(range(3)):  # of the three that are equal
        rows = [0, *(1 + i for i in order), 4, 6]
        for partner, _ in every_outcome(lambda s: partners(6, 1, s)):  # type: ignore[arg-type]
            for at, row in enumerate(rows):
                value = column[row]
                assert value is not None
                reached[value].add(ranked[partner[at]])
    assert dict(reached) == {10: {20}, 20: {10, 20}, 30: {40}, 40: {30}}
    wide = made("rank-swapping", {"x": column}, ["x"], np.random.default_rng(4), p=50)["x"]
    assert wide[5] is None
    assert sorted(v for v in wide if v is not None) == [float(v) for v in ranked]
    assert int(0.3 * 6) == 1  # so 30 % of six is the window that is refused
    with pytest.raises(BadPlan, match="anyone undoes it"):
        made("rank-swapping", {"x": column}, ["x"], np.random.default_rng(4), p=30)


# ---- noise ---------------------------------------------------------------------------------------


def noisy(x: Sequence[float], numbers: Any, **settings: Any) -> np.ndarray:
    change: Any = find("change", "additive-noise").from_mapping(settings)
    matrix = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    return change.masked(matrix, np.asarray(numbers, dtype=np.float64).reshape(matrix.shape))


def test_l21_the_noises_variance_is_added_exactly() -> None:
    x = [0, 2, 4, 6]
    alpha = float(1 / Fraction(20, 3))  # so that the noise is ±1
    found = [
        float(np.var(noisy(x, signs, alpha=alpha), ddof=1))
        for signs in itertools.product((-1, 1), repeat=4)
    ]
    assert np.mean(found) == pytest.approx(23 / 3, abs=1e-12)
    restored = [
        float(np.var(noisy(x, signs, alpha=alpha, restore="expected"), ddof=1))
        for signs in itertools.product((-1, 1), repeat=4)
    ]
    assert np.mean(restored) == pytest.approx(20 / 3, abs=1e-12)


def test_l22_the_exact_factor_and_no_other_restores() -> None:
    x = np.arange(8.0)
    signs = np.array(list(itertools.product((-1, 1), repeat=8)))
    values = [np.var(noisy(list(x), s, alpha=1.0, restore="expected"), ddof=1) for s in signs]
    assert np.mean(values) == pytest.approx(np.var(x, ddof=1), rel=1e-12)


def test_l23_the_exact_variant_keeps_mean_and_variance_of_this_very_table() -> None:
    x = [1, 2, 3, 4]
    noise = [5 / 4, -5 / 4, -5 / 4, 5 / 4]
    found = noisy(x, noise, alpha=1.25, restore="exact").ravel()
    assert found == pytest.approx([7 / 3, 4 / 3, 2, 13 / 3], abs=1e-12)
    drawn = np.random.default_rng(5).normal(size=4)
    other = noisy(x, drawn, alpha=1.25, restore="exact").ravel()
    assert (other.mean(), np.var(other, ddof=1)) == pytest.approx((5 / 2, 5 / 3), abs=1e-12)


def test_l24_restoring_moves_means_of_subgroups() -> None:
    x, group = [1, 2, 3, 4], np.array([0, 0, 1, 1])
    signs = list(itertools.product((-1, 1), repeat=4))
    for restore, expected in (("expected", [2, 3]), ("none", [1.5, 3.5])):
        found = [noisy(x, s, alpha=0.8, restore=restore).ravel() for s in signs]
        shrunk = 1 / math.sqrt(1.8)
        matching = np.mean([[f[group == g].mean() for g in (0, 1)] for f in found], axis=0)
        if restore == "none":
            assert matching == pytest.approx(expected, abs=1e-12)
        else:
            assert matching == pytest.approx([shrunk * m + (1 - shrunk) * 2.5 for m in (1.5, 3.5)])
    c = Fraction(1, 2)  # α = 3, as in the example: its noise would be wider than four numbers
    moved = [c * m + (1 - c) * Fraction(5, 2) for m in (Fraction(3, 2), Fraction(7, 2))]
    assert moved == [2, 3]


def test_l25_correlated_noise_keeps_correlations_and_the_other_shrinks_them() -> None:
    rng = np.random.default_rng(7)
    base = rng.normal(size=(4000, 2))
    x = np.column_stack([base[:, 0], 0.8 * base[:, 0] + 0.6 * base[:, 1]])
    white = x - x.mean(axis=0)
    x = white @ np.linalg.inv(np.linalg.cholesky(np.cov(white, rowvar=False)).T)
    x = x @ np.linalg.cholesky([[1, 0.8], [0.8, 1]]).T
    drawn = rng.normal(size=x.shape)
    for noise, covariance, correlation in (("uncorrelated", 0.8, 0.4), ("correlated", 1.6, 0.8)):
        found = noisy(x, drawn, alpha=1.0, noise=noise)
        assert np.cov(found, rowvar=False)[0, 1] == pytest.approx(covariance, abs=0.1)
        assert np.corrcoef(found, rowvar=False)[0, 1] == pytest.approx(correlation, abs=0.05)


def test_l28_noise_that_is_drawn_again_for_one_table_is_the_same_and_averages_nothing() -> None:
    table: Table = {"x": list(range(40)), "y": list(range(40))}
    again = [
        made("additive-noise", table, ["x"], np.random.default_rng(3), alpha=0.5) for _ in range(2)
    ]
    assert again[0] == again[1]


def test_l29_an_outlier_stays_one() -> None:
    x = [0, 1, 2, 3, 100]
    alpha = 4 / float(np.var(x, ddof=1))  # so that what is drawn from [-1, 1] is at most 2
    crowd = []
    for drawn in itertools.product((-1, -0.5, 0.5, 1), repeat=5):
        answer = noisy(x, drawn, alpha=alpha).ravel()
        assert (np.abs(answer - 100) <= 2 + 1e-9).tolist() == [False] * 4 + [True]
        crowd.append(int((np.abs(answer - 2) <= 2 + 1e-9).sum()))
    assert max(crowd) == 4
    assert "outliers" in find("change", "additive-noise").leaves  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "x", "why"),
    [
        ({"alpha": 0.0}, [1, 2, 3], "changes nothing"),
        ({"alpha": math.inf}, [1, 2, 3], "alpha"),
        ({"alpha": 400.0}, [1, 2, 3], "wider than the column"),
        ({"alpha": 0.1}, [5, 5, 5], "the same"),
        ({"alpha": 0.1, "restore": "exact"}, [1, 2], "at least 3 rows"),
        ({"alpha": 0.1}, ["a", "b", "c"], "needs numbers"),
    ],
)
def test_bad_noise_is_refused(settings: dict[str, Any], x: list[Any], why: str) -> None:
    with pytest.raises(AnonError, match=why):
        made("additive-noise", {"x": x}, ["x"], np.random.default_rng(1), **settings)


def test_columns_that_follow_from_each_other_have_no_exact_noise() -> None:
    table: Table = {"x": list(range(9)), "y": [2 * v for v in range(9)]}
    with pytest.raises(BadPlan, match="follows from the others"):
        made("additive-noise", table, ["x", "y"], np.random.default_rng(1), restore="exact")
    found = made("additive-noise", table, ["x", "y"], np.random.default_rng(1), decimals=6)
    assert [2 * v for v in found["x"]] == pytest.approx(found["y"], abs=1e-4)  # along the line


def test_l30_a_mask_keeps_the_mean_and_its_variance_can_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind: Any = find("change", "multiplicative-noise")
    products: list[float] = []
    for pair in itertools.product((0.5, 1.5), repeat=2):
        monkeypatch.setattr(kind, "masks", lambda *_, pair=pair: np.array(pair))
        found = made("multiplicative-noise", {"x": [2, 4]}, ["x"], Scripted(), decimals=1)["x"]
        products += found
    assert np.mean(products) == 3
    assert np.var(products) == 3.5
    assert (np.var(products) - 0.25 * 9) / 1.25 == 1


def test_l31_a_ring_rules_out_that_a_number_is_nearly_true() -> None:
    ring: Any = find("change", "multiplicative-noise").from_mapping(
        {"mask": "ring", "near": 0.1, "far": 0.5}
    )
    masks = ring.masks(4000, np.random.default_rng(9))
    away = np.abs(masks - 1)
    assert away.min() >= 0.1
    assert away.max() <= 0.5
    assert masks.mean() == pytest.approx(1, abs=0.03)
    true = 99 / masks
    assert all(66 <= t <= 90 or 110 <= t <= 198 for t in true)
    assert true.min() < 67
    assert true.max() > 190


def test_l32_a_lognormal_mask_has_mean_1() -> None:
    change: Any = find("change", "multiplicative-noise").from_mapping({"variance": 0.25})
    z = np.array([0.0, 1.0, -1.0])
    found = np.log(change.masks(3, Scripted(numbers=z)))
    assert found[0] == pytest.approx(-0.111571775657, abs=1e-9)
    assert (found[1] - found[0]) ** 2 == pytest.approx(0.223143551314, abs=1e-9)
    drawn = change.masks(200_000, np.random.default_rng(2))
    assert drawn.mean() == pytest.approx(1, abs=0.01)
    assert drawn.var() == pytest.approx(0.25, abs=0.02)


def test_zeros_and_signs_stay_under_a_mask() -> None:
    found = made(
        "multiplicative-noise", {"x": [0, -5, 5, 0]}, ["x"], np.random.default_rng(1), decimals=3
    )["x"]
    assert [np.sign(v) for v in found] == [0, -1, 1, 0]


# ---- PRAM ----------------------------------------------------------------------------------------

P = read_transition("yes: 4/5, 1/5\nno: 1/10, 9/10")
EVEN = read_transition("yes: 4/5, 1/5\nno: 1/5, 4/5")


def test_l37_the_estimate_is_unbiased_and_its_variance_as_stated() -> None:
    true = [0, 0, 1]
    outcomes = list(itertools.product((0, 1), repeat=3))
    chance = [math.prod(P.rows[k][o] for k, o in zip(true, out, strict=True)) for out in outcomes]
    values = [P.estimated([out.count(0), out.count(1)]) for out in outcomes]
    mean = [sum(c * t[i] for c, t in zip(chance, values, strict=True)) for i in (0, 1)]
    assert mean == [2, 1]
    assert sum(c * (t[0] - 2) ** 2 for c, t in zip(chance, values, strict=True)) == Fraction(41, 49)
    published = [60 * P.rows[0][i] + 40 * P.rows[1][i] for i in (0, 1)]
    assert published == [52, 48]
    assert P.estimated([50, 50]) == [Fraction(400, 7), Fraction(300, 7)]


def test_l38_an_estimate_may_be_negative() -> None:
    assert P.estimated([95, 5]) == [Fraction(850, 7), Fraction(-150, 7)]


def test_l39_the_invariant_matrix_keeps_counts() -> None:
    made = EVEN.invariant([9, 1], Fraction(1))
    assert made.rows == (
        (Fraction(441, 481), Fraction(40, 481)),
        (Fraction(360, 481), Fraction(121, 481)),
    )
    half = EVEN.invariant([9, 1], Fraction(1, 2))
    assert half.rows == (
        (Fraction(461, 481), Fraction(20, 481)),
        (Fraction(180, 481), Fraction(301, 481)),
    )
    for matrix in (made, half):
        assert [9 * matrix.rows[0][i] + matrix.rows[1][i] for i in (0, 1)] == [9, 1]


def test_l40_what_a_published_value_tells() -> None:
    shares = [Fraction(9, 10), Fraction(1, 10)]
    assert EVEN.posterior(shares, 1)[1] == Fraction(4, 13)


def test_l41_a_fixed_matrix_gives_a_local_epsilon_and_no_other() -> None:
    assert EVEN.ratio() == 4
    assert EVEN.ratio() ** 2 == 16  # type: ignore[operator]
    assert read_transition("a: 1, 0\nb: 1/2, 1/2").ratio() is None
    recipe = find("change", "pram").from_mapping({"matrix": "yes: 4/5, 1/5\nno: 1/5, 4/5"})
    assert isinstance(recipe, Change)
    assert "e^ε = 4;" in recipe.guarantee()
    zero: Any = find("change", "pram").from_mapping({"matrix": "a: 1, 0\nb: 1/2, 1/2"})
    assert "no ε" in zero.guarantee()
    own: Any = find("change", "pram").from_mapping(
        {"matrix": "a: 1, 0\nb: 0, 1", "kind": "invariant"}
    )
    assert "guarantees no ε" in own.guarantee()


def test_l42_two_columns_together() -> None:
    both = Transition(
        categories=("00", "01", "10", "11"),
        rows=tuple(
            tuple(EVEN.rows[a][c] * EVEN.rows[b][d] for c in (0, 1) for d in (0, 1))
            for a in (0, 1)
            for b in (0, 1)
        ),
    )
    expected = ["500/9", "100/9", "100/9", "200/9"]
    assert both.estimated([40, 20, 20, 20]) == [Fraction(e) for e in expected]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("1/2, 1/3", "sums to 5/6"),
        ("3/2, -1/2", "negative entry"),
        ("1/3, 1/3", "sums to 2/3"),
        ("0.5, 0.49", "sums to 99/100"),
        ("1/2", "sums to 1/2"),
        ("a, b", "A line of the matrix"),
    ],
)
def test_l43_rows_that_are_refused(row: str, why: str) -> None:
    with pytest.raises(BadPlan, match=why):
        made("pram", {"x": ["yes", "no"]}, ["x"], Scripted(), matrix=f"yes: {row}\nno: 1/2, 1/2")


def test_l43_unknown_and_missing_values_are_refused() -> None:
    matrix = "yes: 4/5, 1/5\nno: 1/5, 4/5"
    with pytest.raises(BadPlan, match="no row for 'perhaps'"):
        made("pram", {"x": ["yes", "perhaps"]}, ["x"], Scripted(), matrix=matrix)
    with pytest.raises(BadPlan, match="missing value"):
        made("pram", {"x": ["yes", None]}, ["x"], Scripted(), matrix=matrix)
    declared = "yes: 1/2, 1/2\n: 1/2, 1/2"
    found = made(
        "pram", {"x": ["yes", None]}, ["x"], Scripted(numbers=iter([[0.9, 0.1]])), matrix=declared
    )
    assert found["x"] == [None, "yes"]


def test_l44_a_singular_matrix_masks_and_estimates_nothing() -> None:
    half = read_transition("yes: 1/2, 1/2\nno: 1/2, 1/2")
    with pytest.raises(BadPlan, match="singular"):
        half.estimated([5, 1])


def test_pram_publishes_with_the_chances_of_the_matrix() -> None:
    matrix = "yes: 4/5, 1/5\nno: 1/10, 9/10"
    table: Table = {"x": ["yes"] * 6000 + ["no"] * 4000}
    found = made("pram", table, ["x"], np.random.default_rng(8), matrix=matrix)["x"]
    assert Counter(found[:6000])["no"] == pytest.approx(1200, abs=120)
    assert Counter(found[6000:])["yes"] == pytest.approx(400, abs=80)


# ---- condensation --------------------------------------------------------------------------------


def test_l45_two_numbers_are_given_away_by_mean_and_variance() -> None:
    group = [1, 3]
    mean, square = Fraction(4, 2), Fraction(10, 2)
    assert square - mean**2 == 1
    assert sorted([mean - 1, mean + 1]) == group
    with pytest.raises(BadPlan, match="k of at least 3"):
        made("condensation", {"x": [1, 3, 5, 7]}, ["x"], np.random.default_rng(1), k=2)
    with pytest.raises(AnonError, match="'k'"):
        made("condensation", {"x": [1, 3]}, ["x"], np.random.default_rng(1), k=1)


def test_l46_a_group_of_equal_rows_is_published_as_it_is() -> None:
    found = made("condensation", {"x": [7, 7, 7]}, ["x"], np.random.default_rng(1), k=3)
    assert found["x"] == [7, 7, 7]


def test_l47_a_coordinate_is_uniform_over_the_width_of_its_eigenvalue() -> None:
    x = np.array([[-math.sqrt(3)], [math.sqrt(3)]])  # mean 0, eigenvalue 3
    ends = Scripted(numbers=iter([np.array([[0.0], [1.0]])]))
    assert regenerated(x, ends).ravel() == pytest.approx([-3, 3], abs=1e-12)  # type: ignore[arg-type]


def test_l48_a_group_of_2k_is_split_along_its_largest_axis() -> None:
    root = math.sqrt(3)
    low, high = moments_of(np.array([[-root], [root]])).halves()  # mean 0, eigenvalue 3
    for half, centre in ((low, -1.5), (high, 1.5)):
        assert half.mean[0] == pytest.approx(centre, abs=1e-12)
        assert half.covariance[0, 0] == pytest.approx(0.75, abs=1e-12)
    # The law of total variance: what is between the halves and within them is what was there.
    rng = np.random.default_rng(2)
    whole = moments_of(rng.normal(size=(20, 3)) @ rng.normal(size=(3, 3)))
    low, high = whole.halves()
    between = sum(np.outer(h.mean - whole.mean, h.mean - whole.mean) / 2 for h in (low, high))
    assert (low.covariance + high.covariance) / 2 + between == pytest.approx(whole.covariance)
    # Through the change: 2k rows are split, 2k - 1 are not, and every group has k at least.
    table: Table = {"x": [-root, root, -root, root, -root, root]}
    ends = Scripted(numbers=iter([np.array([[0.0], [0.5], [1.0]])] * 2))
    answer = made("condensation", table, ["x"], ends, k=3, growing=True, decimals=1)["x"]
    # Uniform of width √(12 · 3/4) = 3 around ±3/2; rows that were lower are put lower.
    assert sorted(answer[0::2]) == pytest.approx([-3.0, -1.5, 0.0], abs=0.01)
    assert sorted(answer[1::2]) == pytest.approx([0.0, 1.5, 3.0], abs=0.01)
    for size, groups in ((5, 1), (6, 2), (40, None)):
        found = grown(rng.normal(size=(size, 2)), 3, rng)
        assert groups in (None, len(found))
        assert sorted(r for own, _ in found for r in own.tolist()) == list(range(size))
        assert all(3 <= len(own) == m.rows < 6 for own, m in found)


def test_condensed_rows_keep_mean_and_covariance_of_large_groups() -> None:
    rng = np.random.default_rng(6)
    x = rng.multivariate_normal([10, -4], [[4, 1], [1, 2]], size=4000)
    found = regenerated(x, rng)
    assert found.mean(axis=0) == pytest.approx([10, -4], abs=0.2)
    assert np.cov(found, rowvar=False) == pytest.approx(np.cov(x, rowvar=False), abs=0.25)


def test_condensation_refuses_gaps_and_small_parts() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(BadPlan, match="miss values"):
        made("condensation", {"x": [1, None, 3, 4]}, ["x"], rng, k=3)
    with pytest.raises(BadPlan, match="fewer than k"):
        made(
            "condensation",
            {"x": [1, 2, 3, 4], "s": ["a", "a", "a", "b"]},
            ["x"],
            rng,
            k=3,
            within="s",
        )
