"""Uniques of a population estimated from a sample: a worked example, and simulated populations."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from anon_core.base.registry import find
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.population_uniques import (
    ClassSizes,
    Copula,
    SlideNegativeBinomial,
    class_sizes,
    estimates,
    fit_pitman,
    fit_slide,
    fitted,
    individual_uniqueness,
    match_correctness,
    population_classes,
    tells_enough,
    zayatz_share,
)
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.teaching.learn.lessons import linking

#: Rows of a class → classes of so many rows.
SIZES = {1: 70, 2: 14, 3: 6, 4: 3, 6: 2, 11: 1, 25: 1}


def sample(people: int) -> ClassSizes:
    return class_sizes(np.repeat(list(SIZES), list(SIZES.values())), people)


def test_the_parts_of_the_worked_example() -> None:
    small, large = sample(1000), sample(10_000)
    assert (small.rows, small.number, large.share) == (176, 97, 0.0176)
    model = fit_pitman(large)
    assert model is not None
    assert (model.theta, model.alpha) == (
        pytest.approx(16.8034, abs=5e-5),
        pytest.approx(0.62519, abs=5e-6),
    )
    assert zayatz_share(large) == pytest.approx(0.4299, abs=5e-5)
    assert zayatz_share(small) == pytest.approx(0.59092, abs=5e-6)
    assert population_classes(large) == pytest.approx(1502.2, abs=0.05)
    assert population_classes(small) == pytest.approx(309.68, abs=0.005)
    for one, (a, b) in ((large, (0.0569523, 0.0137538)), (small, (0.184964, 0.1000078))):
        slide = fit_slide(one)
        assert slide is not None
        assert (slide.a, slide.b) == (pytest.approx(a, abs=5e-7), pytest.approx(b, abs=5e-8))
    seen = SlideNegativeBinomial(a=2.5, b=0.6, classes=1).seen(0.5)
    assert seen == (pytest.approx(0.39580067, abs=5e-9), pytest.approx(0.2188321, abs=5e-8))


def journalist(people: int, sizes: dict[int, int]) -> AttackResult:
    """Return the attack on a release of a table with classes of these sizes."""
    classes = [size for size, times in sizes.items() for _ in range(times)]
    values = [f"v{i}" for i, size in enumerate(classes) for _ in range(size)]
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["q"]},
            "types": {"q": "text"},
            "population": {"size": people},
            "algorithm": {"name": "optimal"},
            "models": [{"name": "maximum-risk", "risk": 1.0}],
        }
    )
    found = run(plan, Dataset.from_frame(pd.DataFrame({"q": values})))
    return next(a for a in found.attacks if a.attack == "journalist")


@pytest.mark.parametrize(
    ("people", "uniques", "taken"),
    [
        (10_000, {"Pitman": 917.94, "Zayatz": 1709.84, "SNB": 1176.81}, "Pitman"),
        (1000, {"Pitman": 216.41, "Zayatz": 235.03, "SNB": 202.28}, "SNB"),
    ],
)
def test_the_journalist_shows_all_three_and_which_one_is_taken(
    people: int, uniques: dict[str, float], taken: str
) -> None:
    found = journalist(people, SIZES)
    details, _ = found.details
    assert {r["estimator"]: r["people"] for r in details.rows} == pytest.approx(uniques, abs=0.006)
    assert [r["estimator"] for r in details.rows if r["taken"]] == [taken]
    assert f"about {uniques[taken]:,.0f} people" in found.sentence


def test_no_class_of_one_row_is_told_as_no_protection() -> None:
    found = journalist(1000, {2: 5, 3: 4})
    (details,) = found.details
    assert [r["people"] for r in details.rows] == [0]
    assert "0 by construction" in found.sentence
    assert "does not mean that no one can be found" in details.note
    assert found.rate > 0


def test_nothing_but_uniques_or_one_class_leaves_an_estimate_out_not_wrong() -> None:
    for sizes in ({1: 40}, {1: 1}):
        found = journalist(4000, sizes)
        assert not found.details
        assert "is not estimated" in found.sentence
    people = journalist(4000, {1: 1, 39: 1}).details[0].rows
    assert len(people) == 3
    assert all(r["people"] == "no estimate" or 0 <= float(r["people"]) <= 4000 for r in people)


# ---- simulated populations -----------------------------------------------------------------------


def pitman_population(rng: np.random.Generator, people: int) -> np.ndarray:
    """Draw the classes of a population one person after the other, by Pitman's process."""
    theta, alpha = rng.uniform(5, 200), rng.uniform(0.2, 0.8)
    own = np.empty(people, dtype=np.int64)
    sizes: list[int] = []
    for i in range(people):
        if rng.random() * (theta + i) < theta + alpha * len(sizes):
            own[i] = len(sizes)
            sizes.append(1)
            continue
        while True:
            chosen = own[rng.integers(i)]
            if rng.random() * sizes[chosen] < sizes[chosen] - alpha:
                break
        own[i] = chosen
        sizes[chosen] += 1
    return own


