"""Privacy models by estimate and by share: k-map by the size of the population, share at risk.

PE-19, 20, 22, 23 and PE-24 to PE-30, each found by looking at all nodes of the table of
`test_preferences`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from anon_core.base.errors import AnonError, BadPlan, Infeasible
from anon_core.contracts.group_stats import GroupStats
from anon_core.methods.reidentification.population_uniques import (
    class_sizes,
    zayatz,
    zayatz_share,
)
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.private_reference import reference_of
from anon_core.techniques.models.k_map_by_size import KMapBySize, least_rows
from anon_core.techniques.models.population_uniques import PopulationUniques, uniques_share
from anon_core.techniques.models.share_at_risk import ShareAtRisk
from anon_core.verification.checks import verify
from anon_core.verification.models.risk import _rows_enough, _singles_left, _unique
from anon_core.verification.release_only import verify_release_only
from tests.golden.test_preferences import CASE, LEVELS, QUASI, node

SHARES = (0.01, 0.1, 0.25, 0.5)


def ran(*models: dict[str, Any], budget: float = 0.0, **more: Any) -> Result:
    plan = CASE.plan(
        algorithm={"name": "optimal", "max_suppression": budget}, models=list(models), **more
    )
    return run(plan, CASE.dataset, LEVELS)


def at(levels: tuple[int, int, int], *models: dict[str, Any], budget: float = 0.0) -> Result:
    fixed = {"name": "fixed-levels", "levels": dict(zip(QUASI, levels, strict=True))}
    plan = CASE.plan(algorithm={**fixed, "max_suppression": budget}, models=list(models))
    return run(plan, CASE.dataset, LEVELS)


@pytest.mark.parametrize(
    ("k", "least"),
    [
        (3, (2, 3, 3, 3)),
        (5, (2, 3, 4, 5)),
        (10, (2, 4, 6, 8)),
        (20, (3, 5, 9, 14)),
        (50, (3, 10, 18, 31)),
    ],
)
def test_least_classes_by_the_share_that_was_drawn(k: int, least: tuple[int, ...]) -> None:
    """PE-19, by both computations; PE-20: without the condition single rows would pass."""
    for share, rows in zip(SHARES, least, strict=True):
        assert least_rows(k, share, 0.05) == rows
        assert _rows_enough(k - 1, Fraction(str(share)), Fraction(1, 20)) == rows


def test_both_computations_agree_on_least_classes_and_with_floats() -> None:
    rng = np.random.default_rng(41)
    for _ in range(300):
        k = int(rng.integers(2, 40))
        share, alpha = round(float(rng.uniform(0.001, 0.999)), 3), round(float(rng.random()), 2)
        alpha = max(alpha, 0.01)
        rows = least_rows(k, share, alpha)
        assert rows == _rows_enough(k - 1, Fraction(str(share)), Fraction(str(alpha)))
        assert rows <= least_rows(k + 1, share, alpha)  # the form's range relies on it
        some = 1 - (1 - share) ** (k - 1)

        def above(c: int, k: int = k, share: float = share) -> float:
            drawn = range(c, k)
            return sum(math.comb(k - 1, x) * share**x * (1 - share) ** (k - 1 - x) for x in drawn)

        assert above(rows) / some <= alpha + 1e-9
        assert rows == 1 or above(rows - 1) / some > alpha - 1e-9


def test_the_largest_k_is_reckoned_at_once() -> None:
    """A field of a page asks for it at every draw."""
    for share in (0.001, 0.1, 0.987):
        rows = least_rows(2000, share, 0.05)
        assert rows == _rows_enough(1999, Fraction(str(share)), Fraction(1, 20))
        model = KMapBySize(k=5, share=share)
        (allowed,) = model.feasible(CASE.problem())
        assert allowed.high is not None
        assert least_rows(int(allowed.high), share, 0.05) <= len(CASE.rows)
        assert allowed.high == 2000 or least_rows(int(allowed.high) + 1, share, 0.05) > 12


def test_k_map_by_size_as_a_search() -> None:
    """PE-22: 12 of 120 people, k = 5: classes of 3 rows, least loss 2/3."""
    model = {"name": "k-map-by-size", "k": 5, "share": 0.1}
    found = ran(model, population={"size": 120})
    assert found.verdicts[0].bound == 3
    assert found.measures["ncp"].share == pytest.approx(2 / 3)
    assert node(found) in {(0, 2, 2), (1, 2, 0)}
    stricter = found.plan.completed() | {"models": [{**model, "k": 20, "alpha": 0.05}]}
    (check,) = [
        c for c in verify(stricter, CASE.frame, LEVELS, dict(found.files)).checks
        if c.name == "k-map-by-size"
    ]  # fmt: skip
    assert check.bound == 5
    assert check.holds == (found.release.view.group_size.min() >= 5)


@pytest.mark.parametrize(
    ("model", "people", "error", "said"),
    [
        ({}, 120, BadPlan, "k-anonymity"),
        ({"share": 0.01}, 120, BadPlan, "Set share to 0.1"),
        ({"share": 0.5, "k": 30}, 24, Infeasible, "at most 24"),
        ({"share": 0.9, "k": 50}, None, Infeasible, "smaller k"),
        ({"share": 0.0}, None, AnonError, "share"),
    ],
)
def test_shares_that_cannot_be(
    model: dict[str, Any], people: int | None, error: type[AnonError], said: str
) -> None:
    more: dict[str, Any] = {} if people is None else {"population": {"size": people}}
    with pytest.raises(error) as refused:
        ran({"name": "k-map-by-size", **model}, **more)
    assert said in f"{refused.value.message} {refused.value.remedy}"


@pytest.mark.parametrize(
    ("levels", "above_half", "above_third"),
    [
        ((0, 0, 0), "1/2", "1"),
        ((0, 1, 0), "1/4", "3/4"),
        ((0, 2, 0), "1/6", "1/2"),
        ((0, 2, 1), "1/12", "1/4"),
        ((1, 1, 2), "0", "0"),
    ],
)
def test_share_at_risk_of_five_nodes(
    levels: tuple[int, int, int], above_half: str, above_third: str
) -> None:
    """PE-24: 1/2 is uniqueness; 1/3 as the decimal that is nearest below classes of three."""
    for risk, share in ((0.5, above_half), (0.334, above_third)):
        found = at(levels, {"name": "share-at-risk", "risk": risk, "share": 1.0})
        assert found.verdicts[0].reached == float(Fraction(share))
        (check,) = [c for c in found.verification.checks if c.name == "share-at-risk"]
        assert check.holds
        assert check.reached == float(Fraction(share))


@pytest.mark.parametrize(
    ("share", "best", "loss"), [(0.25, (0, 1, 0), 1 / 16), (0.1, (0, 2, 1), 11 / 24)]
)
def test_the_best_node_by_a_share(share: float, best: tuple[int, int, int], loss: float) -> None:
    """PE-25."""
    found = ran({"name": "share-at-risk", "risk": 0.5, "share": share})
    assert node(found) == best
    assert found.account.proven
    assert found.measures["loss"].share == pytest.approx(loss)


@pytest.mark.parametrize(("share", "removed", "left"), [(0.1, 2, 0.1), (0.0909, 3, 0.0)])
def test_the_fewest_rows_go(share: float, removed: int, left: float) -> None:
    """PE-26: of 12 rows 3 are unique; shares are of the published rows."""
    found = at((0, 1, 0), {"name": "share-at-risk", "risk": 0.5, "share": share}, budget=0.3)
    assert found.release.suppressed == removed
    assert found.verdicts[0].reached == pytest.approx(left)
    assert found.verification.holds


def test_removing_a_good_class_can_break_it() -> None:
    """PE-27."""
    model = ShareAtRisk(risk=0.5, share=0.25)
    assert not model.logic.monotone_suppress
    sizes = np.array([1, 2, 2])
    stats = GroupStats(sizes=sizes, histograms={}, cells={"a": np.arange(3, dtype=np.int32)})
    of = reference_of(CASE.problem())
    assert model.settle(stats, np.ones(3, dtype=np.bool_), of).all()
    left = model.settle(stats, np.array([True, True, False]), of)
    assert left.tolist() == [False, True, False]


def test_a_mean_and_a_share_together() -> None:
    """PE-28."""
    found = ran(
        {"name": "average-risk", "risk": 0.3}, {"name": "share-at-risk", "risk": 0.5, "share": 0.2}
    )
    assert node(found) in {(0, 2, 2), (1, 2, 0)}


@pytest.mark.parametrize(
    ("people", "uniques"),
    [(20, Fraction(190, 27)), (100, Fraction(450, 17)), (1000, 251.383995974)],
)
def test_pe_29_uniques_of_the_population(people: int, uniques: float | Fraction) -> None:
    """Zayatz' estimate where every column is as it is; of 12 rows 6 are unique."""
    sizes = at((0, 0, 0), {"name": "maximum-risk", "risk": 1.0}).class_sizes
    assert sorted(sizes.tolist()) == [1, 1, 1, 1, 1, 1, 2, 2, 2]
    found = zayatz(class_sizes(sizes, people))
    assert found == pytest.approx(float(uniques))
    assert found is not None
    assert zayatz_share(class_sizes(sizes, people)) * 6 / 12 * people == pytest.approx(found)


