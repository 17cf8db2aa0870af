"""Chances of presence as exact fractions, for parts small enough to count in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from anon_core.methods.membership.equations import System
from anon_core.methods.membership.settling_order import settle_order

MAX_STATES = 200_000

State = tuple[int, ...]


def exact_means(part: System, *, max_states: int = MAX_STATES) -> list[Fraction] | None:
    """Return the expected people of every variable, over all equally likely solutions.

    The same sum as the frontier dynamic program, in Python's whole numbers: where a chance may be
    equal to a bound, no rounding can decide.

    Parameters
    ----------
    max_states : int
        Largest number of states of all layers together.

    Returns
    -------
    list of Fraction, or None
        None where there are more states, or no solution.
    """
    rows = [[int(r) for r in line if r >= 0] for line in part.rows.tolist()]
    lower = [int(n) for n in part.lower]
    room = [int(u) - n for u, n in zip(part.upper, lower, strict=True)]
    total = (part.total - part.sums(part.lower)).tolist()
    order = settle_order(part.rows, len(total))
    ways = [_ways(part, j, lower[j], room[j]) for j in range(part.variables)]
    later = _capacity(rows, room, order, len(total))
    layers: list[dict[State, int]] = [{tuple(total): 1}]
    held = 1
    for step, j in enumerate(order):
        found: dict[State, int] = {}
        for state, weight in layers[-1].items():
            for taken, after in _steps(state, rows[j], room[j], later[step]):
                found[after] = found.get(after, 0) + weight * ways[j][taken]
        held += len(found)
        if held > max_states or not found:
            return None
        layers.append(found)
    done = dict.fromkeys(layers[-1], 1)
    whole = sum(layers[-1].values())
    means = [Fraction(0)] * part.variables
    for step in range(len(order) - 1, -1, -1):
        j, before = order[step], dict[State, int]()
        summed = 0
        for state, weight in layers[step].items():
            ahead = 0
            for taken, after in _steps(state, rows[j], room[j], later[step]):
                reached = ways[j][taken] * done.get(after, 0)
                ahead += reached
                summed += weight * reached * taken
            before[state] = ahead
        done = before
        means[j] = lower[j] + Fraction(summed, whole)
    return means


def _ways(part: System, j: int, lower: int, room: int) -> list[int]:
    """Return the choices of lower … lower + room people, up to one factor."""
    people = int(part.people[j])
    if part.shared[j]:
        return [factorial(people) // factorial(lower + y) for y in range(room + 1)]
    return [comb(people, lower + y) for y in range(room + 1)]


def _capacity(
    rows: list[list[int]], room: list[int], order: list[int], size: int
) -> list[dict[int, int]]:
    """Return, per step, what variables after it can still add to the rows of its variable."""
    left = [0] * size
    for j, mine in enumerate(rows):
        for r in mine:
            left[r] += room[j]
    found: list[dict[int, int]] = []
    for j in order:
        for r in rows[j]:
            left[r] -= room[j]
        found.append({r: left[r] for r in rows[j]})
    return found


def _steps(
    state: State, mine: list[int], room: int, later: dict[int, int]
) -> list[tuple[int, State]]:
    """Return every number of people that can be taken in a state, and the state after it."""
    least = max([0, *(state[r] - later[r] for r in mine)])
    most = min([room, *(state[r] for r in mine)])
    found: list[tuple[int, State]] = []
    for y in range(least, most + 1):
        after = list(state)
        for r in mine:
            after[r] -= y
        found.append((y, tuple(after)))
    return found