def slide_population(rng: np.random.Generator, classes: int) -> np.ndarray:
    sizes = 1 + rng.negative_binomial(rng.uniform(0.1, 1), rng.uniform(0.05, 0.3), classes)
    return np.repeat(np.arange(classes), sizes)


#: Ways to draw a population, and the share of it that is sampled.
DRAWN = {"pitman": 0.05, "slide": 0.3, "most": 0.8}


def misses(number: int, kind: str) -> list[float]:
    """Return how far off the estimate that is taken is, as a share of all people."""
    found: list[float] = []
    for turn in range(number):
        rng = np.random.default_rng([811, turn])
        own = pitman_population(rng, 6000) if kind == "pitman" else slide_population(rng, 1200)
        drawn = rng.permutation(len(own))[: int(DRAWN[kind] * len(own))]
        values = estimates(class_sizes(np.bincount(own[drawn]), len(own)))
        taken = next(e for e in values if e.chosen)
        uniques = int(np.count_nonzero(np.bincount(own) == 1))
        assert taken.uniques is not None
        found.append(abs(taken.uniques - uniques) / len(own))
    return found


@pytest.mark.parametrize("kind", DRAWN)
def test_a_few_simulated_populations(kind: str) -> None:
    assert max(misses(4, kind)) < 0.08


@pytest.mark.long
@pytest.mark.parametrize("kind", DRAWN)
def test_a_hundred_simulated_populations(kind: str) -> None:
    found = misses(100, kind)
    assert np.quantile(found, 0.9) < 0.09
    assert np.mean(found) < 0.04


def test_too_few_rows_that_are_like_another_are_refused_and_said() -> None:
    few = class_sizes(np.array([1] * 10 + [2] * 15), 5000)
    assert (few.repeats, tells_enough(few)) == (15, False)
    with pytest.raises(ValueError, match="15 rows"):
        estimates(few)
    assert tells_enough(class_sizes(np.array([1] * 10 + [2] * 16), 5000))
    found = journalist(5000, {1: 10, 2: 15})
    assert "is not estimated: 15 of 40 rows" in found.sentence
    assert not found.details


@pytest.mark.parametrize("share", [0.001, 0.02, 0.1, 0.3, 0.9])
def test_no_estimate_says_more_than_the_chance_above_it(share: float) -> None:
    """A person who is unique is picked for sure: single rows are at risk as often, at least."""
    rng = np.random.default_rng(5)
    drawn = np.bincount(rng.geometric(0.02, 120))
    sizes = Counter(drawn[drawn > 0].tolist())
    people = round(120 / share)
    found = journalist(people, dict(sizes))
    estimated = next((t for t in found.details if "estimator" in t.rows[0]), None)
    assert estimated is not None
    (taken,) = (r for r in estimated.rows if r["taken"])
    implied = min(float(taken["people"]) * 120 / people / sizes[1], 1.0)
    assert found.worst >= implied - 1e-3
    assert "Indicative" in found.sentence
    assert "95" not in estimated.note


