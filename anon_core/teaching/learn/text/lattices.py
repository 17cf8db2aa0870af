"""Lattices of levels, hierarchies as trees, and what rows say at a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from anon_core.data.hierarchy import Hierarchy
from anon_core.release.problem import Problem
from anon_core.teaching.learn.pictures import Branch, Lattice, Node, State, Tree
from anon_core.teaching.learn.text.words import node_id, node_label

Levels = tuple[int, ...]


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