UNIQUES = {"name": "population-uniques", "people": 100, "share": 0.05}


def test_pe_30_as_a_privacy_model() -> None:
    """At most 5 % of 100 people: (0, 2, 0), nothing removed."""
    found = ran(UNIQUES)
    assert node(found) == (0, 2, 0)
    assert found.account.proven
    assert found.measures["loss"].share == pytest.approx(1 / 3)
    (verdict,) = found.verdicts
    assert verdict.reached * 100 == pytest.approx(3.239312472)
    assert "3.2 of 100 people" in verdict.sentence
    assert "6 of 12 rows are like an earlier one" in verdict.sentence
    (check,) = [c for c in found.verification.checks if c.name == "population-uniques"]
    assert (check.outcome, check.reached) == ("holds", pytest.approx(0.03239312472))
    with pytest.raises(Infeasible):
        at((0, 1, 0), UNIQUES)


def test_the_release_alone_says_how_many_are_unique(tmp_path: Path) -> None:
    found = ran(UNIQUES)
    folder = tmp_path / "out"
    folder.mkdir()
    for name, content in found.files.items():
        (folder / name).write_bytes(content)
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(found.recipe.completed()))
    alone = verify_release_only(tmp_path / "recipe.toml", folder)
    (check,) = [c for c in alone.checks if c.name == "population-uniques"]
    assert (check.outcome, check.reached) == ("holds", pytest.approx(0.03239312472))


