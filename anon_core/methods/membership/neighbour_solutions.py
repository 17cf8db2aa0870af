"""Solutions near a known one: a few published rows are placed again, all others stay."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.integer_program import Solved, Targets, relaxed, solve

MANY = 10_000  # variables from which fractions of the whole take too long: buckets come first
_SIZES = (32, 64, 128)
_PATIENCE = 4  # fruitless tries of every size before the whole program has its turn
_SECONDS = 1.0
_WHOLE = 4  # rounded solutions of the whole before the small buckets
_WIDEST = 1_500  # types a small bucket may choose from


def first_solution(part: System, targets: Targets, context: Context) -> Solved:
    """Find any solution of a large part, or prove that there is none.

    The fractional optimum of a random cost has few fractions. Rounded down it leaves some rows
    short; with a few more people taken out these make a small bucket, which is solved in whole
    people. Where that fails, the whole integer program is.
    """
    generator = np.random.default_rng(0)  # of no influence on answers, only on time
    found = _rounded(part, targets, context, generator)
    if found.state != "unknown":
        return found
    return solve(part, targets.chosen(np.empty(0, dtype=np.int64)), context, must=False)


def _rounded(
    part: System, targets: Targets, context: Context, generator: np.random.Generator
) -> Solved:
    """Round the fractional optimum, and solve what is then short in whole people."""
    start = relaxed(part, targets, context, generator)
    if start.state != "found" or start.x is None:
        return start
    # The fractions have aimed at the targets already; here any whole solution will do.
    nobody = targets.chosen(np.empty(0, dtype=np.int64))
    present = np.repeat(np.arange(part.variables), start.x - part.lower)
    for size in (0, 8, *_SIZES):
        taken = np.zeros_like(start.x)
        np.add.at(taken, generator.permutation(present)[:size], 1)
        found = _anew(part, nobody, start.x, taken, context, generator, must=False)
        if found is not None:
            return Solved(state="found", x=found)
    return Solved(state="unknown")


def local_witnesses(
    part: System, targets: Targets, known: I64, context: Context, attempt: int = 0
) -> Iterator[I64]:
    """Yield solutions that meet targets the ones before did not.

    Parameters
    ----------
    targets : Targets
        What is still open.
    known : int64 array of shape (variables,)
        A solution.
    attempt : int
        Another number tries other neighbourhoods.

    Notes
    -----
    First the whole is moved, by rounding. Then, of the solution's people, 32 to 128 are taken out
    and the small bucket they make is solved again. Whatever it shows is a solution of the whole, so
    a met target is decided; that a small bucket meets none says nothing.
    """
    generator = np.random.default_rng(attempt)  # of no influence on answers, only on time
    left, x = targets, known
    for _ in range(_WHOLE if part.variables < MANY else 0):
        found = _rounded(part, left, context, generator)
        if found.x is None:
            break
        met = left.met(found.x)
        if not met.any():
            break
        yield found.x
        x, left = found.x, left.chosen(~met)
        if not len(left):
            return
    fruitless = 0
    while len(left) and fruitless < _PATIENCE * len(_SIZES):
        if context.cancel.is_set() or context.out_of_time():
            return
        taken = _rows_near(part, left, x, _SIZES[fruitless % len(_SIZES)], generator)
        moved = _anew(part, left, x, taken, context, generator, must=True)
        if moved is None:
            fruitless += 1
            continue
        fruitless = 0
        yield moved
        left = left.chosen(~left.met(moved))
        x = moved  # walking on from the witness opens other neighbourhoods


def _anew(
    part: System,
    targets: Targets,
    x: I64,
    taken: I64,
    context: Context,
    generator: np.random.Generator,
    *,
    must: bool,
) -> I64 | None:
    """Take people out of `x` and fill what is then short; `x` may be short of the totals itself."""
    rest = x - taken
    short = part.total - part.sums(rest)
    touched = np.append(short > 0, True)
    fits = touched[part.rows].all(axis=1) & (rest < part.upper)
    piece = np.flatnonzero(fits)
    if len(piece) > _WIDEST:  # who was taken out and who is asked for must stay in the choice
        wanted = np.zeros(part.variables, dtype=np.bool_)
        wanted[targets.variable] = must
        wanted |= taken > 0
        others = piece[~wanted[piece]]
        some = generator.permutation(others)[: max(_WIDEST - int(wanted[piece].sum()), 0)]
        piece = np.union1d(piece[wanted[piece]], some)
    if not len(piece):
        return None if must or short.any() else rest
    used, local = np.unique(part.rows[piece], return_inverse=True)
    gap = 1 if len(used) and used[0] < 0 else 0
    used = used[gap:]
    if short.sum() != short[used].sum():
        return None
    small = System(
        rows=(local.reshape(len(piece), part.rows.shape[1]) - gap).astype(np.int32),
        total=short[used],
        lower=np.maximum(part.lower - rest, 0)[piece],
        upper=(part.upper - rest)[piece],
        people=part.people[piece],
        shared=part.shared[piece],
    )
    place = np.full(part.variables, -1, dtype=np.int64)
    place[piece] = np.arange(len(piece))
    mine = targets.chosen(place[targets.variable] >= 0)
    at = place[mine.variable]
    mine = Targets(variable=at, bound=mine.bound - rest[piece][at], up=mine.up)
    inside = (mine.bound >= small.lower[at]) & (mine.bound <= small.upper[at])
    mine = mine.chosen(inside)
    if must and not len(mine):
        return None
    seconds = _SECONDS if must else 4 * _SECONDS
    found = solve(small, mine, context, must=must, seconds=seconds)
    if found.x is None:
        return None
    moved = rest.copy()
    moved[piece] += found.x
    return moved


def _rows_near(
    part: System, targets: Targets, x: I64, size: int, generator: np.random.Generator
) -> I64:
    """Return whom to take out: people of open targets and those most like them."""
    present = np.flatnonzero(x > part.lower)
    pending = targets.variable[x[targets.variable] > part.lower[targets.variable]]
    pick = generator.permutation(pending)[: size // 4]
    like = np.zeros(len(part.total) + 1)
    inside = part.rows[pick]
    np.add.at(like, inside[inside >= 0], 1.0)
    score = like[part.rows[present]].sum(axis=1) + generator.random(len(present))
    score[np.isin(present, pick)] = np.inf
    taken = np.zeros_like(x)
    taken[present[np.argsort(-score)[:size]]] = 1
    taken[pick] = (x - part.lower)[pick]  # a type is only gone when all its copies are
    return taken
