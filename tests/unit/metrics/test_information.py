"""Precision, entropy loss, divergence of pairs and change of correlations, by their definitions."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.release.release import Release
from anon_core.techniques.metrics.correlation_change import CorrelationChange
from anon_core.techniques.metrics.entropy_loss import EntropyLoss
from anon_core.techniques.metrics.kl_divergence import KlDivergence
from anon_core.techniques.metrics.precision import Precision
from tests.making import PATIENTS, Case, by_hand, random_case

CONTEXT = Context()


def test_a_small_release_by_hand() -> None:
    """Ages stay; of the ZIP codes 101, 102, 101, 201, 202, 202 the last digit goes."""
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert result.account.node == {"age": 0, "zip": 1}
    precision = result.measures["precision"]
    assert (precision.value, precision.share) == pytest.approx((0.75, 0.25))
    # Four cells had a value that two of their three rows have, two had one of one row.
    lost = 4 * math.log2(3 / 2) + 2 * math.log2(3)
    held = 4 * math.log2(6 / 2) + 2 * math.log2(6)
    entropy = result.measures["entropy-loss"]
    assert entropy.per_column == pytest.approx({"age": 0, "zip": lost / held})
    assert entropy.value == entropy.share == pytest.approx(lost / held / 2)
    assert entropy.also == pytest.approx({"bits per row": lost / 6})
    assert entropy.per_class == pytest.approx([lost / held / 2] * 2)
    # Each class publishes three rows spread evenly over two ZIP codes.
    divergence = 4 / 6 * math.log2((2 / 6) / (1.5 / 6)) + 2 / 6 * math.log2((1 / 6) / (1.5 / 6))
    pairs = {r["pair"]: r["bits lost"] for r in result.measures["kl-divergence"].details[0].rows}
    assert pairs["age × zip"] == pytest.approx(divergence)
    assert pairs["age × illness"] == 0
    figures = json.loads(json.dumps(figures_of(result), allow_nan=False))
    assert figures["metric_shares"]["precision"] == 0.25
    assert figures["metric_columns"]["entropy-loss"]["age"] == 0
    assert len(figures["metric_details"]["kl-divergence"][0]["rows"]) == 3


def cells_of(case: Case, release: Release) -> list[dict[str, list[str]] | None]:
    """Return for every row the leaves its cells cover, None where it is removed."""
    problem = release.problem
    member = release.grouping.of_rows(problem.frequency, np.random.default_rng(0))
    found: list[dict[str, list[str]] | None] = []
    for row, m in enumerate(member):
        one: dict[str, list[str]] = {}
        for name in problem.quasi:
            low, high = release.ends(name)
            leaves = problem.hierarchies[name]
            one[name] = [
                t
                for t, counts in zip(leaves.leaves, leaves.counted, strict=True)
                if low[m] <= leaves.code[t] <= high[m] and counts
            ]
        for name in problem.sensitive:
            one[name] = [case.column(name)[row]]
        found.append(one if m >= 0 else None)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_divergence_equals_its_definition(seed: int) -> None:
    rng = np.random.default_rng([211, seed])
    case = random_case(rng, rows=int(rng.integers(6, 24)), quasi=2, missing=False)
    plan = case.plan(algorithm={"name": "mondrian"}) if seed % 2 else case.plan()
    result = run(plan, case.dataset, case.levels)
    cells, problem, rows = cells_of(case, result.release), result.problem, len(case.rows)
    total = 0.0
    pairs = [("q0", "q1"), *itertools.product(("q0", "q1"), ("s0", "s1"))]
    for a, b in pairs:
        table = Counter(zip(case.column(a), case.column(b), strict=True))
        for (x, y), count in table.items():
            q = Fraction(0)
            for cell in cells:
                if cell is None:
                    size = problem.hierarchies[a].size * problem.hierarchies[b].size
                    q += Fraction(1, size)
                elif x in cell[a] and y in cell[b]:
                    q += Fraction(1, len(cell[a]) * len(cell[b]))
            total += count / rows * math.log2(count / q)
    found = result.measures["kl-divergence"]
    assert found.value == pytest.approx(total / len(pairs), abs=1e-9)


def test_columns_permuted_apart_meet_by_their_shares() -> None:
    case = Case(
        columns={"q": ["a", "b", "c", "d"], "s": ["x", "y", "x", "y"]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    problem = case.problem()
    apart = by_hand(problem, [0, 0, 1, 1], (("q",), ("s",)))
    found = KlDivergence().measure(problem, apart, CONTEXT)
    assert found.value == pytest.approx(1.0)  # each true pair is expected half as often
    linked = by_hand(problem, [0, 0, 1, 1], (("q", "s"),))
    assert KlDivergence().measure(problem, linked, CONTEXT).value == 0
    moved = CorrelationChange().measure(problem, apart, CONTEXT)
    assert (moved.value, moved.share) == pytest.approx((1.0, 1.0))  # V falls from 1 to 0


def test_many_values_are_compared_in_ranges() -> None:
    numbers = [str(i) for i in range(60)]
    case = Case(
        columns={"q": numbers, "s": ["a", "b"] * 30},  # type: ignore[dict-item]
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "number", "s": "text"},
    )
    problem = case.problem()
    release = by_hand(problem, [i // 2 for i in range(60)], (("q",), ("s",)))
    fine = KlDivergence(bins=60).measure(problem, release, CONTEXT)
    coarse = KlDivergence(bins=30).measure(problem, release, CONTEXT)
    assert fine.value == pytest.approx(1.0)
    assert coarse.value == pytest.approx(0.0, abs=1e-12)  # two neighbours hold one row of each


@pytest.mark.parametrize("seed", range(6))
def test_correlations_equal_numpy_and_textbook_formulas(seed: int) -> None:
    rng = np.random.default_rng([223, seed])
    x = rng.integers(0, 9, 80)
    y = x + rng.integers(0, 6, 80)
    label = np.where(y + rng.integers(0, 4, 80) > 9, "u", np.where(x > 4, "v", "w"))
    other = np.where(rng.random(80) < 0.7, label, "z")
    case = Case(
        columns={
            "x": [str(v) for v in x],
            "y": [str(v) for v in y],
            "label": label.tolist(),
            "other": other.tolist(),
        },
        quasi=("x", "y", "label"),
        sensitive=("other",),
        kinds={"x": "number", "y": "number", "label": "text", "other": "text"},
    )
    problem = case.problem()
    release = by_hand(problem, [0] * 80, (("x", "y", "label", "other"),))
    found = CorrelationChange().measure(problem, release, CONTEXT)
    assert found.share == 0
    before = {r["pair"]: r["before"] for r in found.details[0].rows}
    assert before["x × y"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    parts = [y[label == t] for t in np.unique(label)]
    between = sum(len(p) * (p.mean() - y.mean()) ** 2 for p in parts)
    assert before["y × label"] == pytest.approx(math.sqrt(between / ((y - y.mean()) ** 2).sum()))
    seen = np.array([[np.sum((label == a) & (other == b)) for b in "uvwz"] for a in "uvw"])
    even = np.outer(seen.sum(1), seen.sum(0)) / 80
    chi2 = ((seen - even) ** 2 / even).sum()
    assert before["label × other"] == pytest.approx(math.sqrt(chi2 / 80 / 2))


def test_an_averaged_number_that_rules_out_the_truth_stays_finite() -> None:
    case = Case(
        columns={"q": [str(v) for v in (1, 3, 10, 14)], "s": list("abab")},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "number", "s": "text"},
    )
    plan = case.plan(algorithm={"name": "microaggregation"})
    found = run(plan, case.dataset, case.levels).measures["kl-divergence"]
    assert 0 < found.value < 20
    assert found.share <= 1


def test_nothing_to_pair_is_said() -> None:
    case = Case(columns={"q": ["a", "b"]}, quasi=("q",), kinds={"q": "text"})
    for metric in (KlDivergence(), CorrelationChange()):
        assert "two columns" in metric.reason_not_applicable(case.problem())
    release = by_hand(case.problem(), [0, 0], (("q",),))
    for metric in (Precision(), EntropyLoss()):
        assert metric.measure(release.problem, release, CONTEXT).share == 0
