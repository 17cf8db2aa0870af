"""Lattices of levels, hierarchies as trees, planes of rows, and what rows say at a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from anon_core.data.hierarchy import Hierarchy
from anon_core.release.problem import Problem
from anon_core.teaching.learn.pictures import (
    Box,
    Branch,
    Cut,
    Lattice,
    Node,
    Plane,
    Point,
    Scale,
    State,
    Tone,
    Tree,
    group_tone,
)
from anon_core.teaching.learn.text.tables import people_of
from anon_core.teaching.learn.text.words import node_id, node_label, rows_said
from anon_core.teaching.learn.trace import Trace

Levels = tuple[int, ...]
#: Nodes of a lattice that is still drawn.
_MOST_NODES = 60


def heights_of(trace: Trace) -> Levels:
    """Return the highest level of each quasi-identifier."""
    return tuple(h.height for h in trace.problem.quasi_hierarchies)


def too_large(trace: Trace) -> str:
    """Return why the lattice of a table is not drawn, or an empty string."""
    size = int(np.prod([height + 1 for height in heights_of(trace)]))
    if size > _MOST_NODES:
        return f"The lattice has {size:,} nodes; a lesson draws at most {_MOST_NODES}."
    return ""


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


def value_tree(
    problem: Problem,
    column: str,
    *,
    title: str = "",
    level: int = -1,
    tree: Hierarchy | None = None,
) -> Tree:
    """Return a hierarchy as a tree of its labels; the nodes of one level may be out.

    `tree` is that of a sensitive column, which is published as it is.
    """
    hierarchy = tree or problem.hierarchies[column]
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


def scale(problem: Problem, column: str) -> Scale:
    """Return a quasi-identifier as an axis: the values of rows, evenly spaced, in their order."""
    hierarchy = problem.hierarchies[column]
    seen = sorted(set(codes_of(problem, column)))
    ticks = tuple((float(i), hierarchy.leaves[leaf]) for i, leaf in enumerate(seen))
    return Scale(column=column, low=-0.5, high=len(seen) - 0.5, ticks=ticks)


def places_of(problem: Problem, column: str) -> tuple[int, ...]:
    """Return where every row is on the axis of a column."""
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
