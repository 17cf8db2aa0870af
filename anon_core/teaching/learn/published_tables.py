"""What runs publish whose links are cut: their tables as they are, rows of people as groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from anon_core.teaching.learn.chances import chances
from anon_core.teaching.learn.pictures import Cell, People, Row, Table, group_tone
from anon_core.teaching.learn.text import head
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
    fitting = who_fits(trace, name) if fit is None else fit
    run, (columns, rows) = trace[name], published_rows(trace, name)[number]
    whole = any(set(trace.quasi) <= set(block) for block in run.release.blocks)
    shown = list[Row]()
    for place, cells in enumerate(rows):
        said = dict(zip(columns, cells, strict=True))
        mine = fitting[int(cells[0]) - 1]
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
