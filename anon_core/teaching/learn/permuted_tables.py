"""Releases with permuted columns: their tables, and what someone finds of a person in them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from anon_core.explain.answers.fitting import fitting
from anon_core.methods.bucketized.slice_chances import matching
from anon_core.release.outcome import per_cent
from anon_core.teaching.learn.pictures import Cell, People, Row, Table, group_tone
from anon_core.teaching.learn.text import head, listed, rows_said
from anon_core.teaching.learn.trace import Trace

PublishedRows = tuple[tuple[str, ...], list[tuple[str, ...]]]


@lru_cache(maxsize=16)
def published_rows(trace: Trace, name: str) -> tuple[PublishedRows, ...]:
    """Return columns and rows of every table that a run publishes."""
    # The first column is the group's number; it says nothing of how attackers number groups.
    frames = [one.to_pandas().astype(str) for one in trace[name].result.tables.values()]
    return tuple(
        (tuple(frame.columns), list(frame.itertuples(index=False, name=None))) for frame in frames
    )


def numbered_groups(trace: Trace, name: str) -> dict[str, int]:
    """Return the group, as rows of the table have it, behind every published number."""
    _, rows = published_rows(trace, name)[0]
    member = trace[name].result.member.tolist()
    return {row[0]: group for row, group in zip(rows, member, strict=True)}


def numbered(trace: Trace, name: str) -> tuple[int, ...]:
    """Return the group of every row as it is numbered in what is published, from 0."""
    number = {group: int(text) - 1 for text, group in numbered_groups(trace, name).items()}
    return tuple(number.get(group, -1) for group in trace[name].together)


@dataclass(frozen=True, kw_only=True)
class Chances:
    """What the published tables say of a person.

    Attributes
    ----------
    shows : mapping of int to tuple of (int, int)
        Of every bucket, for each set of columns the rows that show what the person shows, and all.
    buckets : mapping of int to Fraction
        p(t, B) of the buckets that match.
    seen_with : mapping of int to mapping of str to Fraction
        p(s | t, B) of each of them.
    value : mapping of str to Fraction
        p(t, s).
    """

    shows: Mapping[int, tuple[tuple[int, int], ...]]
    buckets: Mapping[int, Fraction]
    seen_with: Mapping[int, Mapping[str, Fraction]]
    value: Mapping[str, Fraction]


def blocks_shown(trace: Trace, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the sets of columns that show something known, and that of the sensitive column."""
    view = trace[name].release.view
    own = view.block_of(trace.sensitive[0])
    return tuple(b.columns for b in view.blocks if b is own or {*b.columns} & {*view.quasi})


@lru_cache(maxsize=256)
def chances(trace: Trace, name: str, row: int) -> Chances:
    """Return a person's chances, read from the index that the privacy model is measured by."""
    run, column = trace[name], trace.sensitive[0]
    view, frequency = run.release.view, run.result.problem.frequency
    index = matching(view, frequency.run_codes, column)
    texts = view.vocabularies[column].texts
    of = index.value[frequency.run[frequency.row_key[row]]].tolist()
    shows: dict[int, tuple[tuple[int, int], ...]] = {}
    weight: dict[int, Fraction] = {}
    seen_with: dict[int, dict[str, Fraction]] = {}
    for group, size in enumerate(index.size.tolist()):
        rows: list[int] = []
        for b, shown in enumerate(of):
            begin, end = index.value_start[shown : shown + 2].tolist() if shown >= 0 else (0, 0)
            (at,) = np.nonzero(index.group[begin:end] == group)
            rows.append(int(index.rows[begin + at[0]]) if len(at) else 0)
            if len(at) and b == index.star:
                entries = slice(*index.entry_start[begin + at[0] : begin + at[0] + 2].tolist())
                said = zip(index.sensitive[entries], index.together[entries], strict=True)
                seen_with[group] = {texts[s]: Fraction(int(n), rows[-1]) for s, n in said}
        shows[group] = tuple((n, size) for n in rows)
        if all(rows):
            weight[group] = prod((Fraction(n, size) for n in rows), start=Fraction(1))
    total = sum(weight.values(), start=Fraction(0))
    buckets = {group: f / total for group, f in weight.items()}
    value: dict[str, Fraction] = defaultdict(Fraction)
    for group, p in buckets.items():
        for text, share in seen_with[group].items():
            value[text] += p * share
    return Chances(
        shows=shows,
        buckets=buckets,
        seen_with={group: seen_with[group] for group in buckets},
        value=dict(sorted(value.items(), key=lambda one: (-one[1], one[0]))),
    )


@lru_cache(maxsize=16)
def who_fits(trace: Trace, name: str) -> Mapping[int, People]:
    """Return the rows of the table all of whose values a group shows, by the group's number."""
    number = dict(zip(trace[name].together, numbered(trace, name), strict=True))
    fits: dict[int, list[int]] = {n: [] for n in number.values()}
    for row in range(trace.rows):
        for group in chances(trace, name, row).buckets:
            fits[number[group]].append(row)
    return {n: tuple(rows) for n, rows in fits.items()}


def published_table(
    trace: Trace,
    name: str,
    number: int,
    title: str,
    *,
    by_group: bool = False,
    fit: Mapping[int, People] | None = None,
) -> Table:
    """Return a published table, coloured by group; rows that may be a person's are theirs.

    Parameters
    ----------
    name : str
        The run.
    number : int
        Which of its tables, from 0.
    by_group : bool
        Whether clicking a row names its group, ``bucket:`` and the number that groups have in the
        table, from 0, instead of the row. No one is marked: it is asked where someone is.
    fit : mapping of int to rows of the table, optional
        Who fits each group, as groups are numbered in the table, from 0; by default those all of
        whose values a group shows.
    """
    fitted = who_fits(trace, name) if fit is None else fit
    run, (columns, rows) = trace[name], published_rows(trace, name)[number]
    whole = any(set(trace.quasi) <= set(block) for block in run.release.blocks)
    shown = list[Row]()
    for place, cells in enumerate(rows):
        said = dict(zip(columns, cells, strict=True))
        mine = fitted[int(cells[0]) - 1]
        if whole and set(trace.quasi) <= set(columns):
            mine = tuple(r for r in mine if all(trace.texts(q)[r] == said[q] for q in trace.quasi))
        shown.append(
            Row(
                id=f"bucket:{int(cells[0]) - 1}" if by_group else f"{name}:{number}:{place}",
                cells=tuple(Cell(text=text) for text in cells),
                tone=group_tone(int(cells[0]) - 1),
                people=() if by_group else mine,
            )
        )
    return Table(
        title=title,
        columns=tuple(head(trace, c) for c in columns),
        rows=tuple(shown),
        release=name,
        corner="",
    )


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
