"""How many ways there are to fill each class, for anyone who knows when the search stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement, product
from math import comb, prod

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.cut_tree import cut_trees
from anon_core.methods.consistent_tables.drawn_tables import drawn_worlds, least_worlds
from anon_core.methods.consistent_tables.level_programs import Worlds, first_levels, raised_levels
from anon_core.methods.consistent_tables.program import solutions
from anon_core.methods.consistent_tables.uncut_classes import UncutWorlds
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels, StopRule, UncutClasses

# Tables small enough to be tried one by one: the technique itself says which lead to a release.


#: Tables that are tried; each is one run of the technique on a few rows.
MOST_TABLES = 5_000

#: Rows in each base cell of a class.
Filled = tuple[int, ...]


def tables(boxes: Boxes, removed: int) -> int:
    """Return how many tables a release could have come from, whatever made it.

    Parameters
    ----------
    removed : int
        Rows that are not published.
    """
    sides = [*zip(boxes.size.tolist(), map(boxes.cells, range(len(boxes.size))), strict=True)]
    if removed:
        sides.append((removed, boxes.domain))
    if any(cells > MOST_TABLES for _, cells in sides):
        return MOST_TABLES + 1
    return prod(comb(rows + int(cells) - 1, rows) for rows, cells in sides)


def replayed(rule: StopRule, boxes: Boxes, context: Context) -> list[set[Filled]] | None:
    """Return the ways to fill each class that some table has which leads to the release.

    None where there are too many tables, the technique cannot be run again, or time runs out.
    """
    removed = rule.rows - int(boxes.size.sum())
    if rule.again is None or boxes.shown is None or tables(boxes, removed) > MOST_TABLES:
        return None
    published = boxes.shown()
    bases = [boxes.base(number) for number in range(len(boxes.size))]
    parts: list[tuple[I64, int]] = list(zip(bases, boxes.size.tolist(), strict=True))
    if removed:
        parts.append((boxes.everywhere(), removed))
    ways = [list(combinations_with_replacement(range(len(base)), rows)) for base, rows in parts]
    total, found = prod(map(len, ways)), [set[Filled]() for _ in bases]
    for number, chosen in enumerate(product(*ways)):
        context.report(number / total, "Trying tables")
        if context.out_of_time():
            return None
        codes = np.concatenate(
            [base[list(own)] for (base, _), own in zip(parts, chosen, strict=True)]
        )
        if rule.again(codes.astype(np.int32)) == published:
            for own, base, filled in zip(found, bases, chosen, strict=False):
                own.add(_counted(filled, len(base)))
    return found


def _counted(filled: Sequence[int], cells: int) -> Filled:
    """Return the rows in each of the base cells."""
    return tuple(np.bincount(np.fromiter(chain(filled), np.int64), minlength=cells).tolist())


@dataclass(frozen=True, kw_only=True, eq=False)
class Refined:
    """What is left open of each class.

    Attributes
    ----------
    worlds : int64 array of shape (classes,)
        Ways to fill a class, at least; no more than were asked for, and one.
    alone : int64 array of shape (classes,)
        The same for anyone who knows the release alone.
    decided : bool array of shape (classes,)
        Whether it is known if there is one way only.
    filled : mapping of int to tuple of int
        The rows in each base cell of the classes that can be filled in one way only.
    consistent : bool
        Whether any table can have led to the release; else the stop rule is not that of the search.
    unused : str
        What of the stop rule was not used, as a sentence; empty where all of it was.
    """

    worlds: I64
    alone: I64
    decided: npt.NDArray[np.bool_]
    filled: Mapping[int, tuple[int, ...]]
    consistent: bool = True
    unused: str = ""


def refine(rule: StopRule, boxes: Boxes, most: int, context: Context) -> Refined:
    """Count the ways to fill each class, up to `most`; the context's deadline bounds the time.

    Conditions that follow from the rule decide most classes at once. Where they are not all that
    follows, small tables are tried one by one by the technique itself.
    """
    found, exact = _by_conditions(rule, boxes, most, context)
    if exact and found.decided.all():
        return found
    tried = replayed(rule, boxes, context)
    return found if tried is None else _of_tried(tried, found, most)


def _by_conditions(
    rule: StopRule, boxes: Boxes, most: int, context: Context
) -> tuple[Refined, bool]:
    """Return what follows from the rule's conditions, and whether these are all there is."""
    if isinstance(rule, UncutClasses):
        return _of_uncut(rule, boxes, most, context)
    # Tables that are written down prove quickly how much stays open; programs see to the rest.
    exact = (boxes.lo == boxes.hi).all(axis=1)
    complete = True
    if isinstance(rule, CheapestLevels):
        complete = rule.prices is not None
        least, decided = least_worlds(rule, boxes, most, context)
        found = None if (exact | (least > most)).all() else first_levels(rule, boxes, context)
    elif isinstance(rule, RaisedLevels):
        least = drawn_worlds(rule, boxes, most, context)
        decided = exact | (least > 1)
        found = None if (exact | (least > most)).all() else raised_levels(rule, boxes, context)
    else:
        raise AnonError(
            f"Nothing is known of searches that stop by {type(rule).__name__}.",
            remedy="Run the attack on a technique that is shipped.",
        )
    if found is None:
        return _at_least(boxes, least, decided, most), True
    return _of_worlds(found, boxes, least, most, context, complete=complete), complete