@pytest.mark.parametrize("people", [13, 20, 100, 10**6])
def test_the_estimate_is_that_of_the_attack_and_of_both_computations(people: int) -> None:
    rng = np.random.default_rng(people)
    for _ in range(40):
        sizes = rng.choice([1, 1, 1, 2, 3, 5], 3 + int(rng.integers(9)))
        of, more = Counter(sizes.tolist()), people + int(sizes.sum())
        kinds = np.array(sorted(set(of) - {1}), dtype=np.int64)
        found = uniques_share(of[1], kinds, np.array([of[i] for i in kinds.tolist()]), more)
        assert found == pytest.approx(float(_unique(of, more)), rel=1e-12)
        assert found * more == pytest.approx(zayatz(class_sizes(sizes, more)), rel=1e-6)


def test_the_fewest_rows_go_for_few_uniques_and_they_are_single() -> None:
    """Against every choice of classes; what verification says of fewer and of other rows."""
    rng = np.random.default_rng(47)
    of, moved = reference_of(CASE.problem()), 0
    for _ in range(60):
        sizes = rng.choice([1, 1, 2, 3], 6)
        model = PopulationUniques(people=int(sizes.sum() + rng.integers(1, 30)), share=0.1)
        stats = GroupStats(sizes=sizes, histograms={}, cells={"a": np.arange(6, dtype=np.int32)})
        left = model.settle(stats, np.ones(6, dtype=np.bool_), of)
        gone = int(sizes[~left].sum())
        ways = [np.array(w) for w in itertools.product((False, True), repeat=6) if any(w)]
        good = [w for w in ways if _unique(Counter(sizes[w].tolist()), model.people) <= 0.1]
        fewest = min((int(sizes[~w].sum()) for w in good), default=int(sizes.sum()))
        assert gone == fewest
        moved += gone > 0
        every, share = np.ones(6, dtype=np.bool_), Fraction(1, 10)
        assert not _singles_left(sizes, model.people, share, every, left).any()
        single = np.flatnonzero(left & (sizes == 1))
        if len(single):
            other = left.copy()
            other[single[0]] = False
            assert _singles_left(sizes, model.people, share, every, other).any()
    assert moved > 20


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ({"people": 0}, {}, "people, such as"),
        ({"people": 0}, {"population": {"size": 90}}, "Set people to 90"),
        ({"people": 12}, {}, "cannot be a sample"),
        ({"people": 100}, {"population": {"size": 90}}, "contradict"),
    ],
)
def test_populations_that_cannot_be(model: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(BadPlan) as refused:
        ran({**UNIQUES, **model}, **more)
    assert said in f"{refused.value.message} {refused.value.remedy}"


def test_pe_30_the_estimate_of_every_node() -> None:
    """Of all 18 nodes (0, 2, 0) loses least of those with at most 5 % of 100 people unique."""
    fits: list[tuple[float, tuple[int, ...], float]] = []
    for levels in itertools.product(range(2), range(3), range(3)):
        found = at(levels, {"name": "maximum-risk", "risk": 1.0})
        estimate = zayatz(class_sizes(found.class_sizes, 100)) or 0.0
        alone = (found.class_sizes == 1).any()
        # An estimate of 0 does not pass where rows are unique.
        if estimate <= 5 and (estimate > 0 or not alone):
            fits.append((found.measures["loss"].value, levels, estimate))
    loss, levels, estimate = min(fits)
    assert levels == (0, 2, 0)
    assert loss == pytest.approx(1 / 3)
    assert estimate == pytest.approx(3.239312472)
