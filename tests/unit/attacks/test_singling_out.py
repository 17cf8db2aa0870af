"""Singling out: exact chances, over all hashes and over all tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.data.table import Dataset
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.techniques.attacks.singling_out import SinglingOut, by_chance, by_hash
from tests.making import Case, by_hand


def test_the_trick_on_pairs_of_neighbours_over_all_tables() -> None:
    """Four rows drawn from 64 values, sorted, neighbours paired: exact over all tables."""
    x = np.stack(np.triu_indices(64), axis=1)  # sorted pairs; then pairs of pairs in order
    first, second = (a.ravel() for a in np.indices((len(x), len(x))))
    kept = x[first, 1] <= x[second, 0]
    rows = np.concatenate([x[first[kept]], x[second[kept]]], axis=1)
    new = np.diff(rows, axis=1, prepend=-1) > 0
    run = np.cumsum(new, axis=1)
    size = np.stack([(run == n + 1).sum(axis=1) for n in range(4)], axis=1)
    factorial = np.array([1, 1, 2, 6, 24])
    orders = 24 / factorial[size].prod(axis=1)
    assert orders.sum() == 64**4
    lower = rows[:, 1] - rows[:, 0] <= rows[:, 3] - rows[:, 2]
    low = np.where(lower, rows[:, 0], rows[:, 2])[:, None]
    high = np.where(lower, rows[:, 1], rows[:, 3])[:, None]
    inside = (rows >= low) & (rows <= high) & new
    of_run = np.take_along_axis(size, run - 1, axis=1)
    single, distinct = (inside & (of_run == 1)).sum(axis=1), inside.sum(axis=1)
    success = by_hash(single, distinct, np.full(len(rows), 0.5))
    weight = (high - low + 1)[:, 0] / 64 / 2
    assert success @ orders / 64**4 == pytest.approx(0.46190643310546875)
    assert weight @ orders / 64**4 == pytest.approx(0.057751476764678955)
    assert by_chance(weight, 4) @ orders / 64**4 == pytest.approx(0.17724342866858933)


def test_every_hash_is_counted() -> None:
    """The population has 3,000 people; a class of three, of whom two are alike in everything."""
    case = Case(
        columns={"a": ["x", "x", "x", "y", "y"], "b": ["p", "p", "q", "p", "q"]},
        quasi=("a",),
        sensitive=("b",),
        kinds={"a": "text", "b": "text"},
    )
    people = Case(
        columns={"a": ["x"] * 3 + ["y"] * 2 + ["z"] * 2995},
        quasi=("a",),
        kinds={"a": "text"},
    )
    problem = case.problem(Dataset.from_frame(people.frame, kinds=people.kinds))
    release = by_hand(problem, [0, 0, 0, 1, 1], (("a", "b"),))
    (found,) = SinglingOut().run(
        release.view, audience_of(problem), truth_of(problem, release), Context()
    )

    def chance(tuples: list[int], share: float) -> float:
        """Return the chance by all hashes: which of the tuples pass."""
        return sum(
            np.prod([share if on else 1 - share for on in passing])
            for passing in product((0, 1), repeat=len(tuples))
            if sum(n for n, on in zip(tuples, passing, strict=True) if on) == 1
        )

    assert found.per_class.tolist() == pytest.approx([chance([2, 1], 1 / 3), chance([1, 1], 0.5)])
    assert found.rate == pytest.approx(found.per_class.sum() / 5)
    assert found.baseline == pytest.approx(by_chance(np.full(2, 1 / 3000), 5).sum() / 5)
    assert (found.at_risk, found.raw) == (5, found.raw)
    assert "2 of 2 classes" in found.sentence
    (heavy,) = SinglingOut(light=1e-4).run(
        release.view, audience_of(problem), truth_of(problem, release), Context()
    )
    assert (heavy.rate, heavy.baseline, heavy.at_risk) == (0, 0, 0)
    assert "light enough" in heavy.sentence
