"""Controlled tabular adjustment: sensitive cells are moved by their level, and totals add up.

Dandekar and Cox 2002, Synthetic tabular data: an alternative to complementary cell suppression;
Hundepool et al., Handbook on Statistical Disclosure Control, 2nd ed., ch. 4. One variable is the
net change of a cell: with its rise and fall as two, a solver pays for both and changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import milp

from anon_core.base.errors import Infeasible, NotFound, clipped
from anon_core.tables.rounding import Program
from anon_core.tables.system import Bounds, Level, Number, System


def steps_of(level: Level) -> tuple[int, int]:
    """Return how far a published value has to be below the true one, or above: whole units.

    A level that is a width alone is taken both ways.

    Examples
    --------
    >>> steps_of(Level(lower=5, upper=3)), steps_of(Level(sliding=1))
    ((5, 3), (1, 1))
    """
    return (
        max(1, math.ceil(max(level.lower, level.sliding))),
        max(1, math.ceil(max(level.upper, level.sliding))),
    )


def adjusted(
    system: System, needs: Mapping[int, Level], bounds: Bounds, *, seconds: float = 60
) -> tuple[tuple[int, ...], int]:
    """Move every sensitive cell up or down by its level, and the others as little as possible.

    Parameters
    ----------
    system : System
        Of whole numbers.
    needs : mapping of int to Level
        Sensitive cells.
    bounds : Bounds
        What a published value may be; a cell with equal limits stays as it is.
    seconds : float

    Returns
    -------
    values : tuple of int
    bound : int
        No such table has less total change, over all cells.

    Raises
    ------
    Infeasible
        If a cell can move neither way, or no such table adds up.
    NotFound
        If time ran out before one was found, or none passed the check in whole numbers.
    """
    program = Program(system)
    firsts, at, many, weight = program.firsts, program.at, program.many, program.weight
    low, high = [-math.inf] * many, [math.inf] * many
    for cell, first in enumerate(system.same):
        n, value = at[first], system.values[cell]
        least, most = bounds.lower[cell], bounds.upper[cell]
        if least is not None:
            low[n] = max(low[n], float(least - value))
        if most is not None:
            high[n] = min(high[n], float(most - value))
    down, up = dict[int, int](), dict[int, int]()
    for cell, level in needs.items():
        n, (below, above) = at[system.same[cell]], steps_of(level)
        down[n], up[n] = max(down.get(n, 0), below), max(up.get(n, 0), above)
        if low[n] > -down[n] and high[n] < up[n]:
            raise Infeasible(
                f"'{clipped(system.names[cell])}' is sensitive and can move neither down by "
                f"{down[n]:,} nor up by {up[n]:,}.",
                remedy="Let it change (published), or use coarser categories.",
            )
    far = _most_change(system, {firsts[n]: max(down[n], up[n]) for n in down}, weight, at)
    # x is the net change, d no less than |x|, y whether a sensitive cell moves up.
    order = sorted(down)
    for n in range(many):
        program.moves(n)
    sides = [(0.0, 1.0)] * len(order)
    for k, n in enumerate(order):
        y = 2 * many + k
        lowest, highest = max(low[n], -far), min(high[n], far)
        if low[n] > -down[n]:
            sides[k] = (1.0, 1.0)
        elif high[n] < up[n]:
            sides[k] = (0.0, 0.0)
        program.row([(n, 1), (y, lowest - up[n])], lowest, np.inf)
        program.row([(n, 1), (y, -(highest + down[n]))], -np.inf, -down[n])
    width = 2 * many + len(order)
    found = milp(
        np.array([0] * many + weight + [0] * len(order), dtype=float),
        constraints=program.constraint(width),
        bounds=Box(
            [*(max(lo, -far) for lo in low), *[0.0] * many, *(lo for lo, _ in sides)],
            [*(min(hi, far) for hi in high), *[far] * many, *(hi for _, hi in sides)],
        ),
        integrality=np.array([1] * many + [0] * many + [1] * len(order)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        if found.status == 2:
            raise Infeasible(
                "No table adds up in which each sensitive cell moves by its level, and no cell by "
                f"more than {far:,.0f}.",
                remedy="Let more cells change (published), or use coarser categories.",
            )
        raise NotFound(
            f"No adjusted table was found in {seconds:g} s.",
            remedy="Give it more seconds, or use coarser categories.",
        )
    moved = [round(float(x)) for x in found.x[:many]]
    values = tuple(int(v) + moved[at[f]] for v, f in zip(system.values, system.same, strict=True))
    if not _holds(system, values, needs, bounds):
        raise NotFound(
            "The adjusted table does not add up, or leaves a level, in whole numbers.",
            remedy="Give the amounts in a larger unit, or use suppression.",
        )
    distance = sum(w * abs(x) for w, x in zip(weight, moved, strict=True))
    proven = max(0.0, float(found.mip_dual_bound))  # no limit where time ran out at once
    # A table with a larger change of one cell has more than that in total.
    return values, min(distance, math.ceil(proven - 1e-6), int(far) + 1)


def _most_change(
    system: System, steps: Mapping[int, int], weight: Sequence[int], at: Mapping[int, int]
) -> float:
    """Return a total change that suffices: one leaf of each cell rises, with all above it."""
    above: dict[int, set[int]] = {}
    below: dict[int, tuple[int, ...]] = {}
    for relation in system.distinct:
        below.setdefault(relation.parent, relation.children)
        for child in relation.children:
            above.setdefault(child, set()).add(relation.parent)
    most = 0
    for cell, step in steps.items():
        leaf = cell
        while leaf in below:
            leaf = max(below[leaf], key=lambda c: (system.values[c], -c))
        seen, stack = {leaf}, [leaf]
        while stack:
            for parent in above.get(stack.pop(), ()):
                if parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        most += step * sum(weight[at[c]] for c in seen)
    return float(max(most, 1))


def _holds(
    system: System, values: Sequence[int], needs: Mapping[int, Level], bounds: Bounds
) -> bool:
    """Return whether sums, limits and levels hold, in whole numbers."""
    sums = all(values[r.parent] == sum(values[c] for c in r.children) for r in system.relations)
    limits = all(
        _within(v, lo, hi) for v, lo, hi in zip(values, bounds.lower, bounds.upper, strict=True)
    )
    far = True
    for cell, level in needs.items():
        (below, above), change = steps_of(level), values[cell] - system.values[cell]
        far = far and (change <= -below or change >= above)
    return sums and limits and far


def _within(value: int, low: Number | None, high: Number | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)
