"""What someone finds in a release whose columns are shuffled, without the group and with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anon_core.explain.answers.fitting import fitting
from anon_core.release.outcome import per_cent
from anon_core.teaching.learn.chances import chances
from anon_core.teaching.learn.lesson import Step
from anon_core.teaching.learn.published_tables import numbered, numbered_groups, published_rows
from anon_core.teaching.learn.readings import Seen
from anon_core.teaching.learn.text import listed, rows_said
from anon_core.teaching.learn.trace import Trace


def attack_said(trace: Trace, step: Step, person: int) -> str:
    """Return what is found by someone who knows a person's quasi-identifiers.

    Empty where nothing is published yet, and would not be if the algorithm stopped here.

    Parameters
    ----------
    person : int
        Row of the person.
    """
    if step.found:
        return step.found[person]
    return "" if step.seen is None else _fits_said(step.seen, trace.name_of(person), person)


def _fits_said(seen: Seen, who: str, person: int) -> str:
    """Say which rows fit a person, and what these rows show."""
    rows = seen.fits(person)
    said = "Someone" if seen.published else "If this table were published, someone"
    said += f" who knows {listed(seen.known)} of {who} finds "
    if seen.rows[person] < 0:
        none = f"{rows_said(len(rows))}{_numbered(rows)}, none of them theirs" if rows else "no row"
        return f"{said}{none}: {who} is suppressed."
    said += rows_said(len(rows))
    certain = "for certain" if len(rows) == 1 else f"1 time in {len(rows)}"
    said += f"{_numbered(rows)} and picks the right one {certain}."
    return said + "".join(_value_said(seen, person, column) for column in seen.secret)


def _numbered(rows: tuple[int, ...]) -> str:
    return f" ({listed(str(row + 1) for row in rows)})" if rows else ""


def _value_said(seen: Seen, person: int, column: str) -> str:
    values = seen.values(person, column)
    most, often = next(iter(values.items()))
    every = sum(values.values())
    if every == 1:
        return f" {column} is {most}."
    if len(values) == 1:
        return f" {column} is {most} in all of them, so it is known."
    return f" {column} is one of {len(values)} values; {most} has {often} of {every}."


def _in_group(trace: Trace, name: str, row: int, column: str) -> list[dict[str, str]]:
    """Return the published rows of a person's group, of the table that has a column."""
    own, groups = trace[name].together[row], numbered_groups(trace, name)
    for columns, rows in published_rows(trace, name):
        if column in columns:
            mine = [one for one in rows if groups[one[0]] == own]
            return [dict(zip(columns, one, strict=True)) for one in mine]
    return []


def _fitting(trace: Trace, name: str, row: int, column: str, known: Sequence[str]) -> list[str]:
    """Return what the rows of a person's group that show what is known of them say in a column."""
    return [
        one[column]
        for one in _in_group(trace, name, row, column)
        if all(one[q] == trace.texts(q)[row] for q in known)
    ]


def shuffled_exact(trace: Trace, name: str, row: int) -> int:
    """Return how many rows of a person's group show all their quasi-identifiers."""
    return len(_fitting(trace, name, row, trace.quasi[0], trace.quasi))


def shuffled_possible(trace: Trace, name: str, row: int) -> Counter[str]:
    """Return the sensitive values that may be a person's, by what stays linked to them."""
    column = trace.sensitive[0]
    (block,) = (one for one in trace[name].release.blocks if column in one)
    known = [q for q in trace.quasi if q in block]
    return Counter(_fitting(trace, name, row, column, known))


def shuffled_found(trace: Trace, name: str) -> tuple[str, ...]:
    """Return what is found of every person, first without the group, then by who knows it too."""
    return tuple(
        f"Someone who knows {listed(trace.quasi)} of {trace.names[row]} finds "
        f"{_groups_said(trace, name, row)}. {_by_columns(trace, name, row)} "
        f"{_by_group(trace, name, row)}"
        for row in range(trace.rows)
    )


def _groups_said(trace: Trace, name: str, row: int) -> str:
    """Return the groups that can hold a person: each of their values is shown in each of these."""
    number = dict(zip(trace[name].together, numbered(trace, name), strict=True))
    groups = chances(trace, name, row).buckets
    said = listed(str(n + 1) for n in sorted(number[group] for group in groups))
    rows = sum(trace[name].together.count(group) for group in groups)
    if len(groups) == 1:
        return f"one group that can hold them: {said}, of {rows_said(rows)}"
    return f"{len(groups)} groups that can hold them: {said}, of {rows_said(rows)} together"


def _by_columns(trace: Trace, name: str, row: int) -> str:
    """Say what the rows that may fit a person tell, on average over all ways to shuffle them."""
    column, problem = trace.sensitive[0], trace[name].result.problem
    known = np.array([[problem.leaf_codes(q)[row] for q in trace.quasi]], dtype=np.int32)
    found = fitting(trace[name].result, trace.quasi, known, column)
    shown = found.shown[0] / found.shown[0].sum()
    most, values = int(shown.argmax()), int((shown > 0).sum())
    if values == 1:
        return f"{column} is {found.values[most]}."
    return (
        f"{column} is one of {values} values; {found.values[most]} has a chance of "
        f"{per_cent(float(shown[most]))}."
    )


def _by_group(trace: Trace, name: str, row: int) -> str:
    """Say what is left to someone who knows the group as well."""
    column, values = trace.sensitive[0], shuffled_possible(trace, name, row)
    most, often = values.most_common(1)[0]
    if len(values) == 1:
        return f"With the group known, {column} is {most}."
    return (
        f"With the group known, {column} is one of {len(values)} values; {most} has {often} of "
        f"{sum(values.values())} rows that fit."
    )