def test_a_likelihood_that_is_greatest_at_alpha_0_is_ewens_formula() -> None:
    """Classes of equal size: as printed, Pitman's uniques at α = 0 are N θ / (θ + N − 1)."""
    even = class_sizes(np.array([1] * 30 + [2] * 40 + [3] * 30 + [4] * 12), 4000)
    model = fit_pitman(even)
    assert model is not None
    assert model.alpha == 0
    assert model.uniques(4000) == pytest.approx(4000 * model.theta / (model.theta + 3999))


@pytest.mark.parametrize("people", [300, 6_000, 10**6, 10**9])
def test_extreme_class_sizes_end_in_an_estimate_and_in_no_error(people: int) -> None:
    for sizes in ([1] * 20 + [2] * 20, [1] * 1 + [2] * 99, [1] * 100 + [200], [1, 150]):
        if sum(sizes) <= people:
            for one in estimates(class_sizes(np.array(sizes), people)):
                assert one.uniques is None or 0 <= one.uniques <= people * 1.0000001


# ---- single people -------------------------------------------------------------------------------


def test_the_worked_example_of_a_copula() -> None:
    assert individual_uniqueness(0.003, 500) == pytest.approx(0.2232976, abs=5e-8)
    assert match_correctness(0.003, 500) == pytest.approx(0.5182482, abs=5e-8)
    two = Copula(
        below=(np.array([0, 0.3, 1]), np.array([0, 0.6, 1])),
        correlation=np.array([[1, 0.5], [0.5, 1]]),
    )
    rng = np.random.default_rng(0)
    cells = {
        (a, b): two.mass(np.array([a, b], dtype=np.int32), rng) for a in (0, 1) for b in (0, 1)
    }
    wanted = {(0, 0): 0.2465155, (0, 1): 0.0534845, (1, 0): 0.3534845, (1, 1): 0.3465155}
    assert cells == pytest.approx(wanted, abs=5e-7)
    assert sum(cells.values()) == pytest.approx(1)
    # A right match is that of a binomial number of others.
    others = binom.pmf(np.arange(500), 499, 0.003)
    assert match_correctness(0.003, 500) == pytest.approx(float((others / np.arange(1, 501)).sum()))


def test_the_journalist_tells_how_likely_single_rows_are_unique() -> None:
    """With one column the copula is the column: 1 of 176 rows says what a single row says."""
    _, singles = journalist(1000, SIZES).details
    assert len(singles.rows) == 5
    for row in singles.rows:
        assert row["unique in the population"] == pytest.approx((1 - 1 / 176) ** 999)
        assert row["a match is right"] == pytest.approx(match_correctness(1 / 176, 1000))


def test_a_fitted_copula_finds_the_correlation_it_was_drawn_with() -> None:
    rng = np.random.default_rng(4)
    normal = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 20_000)
    codes = np.clip(np.floor(normal * 4) + 12, 0, 24).astype(np.int32)
    found = fitted(codes, np.ones(len(codes), dtype=np.int64))
    assert found.correlation[0, 1] == pytest.approx(0.6, abs=0.02)


def test_l86_people_in_equally_likely_cells_are_not_all_unique() -> None:
    drawn = list(itertools.product("abc", repeat=3))  # three people in three cells
    alone = sum(sum(n == 1 for n in Counter(cells).values()) for cells in drawn)
    assert Fraction(alone, 3 * len(drawn)) == Fraction(4, 9)
    assert individual_uniqueness(1 / 3, 3) == pytest.approx(4 / 9)
    assert individual_uniqueness(1 / 4380, 4380) == pytest.approx(0.367921, abs=5e-7)


def test_l87_published_figures_name_their_census() -> None:
    assert round(216 / 248, 3) == 0.871
    shares = dict(linking.PRINTED)
    assert round(shares["date of birth, 1990"], 2) == 0.87  # Sweeney
    assert shares["date of birth, 2000"] == 0.633  # Golle: another census and another method
    attack = find("attack", "uniqueness")
    assert "Sweeney 2000" in attack.source
    assert "Golle 2006" in attack.source
    page = Path(__file__).parents[2].joinpath("docs", "guidance.md").read_text()
    for said in ("87 %", "63.3 %", "14.8 %", "1990", "2000"):
        assert said in page
