"""Levels drawn from the table for a budget of their own: the exponential mechanism in steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from anon_core.base.context import Context
from anon_core.methods.lattice.lattice import Lattice, Node
from anon_core.techniques.algorithms.safepub.coins import Coins

#: What a choice of levels is judged by. One row more or less changes each by at most 1: it changes
#: the size of one class by one. With m the size from which a class counts:
#:
#: - detail: the rows of each class beyond m, times the mean of 1 − level / height over the columns.
#:   Those of one class change by one at most, and the mean is at most 1. (All rows of classes of at
#:   least m would be nearer to what is published, but jump by m where a class reaches m: so much
#:   noise would have to hide them that they would steer nothing.)
#: - classes: the number of classes of at least m, and one for the rest where there is one. A row
#:   that founds a class may make the rest appear; one that lets a class reach m adds that class,
#:   and may make the rest vanish.
Score = Literal["detail", "classes"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The levels that were drawn, and how.

    Attributes
    ----------
    node : tuple of int
        Level of every quasi-identifier.
    steps : tuple of mappings
        The nodes drawn, in order; the last is the choice among them. Scores are not reported:
        they are figures of the private table.
    looked : int
        Nodes that were scored.
    """

    node: Node
    steps: tuple[Mapping[str, int | float | str], ...]
    looked: int


def draw_levels(
    lattice: Lattice,
    least: int,
    score: Score,
    steps: int,
    epsilon: Fraction,
    coins: Coins,
    context: Context,
) -> Choice:
    """Draw levels, from the most general ones downwards (Bild, Kuhn, Prasser 2018).

    Every step draws one of the nodes just below those visited, the last draws among all visited.
    Each spends the same part of ε; what is left to choose from follows from what was drawn before,
    so the parts add up. Which nodes there are follows from the hierarchies alone.

    Parameters
    ----------
    least : int
        m, the rows from which a class counts.
    score : {'detail', 'classes'}
    steps : int
        Nodes that are visited below the top.
    epsilon : Fraction
        For all draws together.
    """
    spent = epsilon / (steps + 1)
    scores: dict[Node, Fraction] = {}

    def scored(nodes: list[Node]) -> list[Fraction]:
        for node in nodes:
            if node not in scores:
                context.check()
                scores[node] = score_of(lattice, node, least, score)
        return [scores[node] for node in nodes]

    visited: list[Node] = [lattice.top]
    told: list[Mapping[str, int | float | str]] = []
    for step in range(steps):
        context.report(step / (steps + 1), "Drawing levels")
        below = sorted({n for v in visited for n in _finer(v)} - set(visited))
        if not below:
            break
        drawn = below[coins.candidate(scored(below), spent)]
        visited.append(drawn)
        told.append({"step": step + 1, **lattice.names(drawn)})
    best = visited[coins.candidate(scored(visited), spent)]
    told.append({"step": len(told) + 1, **lattice.names(best)})
    return Choice(node=best, steps=tuple(told), looked=len(scores))


def score_of(lattice: Lattice, node: Node, least: int, score: Score) -> Fraction:
    """Return what a choice of levels is worth; see `Score`."""
    sizes = lattice.at(node).count
    if score == "classes":
        large = sizes >= least
        return Fraction(int(np.count_nonzero(large)) + int(not large.all()))
    detail = [1 - Fraction(n, top) for n, top in zip(node, lattice.top, strict=True) if top]
    mean = sum(detail, start=Fraction(0)) / len(node)
    return mean * int(np.maximum(sizes - least, 0).sum())


def _finer(node: Node) -> list[Node]:
    return [(*node[:d], n - 1, *node[d + 1 :]) for d, n in enumerate(node) if n]
