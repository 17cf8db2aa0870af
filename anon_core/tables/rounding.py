"""Changed values: rounding, controlled adjustment, and cell-key noise.

Counts are rounded at random, controlled so that totals add up, or small cells alone. Hundepool et
al., Handbook on Statistical Disclosure Control, 2nd ed., ch. 5. Chance comes from a secret and the
rows of a cell, so the same cell is always rounded the same way.

Cell key noise is drawn alike: each row has a secret key, and the fractional part of a cell's sum of
keys looks its noise up in a table. Totals do not add up, and bounded noise gives a reader certain
intervals.

Controlled adjustment moves sensitive cells by their level, and totals add up: Dandekar and Cox
2002, Synthetic tabular data: an alternative to complementary cell suppression. One variable is the
net change of a cell: with its rise and fall as two, a solver pays for both and changes nothing.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, root
from scipy.sparse import csr_array

from anon_core.base.concurrency import only_stopped, solved
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound, brief, clipped
from anon_core.tables.system import Bounds, Level, Number, System, shown


class Program:
    """The rows of an integer program over the net changes, or multiples, of a table's cells.

    Column n is of the n-th distinct cell, column n + `many` of how far it moves; cells that are
    always equal are one.
    """

    def __init__(self, system: System) -> None:
        self.firsts = sorted(set(system.same))
        self.at = {cell: n for n, cell in enumerate(self.firsts)}
        self.many = len(self.firsts)
        #: How many cells of the table each one is.
        self.weight = [0] * self.many
        for first in system.same:
            self.weight[self.at[first]] += 1
        self._rows, self._columns = list[int](), list[int]()
        self._entries = list[float]()
        self._least, self._most = list[float](), list[float]()
        for relation in system.distinct:
            parts = [(self.at[relation.parent], -1), *((self.at[c], 1) for c in relation.children)]
            self.row(parts, 0, 0)

    def row(self, parts: Sequence[tuple[int, float]], low: float, high: float) -> None:
        """Let a sum of columns lie between two numbers."""
        for column, entry in parts:
            self._rows.append(len(self._least))
            self._columns.append(column)
            self._entries.append(entry)
        self._least.append(low)
        self._most.append(high)

    def moves(self, n: int, unit: int = 1, start: int = 0) -> None:
        """Let a cell's second column be no less than |unit · first − start|."""
        self.row([(n, unit), (self.many + n, -1)], -np.inf, start)
        self.row([(n, -unit), (self.many + n, -1)], -np.inf, -start)

    def constraint(self, width: int) -> LinearConstraint:
        """Return all rows, of so many columns."""
        shape = (len(self._least), width)
        matrix = csr_array((self._entries, (self._rows, self._columns)), shape=shape, dtype=float)
        return LinearConstraint(cast(Any, matrix), self._least, self._most)


def refuse_base(base: object) -> int:
    """Return a base that rounds.

    Raises
    ------
    BadPlan
    """
    if isinstance(base, bool) or not isinstance(base, int) or base < 2:
        raise BadPlan(
            f"The base is {brief(base)}; allowed are whole numbers from 2 up.",
            remedy="Use base = 3 or base = 5.",
        )
    return base


def conventional(value: int, base: int) -> int:
    """Return the nearest multiple: weak, since it is no secret which way a value went.

    Examples
    --------
    >>> [conventional(v, 5) for v in (1, 3, 12, 32, 39)]
    [0, 5, 10, 30, 40]
    """
    whole, rest = divmod(value, base)
    return base * (whole + (2 * rest >= base))


def chances(value: int, base: int) -> dict[int, Fraction]:
    """Return what random rounding publishes, each with its chance: on average the value itself.

    Examples
    --------
    >>> chances(7, 5)
    {5: Fraction(3, 5), 10: Fraction(2, 5)}
    """
    whole, rest = divmod(value, refuse_base(base))
    if not rest:
        return {value: Fraction(1)}
    up = Fraction(rest, base)
    return {whole * base: 1 - up, (whole + 1) * base: up}


def cell_chance(secret: int, rows: Sequence[int]) -> Fraction:
    """Return a number in [0, 1) that depends on the secret and the set of a cell's rows alone."""
    digest = hashlib.blake2b(key=hashlib.sha256(str(secret).encode()).digest(), digest_size=16)
    for row in sorted(rows):
        digest.update(row.to_bytes(8, "big"))
    return Fraction(int.from_bytes(digest.digest(), "big"), 2**128)


def random_rounding(value: int, base: int, chance: Fraction) -> int:
    """Round up where chance falls below r/b, else down."""
    whole, rest = divmod(value, refuse_base(base))
    return base * (whole + (chance < Fraction(rest, base)))


