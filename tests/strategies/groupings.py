"""Groups of a table's rows, link blocks of its columns, nodes, and rows of the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from anon_core.release.grouping import group_runs
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_boxes
from tests import naive
from tests.making import Case
from tests.strategies.tables import Cell, cases, cells_of

Blocks = tuple[tuple[str, ...], ...]


@st.composite
def groups_of(draw: st.DrawFn, rows: int, *, most: int = 5, removed: bool = False) -> list[int]:
    """Draw a group for each of some rows: 0, 1, …, or -1 for a row that is suppressed.

    Parameters
    ----------
    rows : int
    most : int
        Groups at most.
    removed : bool
        Whether rows may be suppressed; one stays.
    """
    likely = list(range(draw(st.integers(1, most))))
    likely += [-1] * (1 + len(likely) // 4) if removed and draw(st.booleans()) else []
    drawn = draw(cells_of(likely, rows))
    if max(drawn) < 0:
        drawn[0] = 0
    number = {g: i for i, g in enumerate(sorted({*drawn} - {-1}))}
    return [number.get(g, -1) for g in drawn]


@st.composite
def blocks_of(draw: st.DrawFn, case: Case) -> Blocks:
    """Draw link blocks: any columns may be linked, sensitive ones with quasi-identifiers too."""
    names = [*case.quasi, *case.sensitive]
    part = draw(cells_of(list(range(len(names))), len(names)))
    sets = [tuple(n for n, p in zip(names, part, strict=True) if p == i) for i in range(len(names))]
    return tuple(s for s in sets if s)


def layouts(case: Case) -> dict[str, Blocks]:
    """Return the link blocks of the literature, for a case's columns."""
    everything = (*case.quasi, *case.sensitive)
    return {
        "whole rows": (everything,),
        "anatomy": (case.quasi, case.sensitive),
        "a block per column": tuple((name,) for name in everything),
        "slicing": (
            (*case.quasi[:1], *case.sensitive[:1]),
            (*case.quasi[1:], *case.sensitive[1:]),
        ),
    }


def nodes_of(case: Case) -> st.SearchStrategy[naive.Node]:
    """Draw a node of a table's lattice."""
    return st.tuples(*(st.integers(0, a.height) for a in case.attributes))


@dataclass(frozen=True, kw_only=True)
class Boxed:
    """A table, and a group for each of its quasi tuples: a release of ranges, in few words."""

    case: Case
    groups: Sequence[int]
    population: int | None = None

    @cached_property
    def release(self) -> Release:
        return by_boxes(self.case.problem(population=self.population), self.groups)


def by_boxes(problem: Problem, groups: Sequence[int]) -> Release:
    """Return a release in which each group of quasi tuples says what covers it; -1 is removed."""
    frequency, group = problem.frequency, np.array(groups)
    vocabularies, cells = {}, {}
    classes = int(group.max()) + 1
    for d, name in enumerate(problem.quasi):
        codes = frequency.run_codes[:, d]
        low = np.array([codes[group == g].min() for g in range(classes)], dtype=np.int32)
        high = np.array([codes[group == g].max() for g in range(classes)], dtype=np.int32)
        hierarchy, kind = problem.hierarchies[name], problem.dataset.column(name).kind
        vocabularies[name], cells[name] = of_boxes(hierarchy, kind, low, high, as_nodes=False)
    grouping = group_runs(frequency, group.astype(np.int64), classes)
    return one_block(problem, grouping, vocabularies, cells)


@st.composite
def boxed(
    draw: st.DrawFn,
    *,
    rows: tuple[int, int] = (5, 39),
    removed: bool = False,
    population: int | None = None,
) -> Boxed:
    """Draw a release whose cells are the ranges of their groups, so that they may overlap."""
    case = draw(cases(rows=rows))
    groups = draw(groups_of(len({*case.rows}), most=8, removed=removed))
    return Boxed(case=case, groups=groups, population=population)


@st.composite
def repeated(
    draw: st.DrawFn,
    *,
    rows: tuple[int, int] = (8, 39),
    people: tuple[int, int] = (3, 11),
    quasi: tuple[int, int] = (2, 2),
) -> Case:
    """Draw a table whose rows are of some persons, some of them with many."""
    case = draw(cases(rows=rows, quasi=quasi, missing=False))
    persons = range(draw(st.integers(*people)))
    likely: list[Cell] = [f"p{p}" for p in persons for _ in range(draw(st.integers(1, 6)))]
    who = draw(cells_of(likely, len(case.rows)))
    return replace(case, columns={**case.columns, "who": who}, person="who")


@st.composite
def reordered(draw: st.DrawFn, case: Case) -> Case:
    """Draw another order of a table's rows."""
    order = draw(st.permutations(range(len(case.rows))))
    return replace(case, columns={n: [c[i] for i in order] for n, c in case.columns.items()})
