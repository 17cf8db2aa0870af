"""δ-presence of published groups: is everyone's chance of presence within its bounds?

For one block of coarsened cells the chance is |G ∩ T| / |G ∩ P|; for permuted groups it is
GetDelta's δ. Bounds are decided in whole numbers or fractions wherever a chance comes close to
one; what cannot be counted is undecided, never within.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.brackets import limits
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.equations_from_view import Published
from anon_core.methods.membership.exact_chances import (
    MAX_STATES,
    count_part,
    exact_means,
    settled_only,
)
from anon_core.methods.membership.integer_program import solvable
from anon_core.methods.membership.joint_model import Asked
from anon_core.release.outcome import State

_SETTLED = 2_000  # layers up to which a part is counted that limits have settled
_FEW = 32
_CLOSE = 1e-9  # chances as near as this to a bound are counted in whole numbers
WITHIN, OPEN, OUTSIDE = np.int8(1), np.int8(-1), np.int8(0)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """δ_min and δ_max as they were written."""

    low: Fraction
    high: Fraction

    @staticmethod
    @cache
    def of(low: float, high: float) -> Bounds:
        """Return the bounds as decimals, not as their binary neighbours."""
        return Bounds(low=Fraction(str(low)), high=Fraction(str(high)))

    def hold(self, inside: I64, people: I64) -> npt.NDArray[np.bool_]:
        """Return where low ≤ inside / people ≤ high; no one among no one is within.

        Examples
        --------
        >>> Bounds.of(0.1, 0.9).hold(np.array([1, 9, 10, 0]), np.array([10, 10, 10, 0])).tolist()
        [True, True, False, True]
        """
        sizes, place = people, slice(None)
        if len(people) > _FEW:  # equal numbers are compared once
            sizes, place = np.unique(people, return_inverse=True)
        low, high = self.low, self.high
        least = [-(-p * low.numerator // low.denominator) for p in sizes.tolist()]
        most = [p * high.numerator // high.denominator for p in sizes.tolist()]
        floor = np.array(least, dtype=np.int64)[place]
        return (floor <= inside) & (inside <= np.array(most, dtype=np.int64)[place])

    def admits(self, chance: Fraction) -> bool:
        """Return whether a chance is within."""
        return self.low <= chance <= self.high

    @property
    def empty(self) -> bool:
        """Whether they say nothing: every chance is within."""
        return self.low <= 0 and self.high >= 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """What is known of the chance of every variable that says of people.

    Attributes
    ----------
    verdict : int8 array of shape (variables,)
        `WITHIN`, `OUTSIDE` or `OPEN`; variables that no one is known by are within.
    chance : float64 array of shape (variables,)
        δ; NaN where it was not counted.
    low, high : float64 arrays of shape (variables,)
        Proven limits; both are δ where it was counted, and NaN of variables no one is known by.
    """

    verdict: npt.NDArray[np.int8]
    chance: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    @cached_property
    def state(self) -> State:
        """One verdict for all."""
        if np.any(self.verdict == OUTSIDE):
            return "broken"
        return "undecided" if np.any(self.verdict == OPEN) else "holds"


def averages_break(system: System, bounds: Bounds) -> bool:
    """Return whether some published value's people are out of bounds on average.

    The people who show a value add up to how often it was published, so if their mean chance is
    out of bounds, so is someone's (Toth 2015, 5.1.1.1, by averaging: S-114, E-17).

    Parameters
    ----------
    system : System
        Of buckets of which no one fits two.
    """
    people = system.sums(system.people)
    return not bool(bounds.hold(system.total, people).all())


def judge(
    asked: Asked,
    bounds: Bounds,
    context: Context,
    *,
    max_states: int = MAX_STATES,
    first_break: bool = False,
) -> Judged:
    """Compare everyone's δ with the bounds.

    Parameters
    ----------
    context : Context
        What is not counted when its time is up stays open.
    max_states : int
        A connected part with wider layers stays open.
    first_break : bool
        Stop at the first chance out of bounds; the rest stays open.
    """
    system = asked.system
    chosen = asked.variable >= 0
    who, first = np.unique(asked.variable[chosen], return_index=True)
    telling = np.zeros(system.variables, dtype=np.bool_)
    outside = np.zeros(system.variables, dtype=np.bool_)
    telling[who], outside[who] = True, asked.outside[chosen][first]
    start, pieces = settled_only(system)
    chance = np.full(system.variables, np.nan)
    verdict = np.where(telling, OPEN, WITHIN).astype(np.int8)
    settled = telling & start.counted
    present = np.where(outside, system.people - start.least, start.least)
    chance[settled] = present[settled] / np.maximum(system.people[settled], 1)
    good = bounds.hold(present[settled], system.people[settled])
    verdict[settled] = np.where(good, WITHIN, OUTSIDE)
    inner = system.bounded(start.least, start.most)
    low, high = limits(system, start.least, start.most, outside)
    for done, piece in enumerate(pieces):
        if first_break and np.any(verdict == OUTSIDE):
            break
        if context.cancel.is_set() or context.out_of_time():
            break
        if done % 64 == 0:
            context.progress(done / len(pieces), "Counting the ways to fill the buckets")
        part = inner.part(piece, start.least)
        by_limits = _by_limits(low[piece], high[piece], bounds)
        clear = not np.any((by_limits == OPEN) & telling[piece])
        swept = count_part(
            part, context, max_states=min(max_states, _SETTLED) if clear else max_states
        )
        if swept is None:  # limits tell of parts that have a solution
            if np.any(by_limits != OPEN) and solvable(part, context):
                verdict[piece] = np.where(telling[piece], by_limits, WITHIN)
            continue
        if not swept.possible:
            continue
        share = (start.least[piece] + swept.mean) / system.people[piece]
        share = np.where(outside[piece], 1.0 - share, share)
        found = _compared(share, bounds)
        if np.any((found == OPEN) & telling[piece]):
            found = _settle_close(part, found, outside[piece], bounds)
        chance[piece] = share
        verdict[piece] = np.where(telling[piece], found, WITHIN)
    counted = ~np.isnan(chance)
    low, high = np.where(counted, chance, low), np.where(counted, chance, high)
    return Judged(
        verdict=verdict,
        chance=np.where(telling, chance, np.nan),
        low=np.where(telling, low, np.nan),
        high=np.where(telling, high, np.nan),
    )


def _by_limits(
    low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], bounds: Bounds
) -> npt.NDArray[np.int8]:
    """Compare limits of chances with the bounds; what limits leave open stays so."""
    within = (_compared(low, bounds) == WITHIN) & (_compared(high, bounds) == WITHIN)
    least, most = float(bounds.low) - _CLOSE, float(bounds.high) + _CLOSE
    found = np.full(len(low), OPEN, dtype=np.int8)
    found[within] = WITHIN
    found[(high < least) | (low > most)] = OUTSIDE
    return found


def _compared(share: npt.NDArray[np.float64], bounds: Bounds) -> npt.NDArray[np.int8]:
    """Compare chances that are exact up to rounding; those close to a bound stay open."""
    low, high = float(bounds.low), float(bounds.high)
    found = np.full(len(share), OPEN, dtype=np.int8)
    # Every chance lies in 0 … 1, so that a bound of 0 or 1 is never in doubt.
    above = share >= low + _CLOSE if bounds.low > 0 else np.ones(len(share), np.bool_)
    below = share <= high - _CLOSE if bounds.high < 1 else np.ones(len(share), np.bool_)
    found[above & below] = WITHIN
    found[(share < low - _CLOSE) | (share > high + _CLOSE)] = OUTSIDE
    return found


def _settle_close(
    part: System,
    found: npt.NDArray[np.int8],
    outside: npt.NDArray[np.bool_],
    bounds: Bounds,
) -> npt.NDArray[np.int8]:
    """Decide chances close to a bound as fractions, where that can be counted."""
    means = exact_means(part)
    if means is None:
        return found
    found = found.copy()
    for j in np.flatnonzero(found == OPEN).tolist():
        share = means[j] / int(part.people[j])
        share = 1 - share if outside[j] else share
        found[j] = WITHIN if bounds.admits(share) else OUTSIDE
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Presence:
    """Everyone's chance of presence against the bounds.

    Attributes
    ----------
    state : {'holds', 'broken', 'undecided'}
    lowest, highest : float
        Extremes of the chances that are decided, of those not counted by their proven limits; NaN
        where none is.
    per_bucket : float64 array of shape (buckets,)
        Highest chance anyone can have who fits the bucket; 1 where it is undecided.
    nowhere : int
        People of the public table who fit no bucket: δ = 0.
    open : int
        People whose chance is undecided.
    """

    state: State
    lowest: float
    highest: float
    per_bucket: npt.NDArray[np.float64]
    nowhere: int
    open: int


def presence(published: Published, bounds: Bounds, context: Context) -> Presence:
    """Judge a release against its public table; `published` holds its equations."""
    joint = published.joint
    judged = judge(joint, bounds, context)
    variable = joint.variable
    chosen = variable >= 0
    low, high = np.zeros(len(variable)), np.zeros(len(variable))
    low[chosen], high[chosen] = judged.low[variable[chosen]], judged.high[variable[chosen]]
    verdict = np.where(chosen, WITHIN, OUTSIDE if bounds.low > 0 else WITHIN).astype(np.int8)
    verdict[chosen] = judged.verdict[variable[chosen]]
    undecided = verdict == OPEN
    undecided[published.doubtful] = True
    verdict[undecided] = OPEN
    if bounds.empty:
        verdict[:] = WITHIN
    per_bucket = np.zeros(len(published.size))
    np.maximum.at(per_bucket, joint.bucket, np.where(undecided, 1.0, high)[joint.types])
    state: State = "holds"
    if np.any(verdict == OPEN):
        state = "undecided"
    if np.any(verdict == OUTSIDE):
        state = "broken"
    return Presence(
        state=state,
        lowest=float(low[~undecided].min(initial=np.inf)) if not undecided.all() else np.nan,
        highest=float(high[~undecided].max(initial=0.0)) if not undecided.all() else np.nan,
        per_bucket=per_bucket,
        nowhere=int(joint.count[~chosen].sum()),
        open=int(joint.count[verdict == OPEN].sum()),
    )
