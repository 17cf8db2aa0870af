"""What runs publish whose links are cut: their tables as they stand, rows of people as groups."""

from __future__ import annotations

from functools import lru_cache

from anon_core.teaching.learn.pictures import Cell, Row, Table, group_tone
from anon_core.teaching.learn.text import head, people_of
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
    """Return the group, as rows of the table are told it, behind every published number."""
    _, rows = published_rows(trace, name)[0]
    member = trace[name].result.member.tolist()
    return {row[0]: group for row, group in zip(rows, member, strict=True)}


def numbered(trace: Trace, name: str) -> tuple[int, ...]:
    """Return the group of every row as it is numbered in what is published, from 0."""
    number = {group: int(text) - 1 for text, group in numbered_groups(trace, name).items()}
    return tuple(number.get(group, -1) for group in trace[name].together)


def published_table(
    trace: Trace, name: str, number: int, title: str, *, by_group: bool = False
) -> Table:
    """Return a published table, coloured by group; rows that may be a person's are theirs.

    Parameters
    ----------
    trace : Trace
    name : str
        The run.
    number : int
        Which of its tables, from 0.
    title : str
    by_group : bool
        Whether clicking a row names its group, ``bucket:`` and the number that groups have in the
        table, from 0, in place of the row. Nobody is marked: it is asked where somebody is.
    """
    run, (columns, rows) = trace[name], published_rows(trace, name)[number]
    whole = any(set(trace.quasi) <= set(block) for block in run.release.blocks)
    groups, shown = numbered_groups(trace, name), list[Row]()
    for place, cells in enumerate(rows):
        said = dict(zip(columns, cells, strict=True))
        group = groups[cells[0]]
        mine = people_of(run.together, group)
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