def small_cells(system: System, base: int, draws: Sequence[Fraction]) -> tuple[int, ...]:
    """Round inner cells of 1 to base − 1 to 0 or base, and add all totals up again."""
    refuse_base(base)
    totals = {relation.parent for relation in system.relations}
    found = [
        random_rounding(int(v), base, draws[cell]) if 0 < v < base else int(v)
        for cell, v in enumerate(system.values)
    ]
    below: dict[int, tuple[int, ...]] = {}
    for relation in system.relations:
        below.setdefault(relation.parent, relation.children)

    done = [cell not in totals for cell in range(len(found))]

    def added(cell: int) -> int:
        if not done[cell]:
            found[cell] = sum(added(child) for child in below[cell])
            done[cell] = True
        return found[cell]

    for cell in totals:
        added(cell)
    return tuple(found)


def controlled(
    system: System,
    base: int,
    *,
    steps: int = 0,
    seconds: float = 60,
    context: Context | None = None,
) -> tuple[tuple[int, ...], int]:
    """Round every cell to a neighbouring multiple so that all sums hold, as near as possible.

    Parameters
    ----------
    steps : int
        How many multiples beyond the two neighbours are allowed where needed.

    Returns
    -------
    values : tuple of int
    bound : int
        No such table is nearer, in the sum of changes of all cells.

    Raises
    ------
    Infeasible
        If there is no such table: beyond two ways one need not exist.
    NotFound
        If time ran out before one was found.
    """
    refuse_base(base)
    program = Program(system)
    many = program.many
    values = [int(system.values[cell]) for cell in program.firsts]
    low = [max(0, v // base - steps) for v in values]
    high = [-(-v // base) + steps for v in values]
    # y is the multiple, d no less than |y·base − a|.
    for n, value in enumerate(values):
        program.moves(n, base, value)
    begun = time.monotonic()
    found = solved(
        "milp",
        only_stopped(context),
        seconds=seconds,
        c=np.array([0] * many + program.weight, dtype=float),
        constraints=program.constraint(2 * many),
        bounds=Box([*map(float, low), *[0.0] * many], [*map(float, high), *[np.inf] * many]),
        integrality=np.array([1] * many + [0] * many),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        if found.status == 2:
            raise Infeasible(
                f"No table of multiples of {base} within {steps} steps adds up.",
                remedy="Allow one more step (steps), or use a larger base.",
            )
        raise NotFound(
            f"No rounded table was found in {time.monotonic() - begun:.0f} s.",
            remedy="Give it more seconds, or allow more steps.",
        )
    rounded = [base * round(float(y)) for y in found.x[:many]]
    whole = tuple(rounded[program.at[first]] for first in system.same)
    System(names=system.names, values=whole, relations=system.relations)  # refuses what is no sum
    distance = sum(abs(z - int(v)) for z, v in zip(whole, system.values, strict=True))
    return whole, min(distance, int(np.ceil(float(found.mip_dual_bound) - 1e-6)))


def known_of_rounded(published: Sequence[int], base: int, steps: int = 0) -> list[tuple[int, int]]:
    """Return what a reader knows of each value that was rounded so, by itself.

    Examples
    --------
    >>> known_of_rounded([0, 5, 15], 5), known_of_rounded([5], 5, 1)
    ([(0, 4), (1, 9), (11, 19)], [(0, 14)])
    """
    reach = (steps + 1) * base - 1
    return [(max(0, z - reach), z + reach) for z in published]


def bounds_of_rounded(published: Sequence[int], base: int, steps: int = 0) -> Bounds:
    """Return the same as limits, for an audit in which no cell is printed as it is."""
    known = known_of_rounded(published, base, steps)
    lower: tuple[Number, ...] = tuple(low for low, _ in known)
    return Bounds(lower=lower, upper=tuple(high for _, high in known))


def bounds_of_noise(published: Sequence[int], most: int) -> Bounds:
    """Return what a reader knows of counts that were each changed by no more than a number.

    Examples
    --------
    >>> bounds_of_noise([2, 9], 2)
    Bounds(lower=(0, 7), upper=(4, 11))
    """
    lower: tuple[Number, ...] = tuple(max(0, z - most) for z in published)
    return Bounds(lower=lower, upper=tuple(z + most for z in published))


def bounds_of_small_cells(system: System, published: Sequence[int], base: int) -> Bounds:
    """Return what a reader knows of inner cells of which those below the base were rounded.

    Totals are added up afterwards, and say nothing by themselves.
    """
    totals = {relation.parent for relation in system.relations}
    lower: list[Number | None] = []
    upper: list[Number | None] = []
    for cell, z in enumerate(published):
        rounded = z in (0, base)
        lower.append(0 if cell in totals else min(1, z) if rounded else z)
        upper.append(None if cell in totals else max(z, base - 1) if rounded else z)
    return Bounds(lower=tuple(lower), upper=tuple(upper))


# ---- controlled adjustment ----


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
    system: System,
    needs: Mapping[int, Level],
    bounds: Bounds,
    *,
    seconds: float = 60,
    context: Context | None = None,
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
    found = solved(
        "milp",
        only_stopped(context),
        seconds=seconds,
        c=np.array([0] * many + weight + [0] * len(order), dtype=float),
        constraints=program.constraint(width),
        bounds=Box(
            [*(max(lo, -far) for lo in low), *[0.0] * many, *(lo for lo, _ in sides)],
            [*(min(hi, far) for hi in high), *[far] * many, *(hi for _, hi in sides)],
        ),
        integrality=np.array([1] * many + [0] * many + [1] * len(order)),
        options={"mip_rel_gap": 0.0},
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


# ---- cell key ----

Row = dict[int, Fraction]
#: Keys are whole numbers below it, so that sums are exact.
UNITS = 2**64


def record_keys(secret: int, records: Iterable[str | int]) -> list[Fraction]:
    """Return the key of each record; anyone who has the secret has them all.

    Parameters
    ----------
    records : iterable of str or int
        Whose each is: the text of a respondent, or the number of a row as it was read. So a record
        has the same key in every table, whichever rows are in it.
    """
    base = hashlib.sha256(str(secret).encode()).digest()
    return [
        Fraction(
            int.from_bytes(
                hashlib.blake2b(str(one).encode(), key=base, digest_size=8).digest(), "big"
            ),
            UNITS,
        )
        for one in records
    ]


def cell_key(keys: Iterable[Fraction]) -> Fraction:
    """Return the fractional part of the sum of keys.

    Examples
    --------
    >>> cell_key([Fraction(9, 10), Fraction(3, 10), Fraction(3, 5)])
    Fraction(4, 5)
    """
    return sum(keys, Fraction(0)) % 1


def noise_row(count: int, most: int, variance: Number) -> Row:
    """Return the chances of each noise for a count: mean 0, the variance, maximum entropy.

    Parameters
    ----------
    count : int
        0 stays as it is.
    most : int
        D: the largest noise.

    Raises
    ------
    BadPlan
        If no noise of this size has the variance.
    """
    if count == 0:
        return {0: Fraction(1)}
    support = [v for v in range(-most, most + 1) if count + v == 0 or count + v > 1]
    low, high = _variances(support)
    if not low <= variance <= high:
        raise BadPlan(
            f"Noise of at most {most} for a count of {count} cannot have the variance "
            f"{brief(float(variance))}; allowed are {shown(low)} to {shown(high)}.",
            remedy="Change the variance or the largest noise.",
        )
    if len(support) == 3:
        return _three(support, Fraction(variance))
    points = np.array(support, dtype=float)

    def off(x: np.ndarray) -> list[float]:
        p = np.exp(x[0] + x[1] * points + x[2] * points**2)
        return [p.sum() - 1, (p * points).sum(), (p * points**2).sum() - float(variance)]

    found = root(off, [-math.log(len(support)), 0.0, 0.0], tol=1e-13)
    p = np.exp(found.x[0] + found.x[1] * points + found.x[2] * points**2)
    if not found.success or max(map(abs, off(found.x))) > 1e-9:
        raise BadPlan(
            f"No noise of maximum entropy was found for a count of {count} and the variance "
            f"{brief(float(variance))}.",
            remedy=f"Choose a variance well inside {shown(low)} to {shown(high)}.",
        )
    return {v: Fraction(float(x)) for v, x in zip(support, p, strict=True)}


def _variances(support: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return least and greatest variance of noise of mean 0 on these values."""
    below = [v for v in support if v < 0]
    above = [v for v in support if v > 0]
    if 0 in support:
        low = Fraction(0)
    elif not below or not above:
        return Fraction(1), Fraction(0)
    else:
        low = Fraction(-max(below) * min(above))
    return low, Fraction(-min(support) * max(support))


def _three(support: Sequence[int], variance: Fraction) -> Row:
    """Solve sum 1, mean 0 and the variance for three values, exactly (Lagrange)."""
    a, b, c = support
    moments = {
        a: (variance + b * c) / ((a - b) * (a - c)),
        b: (variance + a * c) / ((b - a) * (b - c)),
        c: (variance + a * b) / ((c - a) * (c - b)),
    }
    return {v: Fraction(p) for v, p in moments.items()}


def noise(row: Row, key: Fraction) -> int:
    """Return the first noise whose cumulated chance is above the key; the upper end is excluded."""
    total = Fraction(0)
    for value, chance in sorted(row.items()):
        total += chance
        if key < total:
            return value
    return max(row)


def perturbed(count: int, key: Fraction, rows: Sequence[Row]) -> int:
    """Return a count with the noise of its row; large counts share the last row."""
    return count + noise(rows[min(count, len(rows) - 1)], key)


def perturbed_amount(
    value: Number, largest: Number, share: Fraction, key: Fraction, rows: Sequence[Row]
) -> Fraction:
    """Return a sum with noise in units of its largest contribution, between two rows."""
    unit = share * Fraction(largest)
    if not unit:
        return Fraction(value)
    place = min(abs(Fraction(value)) / unit, Fraction(len(rows) - 1))
    below = math.floor(place)
    part = place - below
    above = min(below + 1, len(rows) - 1)
    drawn = (1 - part) * noise(rows[below], key) + part * noise(rows[above], key)
    return Fraction(value) + unit * drawn
