"""Whom a linking attacker looks for, and how often the right row of a register is picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.data.frequency import FrequencySet
from anon_core.methods.reidentification.candidates import Chosen, Known, candidates
from anon_core.methods.reidentification.register import Register, drawn_people, named_person
from anon_core.release.ground_truth import Places, Truth
from anon_core.release.knowledge.person_counts import Crowd
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
    """
    found = candidates(view, register, known, sets, context)
    chance = inside * found.held / np.maximum(found.rows, 1)
    single = found.rows == 1 if known.own is None else found.rows == found.held
    some = found.rows > 0
    # Where rows are too many to compare they count as few as can be.
    return Joined(chance=np.where(some, np.minimum(chance, 1.0), 0.0), single=single & some)


@dataclass(frozen=True, kw_only=True, eq=False)
class Aimed:
    """People whom an attacker looks for.

    Attributes
    ----------
    tuple : int64 array of shape (people,)
        What the register says of each.
    run : int64 array of shape (people,)
        The table's quasi tuple that is the same, -1 where there is none.
    inside : float64 array of shape (people,)
        Chance that the person is in the table at all; of several, that it is this one of them.
    there : float64 array of shape (people,)
        As `inside`, and a row of theirs is published.
    group : int64 array of shape (people,)
        Group of the person's row as the view numbers them, or of one of theirs; -1 for none.
    own, raw : tuple of int64 arrays of shape (entries,), or None
        Place of the person, class, and number of their rows in it, in the release and in the
        table as it is; None where a row is a person.
    drawn : bool
        Whether other people, or other rows of theirs, could have been drawn.
    """

    tuple: I64
    run: I64
    inside: F64
    there: F64
    group: I64
    drawn: bool
    own: tuple[I64, I64, I64] | None = None
    raw: tuple[I64, I64, I64] | None = None


def aim(
    register: Register, view: View, truth: Truth, people: int, row: int, context: Context
) -> Aimed:
    """Draw people of a register, or take the person of one row of the table.

    Where one person has several rows, a person of the table is drawn and known by the values of one
    of their rows, each as likely; of a population table, one of the people with these values, and
    of those of them who are in the table each is as likely as another.

    Parameters
    ----------
    truth : Truth
        Where the rows of the people are.
    people : int
        How many are drawn at most.
    row : int
        Row of the table, counted from 1; 0 for people drawn.

    Raises
    ------
    BadPlan
        If the table has no such row, or its person is not in the register.
    """
    generator = context.generator
    crowd, raw = truth.crowd, truth.raw_crowd
    if crowd is None or raw is None:
        found = (
            named_person(register, truth, row) if row else drawn_people(register, people, generator)
        )
        run = _run_of(truth, row) if row else register.runs_of(found, generator)
        inside = np.ones(1) if row else register.inside[found]
        return Aimed(
            tuple=found,
            run=run,
            inside=inside,
            there=inside * published_share(truth.frequency, truth.places)[run],
            group=own_groups(truth.frequency, truth.places, run, generator),
            drawn=not row and (len(found) < register.size or register.several),
        )
    if row:
        found, person = named_person(register, truth, row), _person_of(truth, row)
        run = _run_of(truth, row)
        drawn, inside = False, np.ones(1)
    elif register.total is None:  # a population table, of which each person is one line
        found = drawn_people(register, people, generator)
        run = register.runs_of(found, generator)
        person, drawn = _one_each(raw, run, generator), True
        inside = np.where(person >= 0, register.inside[found], 0.0)
    else:
        some = np.arange(raw.total)
        if raw.total > people:
            some = np.sort(generator.choice(raw.total, people, replace=False))
        run, person, drawn = _one_row_each(raw, some, generator)
        found = register.of_run[run]
        drawn, inside = drawn or len(some) < raw.total, np.ones(len(some))
    own, block = _rows_of(crowd, person), view.whole_quasi()
    group = np.full(len(person), -1, dtype=np.int64)
    if block is not None:
        group[own[0]] = view.persons(block).group[own[1]]
    return Aimed(
        tuple=found,
        run=run,
        inside=inside,
        there=np.where(group >= 0, inside, 0.0),
        group=group,
        drawn=drawn,
        own=own,
        raw=_rows_of(raw, person),
    )


def _run_of(truth: Truth, row: int) -> I64:
    """Return the quasi tuple of a row of the table, shape (1,)."""
    frequency = truth.frequency
    return frequency.run[frequency.row_key[row - 1 : row]].astype(np.int64)


def _person_of(truth: Truth, row: int) -> I64:
    """Return the person of a row of the table, shape (1,)."""
    person = truth.key_person
    assert person is not None
    return person[truth.frequency.row_key[row - 1 : row]]


def _one_each(raw: Crowd, run: I64, generator: np.random.Generator) -> I64:
    """Draw one of the persons who have each quasi tuple; -1 where there is none."""
    member, person = raw.pairs
    start = np.searchsorted(member, run)
    several = np.where(run >= 0, np.searchsorted(member, run, side="right") - start, 0)
    at = start + (generator.random(len(run)) * several).astype(np.int64)
    return np.where(several > 0, person[np.minimum(at, len(person) - 1)], -1)


def _one_row_each(raw: Crowd, some: I64, generator: np.random.Generator) -> tuple[I64, I64, bool]:
    """Draw a row of each of some persons, counted from 0 in the order of their numbers.

    Returns
    -------
    run, person : int64 arrays of shape (people,)
    drawn : bool
        Whether anyone of them has rows that say different things.
    """
    person, run, rows = raw.rows
    names, start = np.unique(person, return_index=True)
    until = np.append(start, len(person))
    cumulated = np.concatenate([[0], np.cumsum(rows)])
    before, after = cumulated[until[some]], cumulated[until[some + 1]]
    place = before + (generator.random(len(some)) * (after - before)).astype(np.int64)
    at = np.searchsorted(cumulated, place, side="right") - 1
    return run[at], names[some], bool(np.any(until[some + 1] - until[some] > 1))


def _rows_of(crowd: Crowd, person: I64) -> tuple[I64, I64, I64]:
    """Return place among `person`, class and rows of everything that is published of them."""
    whose, member, rows = crowd.rows
    start = np.searchsorted(whose, person)
    number = np.searchsorted(whose, person, side="right") - start
    place = np.repeat(np.arange(len(person)), number)
    step = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number)
    at = start[place] + step
    return place, member[at], rows[at]
