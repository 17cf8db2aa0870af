"""What lessons say and show alike: tables of the rows, classes as bars, people in the plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..release.problem import Problem
from .lesson import Choice, Question
from .pictures import (
    Bar,
    Bars,
    Box,
    Branch,
    Cell,
    Cut,
    Head,
    Lattice,
    Node,
    People,
    Plane,
    Point,
    Row,
    Scale,
    State,
    Table,
    Tone,
    Tree,
    group_tone,
)
from .trace import Run, Trace

Levels = tuple[int, ...]


def rows_said(number: int) -> str:
    """Return a number of rows in words.

    Examples
    --------
    >>> rows_said(1), rows_said(3)
    ('1 row', '3 rows')
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def listed(texts: Iterable[str], last: str = "and") -> str:
    """Return texts as a list within a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *most, end = list(texts) or [""]
    return f"{', '.join(most)} {last} {end}" if most else end


def number_question(asks: str, right: int, why: str, *, near: Sequence[int] = ()) -> Question:
    """Return a question for a number; `near` are the other numbers that are offered."""
    others = near or [n for n in (right - 2, right - 1, right + 1, right + 2) if n >= 0]
    numbers = sorted({right, *others})
    choices = tuple(Choice(id=f"number:{n}", label=f"{n:,}") for n in numbers)
    return Question(asks=asks, choices=choices, answer=f"number:{right}", why=why)


def yes_or_no(asks: str, yes: bool, why: str) -> Question:
    """Return a question whose answer is yes or no."""
    choices = (Choice(id="yes", label="Yes"), Choice(id="no", label="No"))
    return Question(asks=asks, choices=choices, answer="yes" if yes else "no", why=why)


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
    trace : Trace
    title : str
    together : sequence of int, optional
        Group of every row, which colours it; rows of one group then stand together.
    cells : mapping of str to sequence of str, optional
        What columns say instead of their own texts, row by row; what they said is shown too.
    identifier : bool
        Whether identifiers are shown, as only whoever holds the table sees them.
    tones : mapping of int to Tone, optional
        Rows that stand out.
    heads : mapping of str to Tone, optional
        Columns that stand out.
    order : sequence of int, optional
        The rows to show; by default all.
    release : str
        Name of the run whose release this is.
    note : str
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
    """Return how many rows every group has, against the number a promise asks for."""
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
    """Return the rows that the promises of a run ask every class to have."""
    return max((model.least_size() for model in run.result.plan.models), default=1)


# ---- the plane -----------------------------------------------------------------------------


def scale(problem: Problem, column: str) -> Scale:
    """Return a quasi-identifier as an axis: the values of rows, evenly spaced, in their order."""
    hierarchy = problem.hierarchies[column]
    seen = sorted(set(codes_of(problem, column)))
    ticks = tuple((float(i), hierarchy.leaves[leaf]) for i, leaf in enumerate(seen))
    return Scale(column=column, low=-0.5, high=len(seen) - 0.5, ticks=ticks)


def places_of(problem: Problem, column: str) -> tuple[int, ...]:
    """Return where every row stands on the axis of a column."""
    codes = codes_of(problem, column)
    seen = sorted(set(codes))
    return tuple(seen.index(code) for code in codes)


def codes_of(problem: Problem, column: str) -> tuple[int, ...]:
    """Return the leaf of every row."""
    return tuple(problem.leaf_codes(column).tolist())


def plane(
    trace: Trace,
    title: str,
    together: Sequence[int],
    *,
    axes: tuple[str, str] | None = None,
    cuts: Sequence[Cut] = (),
    tones: Mapping[int, Tone] | None = None,
    boxes: bool = True,
    note: str = "",
) -> Plane:
    """Return all rows over two columns, and the box around each group."""
    across, up = axes or (trace.quasi[0], trace.quasi[min(1, len(trace.quasi) - 1)])
    x, y = places_of(trace.problem, across), places_of(trace.problem, up)
    points = tuple(
        Point(
            id=f"row:{row}",
            x=x[row],
            y=y[row],
            label=str(row + 1),
            people=(row,),
            tone=(tones or {}).get(row, group_tone(together[row])),
        )
        for row in range(trace.rows)
    )
    found: list[Box] = []
    for group in sorted({g for g in together if g >= 0}) if boxes else ():
        mine = people_of(together, group)
        found.append(
            Box(
                id=f"part:{group}",
                x=(min(x[r] for r in mine) - 0.42, max(x[r] for r in mine) + 0.42),
                y=(min(y[r] for r in mine) - 0.42, max(y[r] for r in mine) + 0.42),
                label=rows_said(len(mine)),
                tone=group_tone(group),
                people=mine,
            )
        )
    return Plane(
        title=title,
        across=scale(trace.problem, across),
        up=scale(trace.problem, up),
        points=points,
        boxes=tuple(found),
        cuts=tuple(cuts),
        note=note,
    )


# ---- the lattice ---------------------------------------------------------------------------


def node_label(columns: Sequence[str], levels: Sequence[int]) -> str:
    """Return a node by the first letters of its columns, with their levels.

    Examples
    --------
    >>> node_label(["Race", "ZIP"], (1, 0))
    'R1 Z0'
    """
    wide = 1
    while wide < 4 and len({name[:wide] for name in columns}) < len(columns):
        wide += 1
    return " ".join(f"{name[:wide]}{n}" for name, n in zip(columns, levels, strict=True))


def node_said(columns: Sequence[str], levels: Sequence[int]) -> str:
    """Return a node within a sentence.

    Examples
    --------
    >>> node_said(["Race", "ZIP"], (1, 0))
    'Race at level 1, ZIP at level 0'
    """
    return ", ".join(f"{name} at level {n}" for name, n in zip(columns, levels, strict=True))


def node_id(levels: Sequence[int]) -> str:
    """Return what a node is clicked by."""
    return "node:" + ",".join(map(str, levels))


def all_levels(heights: Sequence[int]) -> list[Levels]:
    """Return every node of a lattice, lowest first."""
    places = np.indices([h + 1 for h in heights]).reshape(len(heights), -1).T
    found = [tuple(place) for place in places.tolist()]
    return sorted(found, key=lambda levels: (sum(levels), tuple(-n for n in levels)))


def lattice(
    columns: Sequence[str],
    heights: Sequence[int],
    title: str,
    *,
    state: Callable[[Levels], State],
    notes: Mapping[Levels, str] | None = None,
    probe: int | None = None,
    note: str = "",
) -> Lattice:
    """Return the lattice of some columns, every node in its state."""
    found = all_levels(heights)
    nodes = tuple(
        Node(
            id=node_id(levels),
            label=node_label(columns, levels),
            height=sum(levels),
            state=state(levels),
            note=(notes or {}).get(levels, ""),
        )
        for levels in found
    )
    links: list[tuple[str, str]] = []
    for levels in found:
        for d, height in enumerate(heights):
            if levels[d] < height:
                above = (*levels[:d], levels[d] + 1, *levels[d + 1 :])
                links.append((node_id(levels), node_id(above)))
    return Lattice(title=title, nodes=nodes, links=tuple(links), probe=probe, note=note)


def value_tree(problem: Problem, column: str, *, title: str = "", level: int = -1) -> Tree:
    """Return a hierarchy as a tree of its labels; the nodes of one level may stand out."""
    hierarchy = problem.hierarchies[column]
    top = hierarchy.height

    def branch(at: int, node: int) -> Branch:
        nodes = hierarchy.node(at)
        below: list[int] = []
        if at:
            under = hierarchy.node(at - 1)[nodes == node]
            below = sorted(set(under.tolist()))
        rows = problem.leaf_codes(column)
        return Branch(
            id=f"value:{column}:{at}:{node}",
            label=hierarchy.labels[at][node],
            state="now" if at == level else "open",
            people=tuple(np.flatnonzero(nodes[rows] == node).tolist()) if at == level else (),
            below=tuple(branch(at - 1, n) for n in below),
        )

    return Tree(title=title or f"Hierarchy of {column}", root=branch(top, 0))


def cells_at(problem: Problem, levels: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Return what every row says with its quasi-identifiers at these levels."""
    found: dict[str, tuple[str, ...]] = {}
    for h, level in zip(problem.quasi_hierarchies, levels, strict=True):
        node = h.node(level)[problem.leaf_codes(h.column)]
        found[h.column] = tuple(h.labels[level][n] for n in node.tolist())
    return found


def together_at(problem: Problem, levels: Sequence[int], least: int) -> tuple[int, ...]:
    """Return the class of every row at these levels, -1 where it has fewer rows than asked."""
    said = list(zip(*cells_at(problem, levels).values(), strict=True))
    sizes = Counter(said)
    numbers = {
        texts: n for n, texts in enumerate(t for t in dict.fromkeys(said) if sizes[t] >= least)
    }
    return tuple(numbers.get(texts, -1) for texts in said)
