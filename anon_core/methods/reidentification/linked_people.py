"""People of a register joined to a release: how often the right row is picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.data.frequency import FrequencySet
from anon_core.methods.reidentification.candidates import Chosen, Known, candidates
from anon_core.methods.reidentification.register import Register
from anon_core.release.ground_truth import Places
from anon_core.release.release import View


@dataclass(frozen=True, kw_only=True, eq=False)
class Joined:
    """What joining comes to, by set of known columns.

    Attributes
    ----------
    chance : float64 array of shape (sets, people)
        Chance of picking the right row.
    single : bool array of shape (sets, people)
        Whether a single row fits; where one person has several, whether only their rows do.
    """

    chance: F64
    single: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def own_groups(
    people: FrequencySet, places: Places, run: I64, generator: np.random.Generator
) -> I64:
    """Draw where the row of each person is, among the rows of those with equal values.

    Parameters
    ----------
    run : int64 array of shape (people,)
        The person's quasi tuple, -1 for someone who is not in the table.

    Returns
    -------
    int64 array of shape (people,)
        -1 where it is not published.
    """
    own = people.run[places.key]
    order = np.argsort(own, kind="stable")
    until = np.cumsum(places.count[order])
    start = np.searchsorted(own[order], np.arange(len(people.run_count)))
    before = np.concatenate([[0], until])[start]
    rows = people.run_count[np.maximum(run, 0)]
    place = before[np.maximum(run, 0)] + (generator.random(len(run)) * rows).astype(np.int64)
    entry = order[np.minimum(np.searchsorted(until, place, side="right"), len(order) - 1)]
    return np.where(run >= 0, places.group[entry], -1)


def published_share(people: FrequencySet, places: Places) -> F64:
    """Return the share of each quasi tuple's rows that are published, shape (tuples,)."""
    shown = np.where(places.group >= 0, places.count, 0)
    rows = np.bincount(people.run[places.key], shown, len(people.run_count))
    return rows / people.run_count


def joined(
    view: View,
    register: Register,
    known: Known,
    inside: F64,
    sets: Sequence[Chosen],
    context: Context,
) -> Joined:
    """Join people to a release and pick one of the rows that fit.

    Parameters
    ----------
    inside : float64 array of shape (people,)
        Chance that the person is in the table at all, or is the one whose rows are looked for.
    sets : sequence of tuple of int
    """
    found = candidates(view, register, known, sets, context)
    chance = inside * found.held / np.maximum(found.rows, 1)
    single = found.rows == 1 if known.own is None else found.rows == found.held
    some = found.rows > 0
    # Where rows are too many to compare they count as few as can be.
    return Joined(chance=np.where(some, np.minimum(chance, 1.0), 0.0), single=single & some)
