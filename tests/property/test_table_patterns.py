"""Cutting planes find what trying every set finds; what is suppressed passes the exact audit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from anon_core.base.errors import Infeasible
from anon_core.tables.audit import Insider, audit
from anon_core.tables.suppression import costs_of, suppress
from anon_core.tables.system import Bounds, Level
from tests.often import times
from tests.tabulated import grid


@pytest.mark.often
@pytest.mark.parametrize("number", range(times(100)))
def test_cutting_planes_equal_all_subsets(number: int) -> None:
    rng = np.random.default_rng(number)
    shape = (2, 2 + int(rng.random() < 0.4))
    inner = rng.integers(0, 12, shape) * (rng.random(shape) > 0.2)
    system = grid(list("xyz")[: shape[0]], list("abc")[: shape[1]], inner.tolist())
    least = int(rng.integers(0, 2))
    bounds = Bounds.of(system, lower=least)
    positive = [c for c, v in enumerate(system.values) if v > 0]
    if not positive:
        return
    chosen = sorted(rng.choice(positive, min(2, len(positive)), replace=False).tolist())
    needs = {}
    for cell in chosen:
        value = int(system.values[cell])
        lower = min(int(rng.integers(0, 4)), value - least)
        needs[cell] = Level(lower=lower, upper=int(rng.integers(0, 4)), sliding=1)
    insiders: tuple[Insider, ...] = ()
    if rng.random() < 0.4:
        value = system.values[chosen[0]]
        insiders = (Insider(name="u", known={chosen[0]: (value, value)}),)
    costs = costs_of(system, "value")
    others = [c for c, v in enumerate(system.values) if c not in needs and v >= least]
    sets = [extra for size in range(len(others) + 1) for extra in combinations(others, size)]
    sets.sort(key=lambda extra: sum(costs[c] for c in extra))
    every = {*needs, *others}
    if not audit(system, every, needs, bounds, insiders=insiders).safe:
        sets = []  # to publish less never helps a reader: no smaller set is safe either
    # For the same reason a cell that all others cannot do without is in every set that is safe.
    needed = {
        c
        for c in others
        if sets and not audit(system, every - {c}, needs, bounds, insiders=insiders).safe
    }
    sets = [extra for extra in sets if needed <= set(extra)]
    best = next(
        (
            sum(costs[c] for c in extra)
            for extra in sets
            if audit(system, {*needs, *extra}, needs, bounds, insiders=insiders).safe
        ),
        None,
    )
    if best is None:
        with pytest.raises(Infeasible):
            suppress(system, needs, bounds, costs, insiders=insiders)
        return
    found = suppress(system, needs, bounds, costs, insiders=insiders)
    assert found.optimal
    assert found.cost == best
    assert audit(system, found.cells, needs, bounds, insiders=insiders).safe