def _of_tried(tried: Sequence[set[Filled]], known: Refined, most: int) -> Refined:
    """Return what the tables say that lead to the release."""
    ways = np.array([len(own) for own in tried], dtype=np.int64)
    return Refined(
        worlds=np.clip(ways, 1, most + 1),
        alone=known.alone,
        decided=np.ones(len(ways), dtype=np.bool_),
        filled={n: next(iter(own)) for n, own in enumerate(tried) if len(own) == 1},
        consistent=bool((ways > 0).all()),
    )


def _alone(boxes: Boxes, most: int) -> I64:
    """Return the ways to fill each class by its size and cells alone, no more than most + 1."""
    found = np.ones(len(boxes.size), dtype=np.int64)
    for number, size in enumerate(boxes.size.tolist()):
        cells = int(min(boxes.cells(number), 1e6))
        if cells > 1:
            found[number] = min(comb(size + cells - 1, size), most + 1)
    return found


def _of_worlds(
    found: Worlds, boxes: Boxes, least: I64, most: int, context: Context, *, complete: bool
) -> Refined:
    """Count the ways that the programs leave open, where more than `most` are not known yet.

    Where their conditions are not complete, a way that they leave open may be none: only what no
    way is left to say otherwise of, and what tables that were written down prove, is decided.
    """
    alone = _alone(boxes, most)
    worlds, decided = least.copy(), (alone == 1) | (least > 1)
    filled, consistent = dict[int, tuple[int, ...]](), True
    for number, own in enumerate(found.classes):
        context.report(number / len(found.classes), "Counting tables")
        if least[number] > most:
            continue
        ways = solutions(found.programs, own, most, context)
        consistent &= bool(ways.found) or not ways.complete
        one = ways.found[0] if ways.complete and len(ways.found) == 1 else None
        if complete or one is not None:
            counted = len(ways.found) + (not ways.complete and ways.timely)
            worlds[number] = max(counted, int(least[number]))
            decided[number] |= ways.timely or len(ways.found) > 1
        if one is not None:
            filled[number] = one
    return Refined(
        worlds=worlds,
        alone=alone,
        decided=decided,
        filled=filled,
        consistent=consistent,
        unused="" if decided.all() else "In which order other choices came first was not used.",
    )


def _at_least(boxes: Boxes, least: I64, decided: npt.NDArray[np.bool_], most: int) -> Refined:
    """Return what is known where ways are not counted, but some of them written down."""
    exact = (boxes.lo == boxes.hi).all(axis=1)
    filled = {int(number): (int(boxes.size[number]),) for number in np.flatnonzero(exact)}
    return Refined(
        worlds=least,
        alone=_alone(boxes, most),
        decided=decided,
        filled=filled,
        unused=""
        if decided.all()
        else "The table has too many combinations of values for a program over all of them.",
    )


def _of_uncut(
    rule: UncutClasses, boxes: Boxes, most: int, context: Context
) -> tuple[Refined, bool]:
    """Count the ways to fill each class that was not cut any further, and say if that is exact."""
    count = UncutWorlds(rule=rule, boxes=boxes, most=most)
    size = len(boxes.size)
    trees = cut_trees(rule, boxes, context)
    if trees is not None:
        before = [count.worlds(number, context, stop=False)[0] for number in range(size)]
        unknown = np.ones(size, dtype=np.int64)
        found = _of_worlds(trees, boxes, unknown, most, context, complete=True)
        return replace(found, alone=np.array(before)), True
    worlds, alone = np.ones(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    decided, filled, consistent = np.zeros(size, np.bool_), dict[int, tuple[int, ...]](), True
    for number in range(size):
        context.report(number / size, "Counting ways to fill classes")
        before, _ = count.worlds(number, context, stop=False)
        ways, known = count.worlds(number, context)
        sides = count.sides(number)
        consistent &= ways > 0
        worlds[number], alone[number] = max(ways, 1) if known else 1, before
        if known and ways == 1:
            decided[number] = True
            filled[number] = count.filled(number, context)
        # Rows that exchange their values in a column change no cut where each column was cut by
        # itself; where two columns vary there always are such rows.
        elif rule.marginal and len(sides) > 1:
            worlds[number], decided[number] = max(worlds[number], 2), True
    refined = Refined(
        worlds=worlds,
        alone=alone,
        decided=decided,
        filled=filled,
        consistent=consistent,
        unused="" if decided.all() else "Which cuts were made before the last was not used.",
    )
    return refined, False
