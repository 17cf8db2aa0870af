"""Attacks and metrics on changed values: examples enumerated by hand, through the release."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric, not_measured
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.closeness import filtered, lifts, spectral
from anon_core.release.attack_result import AttackResult
from anon_core.release.changed_rows import Before
from anon_core.release.ground_truth import truth_of
from anon_core.release.grouping import group_runs
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.problem import build_problem
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_level
from anon_core.techniques.changes.rank_swapping import partners
from anon_core.techniques.metrics.eigenvalue_difference import difference
from anon_core.techniques.metrics.em_reconstruction import (
    apart,
    disclosed,
    first_fit,
    identified,
    normal_chances,
    reconstructed,
    stepped,
)
from anon_core.techniques.metrics.propensity import saturated
from tests.golden.test_changed_values import every_outcome

Columns = dict[str, list[Any]]


def released(was: Columns, now: Columns) -> Release:
    """Return a release of exact rows that were changed from what they were."""
    tables = [Dataset.from_frame(pd.DataFrame(t).map(str)) for t in (was, now)]
    roles = Roles(quasi=tuple(now))
    problem = build_problem(tables[1], roles)
    before = Before(columns={n: tables[0].column(n) for n in now}, replaced=tuple(now))
    problem = replace(problem, before=before)
    runs = len(problem.frequency.run_count)
    return one_block(
        problem,
        group_runs(problem.frequency, np.arange(runs), runs),
        {h.column: of_level(h, 0) for h in problem.quasi_hierarchies},
        {n: problem.frequency.run_codes[:, d] for d, n in enumerate(problem.quasi)},
    )


def attacked(name: str, was: Columns, now: Columns, **settings: Any) -> list[AttackResult]:
    release = released(was, now)
    attack = find("attack", name).from_mapping(settings)
    assert isinstance(attack, Attack)
    audience = audience_of(release.problem)
    assert not not_applicable(attack, release.view, audience)
    truth = truth_of(release.problem, release)
    return list(attack.run(release.view, audience, truth, Context()))


def measured(name: str, was: Columns, now: Columns, **settings: Any) -> Any:
    release = released(was, now)
    metric = find("metric", name).from_mapping(settings)
    assert isinstance(metric, Metric)
    assert not not_measured(metric, release.problem, release)
    return metric.measure(release.problem, release, Context())


def columns(rows: list[Any]) -> Columns:
    values = [row if isinstance(row, list) else [row] for row in rows]
    return {f"c{d}": [row[d] for row in values] for d in range(len(values[0]))}


def test_l52_l53_linkage_by_distance_and_ties() -> None:
    (one,) = attacked("distance-linkage", columns([0, 1, 2, 3]), columns([0, 2, 1, 3]))
    assert (one.rate, one.baseline) == (0.5, 0.25)
    (two,) = attacked("distance-linkage", columns([0, 0, 3, 3]), columns([0, 0, 3, 3]))
    assert (two.rate, two.baseline, two.raw) == (0.5, 0.25, 0.5)


def test_l54_one_to_one_can_do_better() -> None:
    given = columns([0, 2]), columns([3, 9])
    assert attacked("distance-linkage", *given)[0].rate == 0.5
    assert attacked("distance-linkage", *given, matching="one-to-one")[0].rate == 1


def test_texts_are_0_or_1_apart() -> None:
    was = {"a": ["x", "y", "z"], "n": [1, 1, 1]}
    now = {"a": ["x", "y", "y"], "n": [1, 1, 1]}
    (found,) = attacked("distance-linkage", was, now)
    assert found.rate == pytest.approx((1 + 1 + 0) / 3)


def test_l55_an_interval_of_ranks_holds_the_truth_and_often_a_random_row() -> None:
    was, now = list(range(1, 11)), [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]
    (found,) = attacked("interval-disclosure", columns(was), columns(now), p=10)
    assert found.rate == 1
    assert found.baseline == pytest.approx(7 / 25)


def test_l56_an_interval_of_deviations_in_every_column() -> None:
    was, now = [[10, 1], [12, 3], [20, 5]], [[10, 2], [13, 3], [19, 9]]
    (found,) = attacked("interval-disclosure", columns(was), columns(now), by="deviations", k=0.5)
    assert found.succeeded == 2
    assert found.rate == pytest.approx(2 / 3)


ROWS = [[1, 9], [2, 7], [3, 8], [4, 1], [5, 2], [6, 3]]


def test_l20_windows_of_rank_swapping_always_hold_the_true_row() -> None:
    # w = 2 of 6 ranks is 34 % and no more.
    shown = [[2, 8], [1, 3], [4, 9], [3, 2], [6, 1], [5, 7]]
    (found,) = attacked("rank-windows", columns(ROWS), columns(shown), p=34)
    candidates = [1, 4, 4, 2, 3, 2]
    assert found.succeeded == pytest.approx(sum(1 / c for c in candidates))
    chances = Fraction(0)
    by_column = [
        list(every_outcome(lambda s: partners(6, 2, s)))  # type: ignore[arg-type]
        for _ in range(2)
    ]
    ordered = [sorted(r[d] for r in ROWS) for d in range(2)]
    for pair in itertools.product(*by_column):
        table = [
            [ordered[d][pair[d][0][ordered[d].index(row[d])]] for d in range(2)] for row in ROWS
        ]
        chance = pair[0][1] * pair[1][1]
        (one,) = attacked("rank-windows", columns(ROWS), columns(table), p=34)
        own = Fraction(one.succeeded).limit_denominator(1000)
        chances += chance * own / 6
        assert one.per_class.min() > 0  # the true row is never missed
    assert chances == Fraction(13, 32)


def test_l26_what_the_best_linear_filter_leaves() -> None:
    signal = np.array([[1.0, 0.8], [0.8, 1.0]])
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0, 0], signal, size=60_000)
    for noise, left in ((np.eye(2), 17 / 42), (signal, 0.5)):
        e = rng.multivariate_normal([0, 0], noise, size=len(x))
        guess = filtered(x + e, noise)
        assert ((guess - x) ** 2).mean(axis=0) == pytest.approx([left] * 2, abs=0.02)


def test_l27_a_projection_leaves_r_of_d_of_the_noise() -> None:
    direction = np.array([1.0, 1.0]) / np.sqrt(2)
    signs = np.array(list(itertools.product((-1, 1), repeat=2)), dtype=np.float64)
    left = signs @ np.outer(direction, direction)
    assert (signs**2).mean() == 1
    assert (left**2).mean() == pytest.approx(0.5)
    rng = np.random.default_rng(4)
    x = np.outer(rng.normal(0, 9, 20_000), direction)
    e = rng.choice([-1.0, 1.0], size=x.shape)
    assert ((spectral(x + e, 1.0) - x) ** 2).mean() == pytest.approx(0.5, abs=0.02)


def test_uncorrelated_noise_on_correlated_columns_is_filtered_best() -> None:
    rng = np.random.default_rng(2)
    x = rng.multivariate_normal([100, 100], [[400, 380], [380, 400]], size=1500).round(2)
    off: dict[str, float] = {}
    for noise in ("uncorrelated", "correlated"):
        change: Any = find("change", "additive-noise").from_mapping({"alpha": 1.0, "noise": noise})
        now = change.masked(x, rng.standard_normal(x.shape)).round(2)
        results = attacked(
            "noise-filter", columns(x.tolist()), columns(now.tolist()), alpha=1.0, noise=noise
        )
        off[noise] = results[0].rate - results[0].baseline
    assert off["uncorrelated"] > off["correlated"]


def test_l57_the_rarest_combination_is_accused() -> None:
    values = [
        ("child", "single", 4),
        ("adult", "single", 3),
        ("adult", "married", 4),
        ("child", "married", 1),
    ]
    rows = [(a, b) for a, b, count in values for _ in range(count)]
    one = np.unique([a for a, _ in rows], return_inverse=True)[1].astype(np.int64)
    other = np.unique([b for _, b in rows], return_inverse=True)[1].astype(np.int64)
    found = dict(zip(rows, lifts(one, other).tolist(), strict=True))
    wanted = {
        "child single": "48/35",
        "adult single": "36/49",
        "adult married": "48/35",
        "child married": "12/25",
    }
    assert {" ".join(k): v for k, v in found.items()} == pytest.approx(
        {k: float(Fraction(v)) for k, v in wanted.items()}
    )
    was = {"age": [a for a, _ in rows], "state": [b for _, b in rows]}
    was["state"][-1] = "single"  # the married child was swapped
    now = {"age": was["age"], "state": [b for _, b in rows]}
    found_rows = [r for r in attacked("swap-detection", was, now) if r.column == "state"]
    assert (found_rows[0].rate, found_rows[0].baseline) == (1, pytest.approx(1 / 12))


def test_l58_il1s_is_a_mean() -> None:
    found = measured("il1s", columns([0, 2, 4]), columns([1, 2, 3]))
    assert found.value == pytest.approx(0.23570226)
    assert 3 * found.value == pytest.approx(0.707106781)


def test_l59_eigenvalues_and_what_they_are_blind_to() -> None:
    matrices = [np.array([[1, r], [r, 1]]) for r in (0.8, 0.4, -0.8)]
    assert difference(matrices[0], matrices[1]) == pytest.approx(20 / 9)
    assert difference(matrices[0], matrices[2]) == pytest.approx(0)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 2)).round(3)
    x[:, 1] += x[:, 0]
    turned = x * [1, -1]
    assert (
        measured("eigenvalue-difference", columns(x.tolist()), columns(turned.tolist())).value
        < 1e-9
    )
    release = released(columns([[1, 2], [2, 4], [3, 6]]), columns([[1, 2], [2, 4], [3, 7]]))
    metric: Any = find("metric", "eigenvalue-difference")()
    assert "follows from the others" in not_measured(metric, release.problem, release)


def test_l60_a_saturated_propensity_score() -> None:
    found, chance = saturated(np.array([30, 20, 10]), np.array([20, 20, 20]))
    assert (found, chance, found / chance) == pytest.approx((1 / 90, 1 / 480, 16 / 3))
    was = {"c": [*"a" * 30, *"b" * 20, *"c" * 10]}
    now = {"c": [*"a" * 20, *"b" * 20, *"c" * 20]}
    assert measured("propensity", was, now).value == pytest.approx(16 / 3)


def test_l61_a_swap_is_seen_in_pairs_alone() -> None:
    was = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    now = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    found, chance = saturated(np.array([2, 0, 0, 2]), np.array([1, 1, 1, 1]))
    assert (found, found / chance) == pytest.approx((1 / 12, 16 / 9))
    assert measured("propensity", was, now).value == pytest.approx(16 / 9)
    for name in ("a", "b"):  # each column by itself: nothing
        counts = [np.bincount([int(v) for v in t[name]]) for t in (was, now)]
        assert saturated(*counts)[0] == 0


RNG = np.random.default_rng(12)
BASE = RNG.normal(100, 20, size=(120, 1))
TOGETHER = np.hstack([BASE, BASE + RNG.normal(0, 2, size=(120, 1))]).round(2)
APART = RNG.normal(100, 20, size=(120, 2)).round(2)
LITTLE = (TOGETHER + RNG.normal(0, 0.2, size=(120, 2))).round(2)
OTHERS = TOGETHER[RNG.permutation(120)]
SWAPPED = {"a": [i % 2 for i in range(40)], "b": [i % 2 for i in range(36)] + [1, 0, 1, 0]}
TRUE = {"a": SWAPPED["a"], "b": [i % 2 for i in range(40)]}
LOT = {"a": RNG.integers(0, 2, 40).tolist(), "b": RNG.integers(0, 2, 40).tolist()}
LOT_TRUE = {"a": LOT["a"], "b": [1 - v if i < 4 else v for i, v in enumerate(LOT["b"])]}


# ---- reconstruction ------------------------------------------------------------------------------

# x = 0, 1, 2 with noise of -1, 0 or 1, each with chance 1/3: published -1 to 3.
_TWO = np.random.default_rng(14)
_TRUE = np.concatenate([_TWO.normal(0, 1, 3000), _TWO.normal(9, 1, 1000)]).round(3)
_NOISE = _TWO.normal(0, np.sqrt(0.5 * np.var(_TRUE)), 4000)
NOISY: tuple[Columns, Columns] = (
    {"c0": _TRUE.tolist()},
    {"c0": (_TRUE + _NOISE).round(3).tolist()},
)
THIRDS = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]) / 3
COUNTED = np.array([1.0, 2, 4, 3, 2])


def test_l33_rounds_of_em_and_their_limit() -> None:
    def likelihood(share: Any) -> float:
        return float((COUNTED * np.log(np.asarray(share) @ THIRDS)).sum())

    share = np.full(3, 1 / 3)
    assert likelihood(share) == pytest.approx(-18.506509871, abs=1e-9)
    for exact, of in (
        (["5/18", "23/72", "29/72"], -18.290221095),
        (["1177/4644", "73945/241488", "2473/5616"], -18.234073065),
    ):
        share = stepped(THIRDS, COUNTED, share)
        assert share == pytest.approx([float(Fraction(e)) for e in exact], abs=1e-15)
        assert likelihood(share) == pytest.approx(of, abs=1e-9)
    limit, rounds, converged = reconstructed(THIRDS, COUNTED)
    assert converged
    assert 2 < rounds < 5000
    assert limit == pytest.approx([0.25, 0.25, 0.5], abs=1e-3)
    assert likelihood(limit) == pytest.approx(-18.205276765, abs=1e-6)
    grid = [(a, b, 60 - a - b) for a in range(61) for b in range(61 - a)]
    with np.errstate(divide="ignore"):
        most = max(likelihood(np.array(point) / 60) for point in grid)
    assert likelihood([0.25, 0.25, 0.5]) >= most - 1e-12


def test_l34_what_is_not_identified_stays_at_its_start() -> None:
    half = np.full((2, 2), 0.5)
    start = np.array([0.25, 0.75])
    assert stepped(half, np.array([5.0, 1.0]), start).tolist() == [0.25, 0.75]
    assert not identified(half)
    assert identified(THIRDS)
    note = measured("em-reconstruction", *NOISY, alpha=50.0, bins=40).details[0].note
    assert "Not identified" in note
    assert "Not identified" not in measured("em-reconstruction", *NOISY, bins=6).details[0].note


def test_l35_the_error_is_half_the_sum_of_differences() -> None:
    assert apart(np.array([0.5, 0.25, 0.25]), np.array([0.4, 0.4, 0.2])) == pytest.approx(3 / 20)


def test_l36_information_on_average_and_the_surest_guess() -> None:
    bits, worst = disclosed(THIRDS, np.full(3, 1 / 3))
    assert bits == pytest.approx(0.612197223, abs=1e-9)
    assert 1 - 2**-bits == pytest.approx(0.345800402, abs=1e-9)
    assert worst == 1.0  # a published -1 or 3 tells x for certain


def test_em_comes_nearer_to_the_truth_than_what_is_published() -> None:
    found = measured("em-reconstruction", *NOISY, alpha=0.5, bins=20)
    assert found.value == found.per_column["c0"] < 0.75 * found.also["published as it is, 'c0'"]
    assert 0 < found.also["lost privacy, 'c0'"] < 1
    true, now = (np.array(t["c0"]) for t in NOISY)
    back = {"c0": (now.mean() + (now - now.mean()) / np.sqrt(1.5)).tolist()}  # restored
    again = measured("em-reconstruction", NOISY[0], back, alpha=0.5, bins=20, restored=True)
    assert again.value == pytest.approx(found.value, abs=0.02)
    edges = np.linspace(now.min(), now.max(), 21)
    by_hand = np.histogram(true, [-np.inf, *edges[1:-1], np.inf])[0] / len(true)
    assert [row["true"] for row in found.details[0].rows] == pytest.approx(by_hand.tolist())


def test_late_rounds_of_em_fit_chance_and_the_first_that_fits_does_not() -> None:
    """Of a smooth column with little noise the limit is worse than the noisy numbers."""
    rng = np.random.default_rng(5)
    true = rng.gamma(6, 5, 20_000)
    spread = np.sqrt(0.1) * true.std(ddof=1)
    edges = np.linspace(*np.quantile(true, [0, 1]), 51)
    inner, chances = edges[1:-1], normal_chances(edges, spread)
    shares = [
        np.bincount(np.searchsorted(inner, v, side="right"), minlength=50) / len(v)
        for v in (true, true + rng.normal(0, spread, len(true)))
    ]
    counted = shares[1] * len(true)
    limit, _, _ = reconstructed(chances, counted)
    found = first_fit(chances, counted)
    assert found is not None
    early, rounds = found
    expected = early @ chances * len(true)
    held = counted > 0
    assert 2 * (counted[held] * np.log(counted[held] / expected[held])).sum() <= 50
    before = np.full(50, 1 / 50)
    for _ in range(rounds - 1):
        before = stepped(chances, counted, before)
    rest = before @ chances * len(true)
    assert 2 * (counted[held] * np.log(counted[held] / rest[held])).sum() > 50
    noisy = apart(shares[0], shares[1])
    assert apart(shares[0], early) < noisy < apart(shares[0], limit)
    assert first_fit(THIRDS[:2], np.array([0.0, 0, 0, 0, 9])) is None  # nothing explains it


def test_chances_of_bins_are_what_draws_show() -> None:
    rng = np.random.default_rng(3)
    edges = np.array([0.0, 1, 2, 4])
    found = normal_chances(edges, 0.7)
    assert found.sum(axis=1) == pytest.approx(1)
    for k, (low, high) in enumerate(itertools.pairwise(edges)):
        now = rng.uniform(low, high, 40_000) + rng.normal(0, 0.7, 40_000)
        drawn = np.bincount(np.searchsorted(edges[1:-1], now), minlength=3) / 40_000
        assert found[k] == pytest.approx(drawn, abs=0.01)


@pytest.mark.parametrize(
    ("name", "leak", "control", "settings"),
    [
        ("distance-linkage", (TOGETHER, LITTLE), (TOGETHER, OTHERS), {}),
        ("interval-disclosure", (TOGETHER, LITTLE), (TOGETHER, OTHERS), {}),
        ("rank-windows", (APART, APART), (OTHERS, TOGETHER), {"p": 2}),
        (
            "noise-filter",
            (TOGETHER, TOGETHER + RNG.normal(0, 6, size=(120, 2))),
            (TOGETHER, RNG.normal(100, 20, size=(120, 2))),
            {"alpha": 0.1, "noise": "uncorrelated"},
        ),
        ("swap-detection", (TRUE, SWAPPED), (LOT_TRUE, LOT), {}),
    ],
)
def test_a_planted_leak_is_found_and_its_control_is_not(
    name: str, leak: Any, control: Any, settings: dict[str, Any]
) -> None:
    shown: list[float] = []
    for was, now in (leak, control):
        given = [t if isinstance(t, dict) else columns(np.round(t, 2).tolist()) for t in (was, now)]
        results = attacked(name, *given, **settings)
        shown.append(max(r.rate - r.baseline for r in results if r.column != "a"))
    assert shown[0] > 0.3
    assert abs(shown[1]) < shown[0] / 3


def test_attacks_and_metrics_on_unchanged_values_are_not_run_and_the_reverse() -> None:
    from anon_core.base.registry import family

    changed = released(TRUE, SWAPPED)
    plain = replace(changed, problem=replace(changed.problem, before=None))
    for which in ("attack", "metric"):
        for name, kind in family(which).items():  # type: ignore[arg-type]
            made: Any = kind()
            for release in (changed, plain):
                why = (
                    not_applicable(made, release.view, audience_of(release.problem))
                    if which == "attack"
                    else not_measured(made, release.problem, release)
                )
                if bool(release.problem.replaced) != made.needs.changed:
                    assert why, name
