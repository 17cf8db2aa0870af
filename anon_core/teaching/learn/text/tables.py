"""Tables of the rows, and classes as bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from anon_core.teaching.learn.pictures import (
    Bar,
    Bars,
    Cell,
    Head,
    People,
    Row,
    Table,
    Tone,
    group_tone,
)
from anon_core.teaching.learn.text.words import listed, rows_said
from anon_core.teaching.learn.trace import Run, Trace


def head(trace: Trace, column: str, tone: Tone = "plain") -> Head:
    """Return the head of a column with its role."""
    roles = trace.material.roles
    for role in ("identifier", "quasi", "sensitive"):
        if column in getattr(roles, role):
            return Head(name=column, role=role, tone=tone)
    return Head(name=column, tone=tone)


def columns_shown(trace: Trace, *, identifier: bool = True) -> tuple[str, ...]:
    """Return the columns a lesson's tables have, in the table's order."""
    roles = trace.material.roles
    named = {*trace.quasi, *trace.sensitive, *(roles.identifier if identifier else ())}
    return tuple(name for name in trace.material.dataset.names if name in named)


def table(
    trace: Trace,
    title: str,
    *,
    together: Sequence[int] = (),
    cells: Mapping[str, Sequence[str]] | None = None,
    identifier: bool = True,
    tones: Mapping[int, Tone] | None = None,
    heads: Mapping[str, Tone] | None = None,
    order: Sequence[int] | None = None,
    release: str = "",
    note: str = "",
) -> Table:
    """Return the table row by row.

    Parameters
    ----------
    together : sequence of int, optional
        Group of every row, which colours it; rows of one group then are together.
    cells : mapping of str to sequence of str, optional
        What columns say instead of their own texts, row by row; what they said is shown too.
    identifier : bool
        Whether identifiers are shown, as only anyone who holds the table sees them.
    tones : mapping of int to Tone, optional
        Rows that are out.
    heads : mapping of str to Tone, optional
        Columns that are out.
    order : sequence of int, optional
        The rows to show; by default all.
    release : str
        Name of the run whose release this is.
    """
    names = columns_shown(trace, identifier=identifier)
    texts = {name: trace.texts(name) for name in names}
    rows: list[Row] = []
    shown = list(order) if order is not None else list(range(trace.rows))
    if together and order is None:
        shown.sort(key=lambda row: (together[row] < 0, together[row], row))
    for row in shown:
        said = [(cells or {}).get(name, texts[name])[row] for name in names]
        gone = bool(together) and together[row] < 0
        rows.append(
            Row(
                id=f"row:{row}",
                label=str(row + 1),
                people=(row,),
                tone=(tones or {}).get(row, group_tone(together[row]) if together else "plain"),
                cells=tuple(
                    Cell(
                        text="suppressed" if gone and name in (cells or {}) else text,
                        was=texts[name][row] if text != texts[name][row] and not gone else "",
                    )
                    for name, text in zip(names, said, strict=True)
                ),
            )
        )
    heads_ = tuple(head(trace, name, (heads or {}).get(name, "plain")) for name in names)
    return Table(title=title, columns=heads_, rows=tuple(rows), note=note, release=release)


def release_table(
    trace: Trace, name: str, title: str, *, together: Sequence[int] = (), note: str = ""
) -> Table:
    """Return what a run publishes, row by row; for releases whose rows stay whole.

    Groups are numbered as in `together` where that is given.
    """
    run = trace[name]
    cells = {column: run.published(column) for column in trace.quasi}
    return table(
        trace,
        title,
        together=together or run.together,
        cells=cells,
        identifier=False,
        release=name,
        note=note,
    )


def class_bars(
    trace: Trace, together: Sequence[int], least: int, *, title: str = "Rows of every class"
) -> Bars:
    """Return how many rows every group has, against the number a privacy model asks for."""
    sizes = Counter(group for group in together if group >= 0)
    bars = tuple(
        Bar(
            id=f"part:{group}",
            label=listed([trace.names[r] for r in people_of(together, group)][:4])
            + ("…" if sizes[group] > 4 else ""),
            value=sizes[group],
            text=rows_said(sizes[group]),
            tone=group_tone(group) if sizes[group] >= least else "bad",
            people=people_of(together, group),
        )
        for group in sorted(sizes)
    )
    return Bars(title=title, bars=bars, unit="rows", limit=(least, f"k = {least}"))


def people_of(together: Sequence[int], group: int) -> People:
    """Return the rows of a group."""
    return tuple(row for row, own in enumerate(together) if own == group)


def least_of(run: Run) -> int:
    """Return the rows that the privacy models of a run ask every class to have."""
    return max((model.least_size() for model in run.result.plan.models), default=1)
