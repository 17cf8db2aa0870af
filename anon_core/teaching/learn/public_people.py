"""The people of a public table, and what a release with it says of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan

from anon_core.base.context import Context
from anon_core.data.table import Dataset
from anon_core.methods.membership.decisions import find_members
from anon_core.methods.membership.joint_model import JointProblem, overlapping, united
from anon_core.methods.membership.membership_probabilities import grade
from anon_core.pipeline.runner import run as carried_out
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.problem import Problem
from anon_core.release.release import View
from anon_core.teaching.learn.example import Material
from anon_core.teaching.learn.permuted_tables import numbered
from anon_core.teaching.learn.pictures import Cell, Head, People, Row, Table
from anon_core.teaching.learn.readings import Seen
from anon_core.teaching.learn.text import head, listed
from anon_core.teaching.learn.trace import Trace, texts_of

#: Layer width up to which chances are counted.
_STATES = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Presence:
    """What follows for everyone of the public table.

    Attributes
    ----------
    joint, union : tuple of float
        δ of every public person: all groups together, and overlapping groups taken for one; NaN
        where it was not counted.
    fits : tuple of tuples of int
        Groups, as they are numbered in what is published, from 0, that every public person fits.
    """

    joint: tuple[float, ...]
    union: tuple[float, ...]
    fits: tuple[tuple[int, ...], ...]


def public_table(material: Material) -> Dataset:
    """Return the public table of a lesson.

    Where none was given it holds everyone of the table, and half as many people made up from their
    values.
    """
    if material.population is not None:
        return material.population
    import pandas as pd

    quasi, rows = material.roles.quasi, material.dataset.rows
    texts = {q: texts_of(material, q) for q in quasi}
    own = [tuple(texts[q][row] for q in quasi) for row in range(rows)]
    made = [(*own[row][:1], *own[(row + 1) % rows][1:]) for row in range(0, rows, 2)]
    kinds = {q: material.dataset.column(q).kind for q in quasi}
    return Dataset.from_frame(pd.DataFrame([*own, *made], columns=list(quasi)), kinds=kinds)


def made_up(trace: Trace) -> str:
    """Return a sentence where the public table was made up, beginning with a blank."""
    if trace.material.population is not None:
        return ""
    return (
        " No public table was given: it is made up of everyone in the table and half as many "
        "people "
        "generated from their values."
    )


@lru_cache(maxsize=16)
def public_people(trace: Trace) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return names and quasi-identifiers of the public people."""
    public = public_table(trace.material)
    as_material = Material(dataset=public, roles=trace.material.roles)
    columns = [texts_of(as_material, q) for q in trace.quasi]
    rows = tuple(zip(*columns, strict=True))
    called = [n for n in public.names if n in trace.material.roles.identifier]
    if called:
        return texts_of(as_material, called[0]), rows
    if trace.material.population is not None:
        return tuple(f"person {n + 1}" for n in range(len(rows))), rows
    made = (f"made up {n + 1}" for n in range(len(rows) - trace.rows))
    return (*trace.names, *made), rows


def own_rows(trace: Trace) -> dict[str, int]:
    """Return the row of the table behind a public person's name."""
    return {name: row for row, name in enumerate(trace.names)}


def people_table(
    trace: Trace, title: str, heads: Sequence[str], cells: Sequence[Sequence[Cell]]
) -> Table:
    """Return the public people with some columns next to their quasi-identifiers."""
    names, public = public_people(trace)
    rows_of = own_rows(trace)
    rows = tuple(
        Row(
            id=f"public:{place}",
            label=name,
            people=(rows_of[name],) if name in rows_of else (),
            cells=(*(Cell(text=text) for text in public[place]), *cells[place]),
        )
        for place, name in enumerate(names)
    )
    columns = (*(head(trace, q) for q in trace.quasi), *(Head(name=text) for text in heads))
    return Table(title=title, columns=columns, rows=rows, corner="who")


@lru_cache(maxsize=16)
def presence(trace: Trace, name: str) -> Presence:
    """Attack a run with the public table: the attack on membership, person by person."""
    run = trace[name]
    named = {*run.result.problem.quasi, *run.result.problem.sensitive}
    again = carried_out(
        run.result.plan,
        trace.material.dataset,
        {n: levels for n, levels in trace.material.levels.items() if n in named},
        population=public_table(trace.material),
        assess=False,
    )
    return _found_in(again.release.view, again.problem, published_numbers(trace, name))


def presence_if(seen: Seen) -> Presence:
    """Attack what would be published if one stopped here; groups are numbered as in the view."""
    numbers = {g: g for g in range(len(seen.view.group_size))}
    return _found_in(seen.view, seen.problem, numbers)


def _found_in(view: View, problem: Problem, number: Mapping[int, int]) -> Presence:
    """Attack a release of a problem that has a public table."""
    population, context = audience_of(problem).population, Context()
    assert population is not None
    assert population.row_tuple is not None
    members = find_members(view, population, context)
    joint = grade(members, context, max_states=_STATES)
    label = overlapping(members.published.joint, len(view.group_size))
    taken = find_members(united(view, label), population, context)
    union = grade(taken, context, max_states=_STATES)
    of = population.row_tuple
    groups = _groups_of(members.published.joint, len(joint.chance))
    return Presence(
        joint=tuple(joint.chance[of].tolist()),
        union=tuple(union.chance[of].tolist()),
        fits=tuple(tuple(sorted(number[g] for g in groups[t])) for t in of.tolist()),
    )


def chance_said(chance: float) -> str:
    """Return how sure it is that someone is in the table."""
    if isnan(chance):
        return "with a chance that was not counted"
    if chance >= 1:
        return "for certain"
    return f"with a chance of {chance:.3g}" if chance else "with no chance"


def presence_found(trace: Trace, found: Presence, *, if_published: bool = False) -> tuple[str, ...]:
    """Return what someone with the public table finds of every person of the table."""
    _, public = public_people(trace)
    someone = "If this were published, someone" if if_published else "Someone"
    said: list[str] = []
    for row in range(trace.rows):
        place = public.index(tuple(trace.texts(q)[row] for q in trace.quasi))
        fits, chance = found.fits[place], found.joint[place]
        groups = f"{len(fits)} group{'' if len(fits) == 1 else 's'} of the release"
        there = f"they are in the table {chance_said(chance)}"
        said.append(
            f"{someone} who knows {listed(trace.quasi)} of {trace.names[row]}, and the public "
            f"table, finds {groups} that can hold them: {there}."
        )
    return tuple(said)


@lru_cache(maxsize=16)
def people_who_fit(trace: Trace, name: str) -> Mapping[int, People]:
    """Return the rows of the table that fit each published group, numbered from 0."""
    found, (_, public) = presence(trace, name), public_people(trace)
    own = [public.index(tuple(trace.texts(q)[r] for q in trace.quasi)) for r in range(trace.rows)]
    return {
        group: tuple(row for row, place in enumerate(own) if group in found.fits[place])
        for group in set(numbered(trace, name))
    }


def published_numbers(trace: Trace, name: str) -> dict[int, int]:
    """Return the number, from 0, under which a group is shown, by its number in the run."""
    together = trace[name].together
    shown = numbered(trace, name) if trace[name].release.grouping.published else together
    return dict(zip(together, shown, strict=True))


def _groups_of(joint: JointProblem, types: int) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(types)]
    for bucket, kind in zip(joint.bucket.tolist(), joint.types.tolist(), strict=True):
        found[kind].add(bucket)
    return found
