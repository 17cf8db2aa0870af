"""Predicates that isolate one person of a table: how light they are, and how often they do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.data.frequency import FrequencySet
from anon_core.methods.matching.fitting_people import people_of_classes
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.people import Population
from anon_core.release.release import Persons, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicates:
    """One predicate a class: to fit its cells, and a keyed hash of the whole row that 1/m pass.

    Attributes
    ----------
    weight : float64 array of shape (classes,)
        Chance that a row drawn from the population satisfies it.
    chance : float64 array of shape (classes,)
        Chance that it isolates one of as many rows drawn from the population.
    success : float64 array of shape (classes,)
        Chance, over the hash, that it isolates a row of the table; 0 where it is not light.
    light : bool array of shape (classes,)
        Whether so few rows of a drawn table are expected to satisfy it that it counts.
    """

    weight: F64
    chance: F64
    success: F64
    light: npt.NDArray[np.bool_]


def by_chance(weight: F64, rows: int) -> F64:
    """Return the chance that exactly one of n drawn rows satisfies a predicate of some weight.

    It is n·w·(1 − w)^(n − 1) (Cohen and Nissim 2020, doi 10.1073/pnas.1914598117).

    Examples
    --------
    >>> by_chance(np.array([1 / 1000]), 1000).round(4).tolist()
    [0.3681]
    """
    return rows * weight * (1 - weight) ** (rows - 1)


def by_hash(single: I64, distinct: I64, share: F64) -> F64:
    """Return the chance that a random hash leaves exactly one row, by whole rows that differ.

    Parameters
    ----------
    single : int64 array of shape (classes,)
        Whole rows that no one else has.
    distinct : int64 array of shape (classes,)
        Whole rows that differ: equal ones pass together.
    share : float64 array of shape (classes,)
        Share of the rows that pass.

    Examples
    --------
    >>> sizes = np.array([2, 3, 5, 10])
    >>> by_hash(sizes, sizes, 1 / sizes).round(3).tolist()
    [0.5, 0.444, 0.41, 0.387]
    """
    return single * share * (1 - share) ** np.maximum(distinct - 1, 0)


def predicates(
    view: View,
    persons: Persons,
    population: Population,
    truth: Truth,
    light: float,
    context: Context,
) -> Predicates:
    """Weigh the predicate of every class, and score those that are light.

    Parameters
    ----------
    persons : Persons
        Its classes of whole rows.
    population : Population
        What rows are taken to be drawn from; with a table.
    light : float
        Rows of a drawn table that may be expected to satisfy a predicate that counts.
    """
    sizes, rows = persons.sizes, int(persons.sizes.sum())
    people = people_of_classes(population, view, persons, context)
    share = 1 / sizes
    weight = people / population.size * share
    lighter = rows * weight <= light
    success = np.zeros(len(sizes))
    if lighter.any():
        single, distinct = _whole_rows(view, persons, truth.frequency, lighter, context)
        success[lighter] = by_hash(single, distinct, share[lighter])
    return Predicates(weight=weight, chance=by_chance(weight, rows), success=success, light=lighter)


def _whole_rows(
    view: View,
    persons: Persons,
    frequency: FrequencySet,
    chosen: npt.NDArray[np.bool_],
    context: Context,
) -> tuple[I64, I64]:
    """Return how many whole rows that fit some classes are single, and how many differ."""
    runs = len(frequency.run_count)
    single = np.bincount(frequency.run[frequency.count == 1], minlength=runs).astype(np.int64)
    distinct = np.bincount(frequency.run, minlength=runs).astype(np.int64)
    codes = persons.codes[chosen]
    ends = [view.vocabularies[n] for n in persons.columns]
    low = np.stack([v.lo[codes[:, d]] for d, v in enumerate(ends)], axis=1)
    high = np.stack([v.hi[codes[:, d]] for d, v in enumerate(ends)], axis=1)
    own = frequency.run_codes[:, [view.quasi.index(n) for n in persons.columns]]
    if np.array_equal(low, high):  # runs are sorted by their codes, whole classes are runs
        place = {tuple(row): n for n, row in enumerate(own.tolist())}
        at = np.array([place.get(tuple(row), -1) for row in low.tolist()], dtype=np.int64)
        none = at < 0
        return np.where(none, 0, single[at]), np.where(none, 0, distinct[at])
    found = np.zeros((2, len(low)), dtype=np.int64)
    for number, (lo, hi) in enumerate(zip(low, high, strict=True)):
        context.check()
        fits = np.ones(runs, dtype=np.bool_)
        for d in range(own.shape[1]):
            fits &= (own[:, d] >= lo[d]) & (own[:, d] <= hi[d])
        found[:, number] = single[fits].sum(), distinct[fits].sum()
    return found[0], found[1]
