"""A table whose distinct tuples no memory holds is counted at the finest levels that fit.

A search over levels looks at groups only, so groups are all it has to be told: the engine counts
tuples of groups, each by a number that stands for it, and no level below is offered to the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.data.hierarchy import Hierarchy
from anon_core.engines.counted_table import CountedTable
from anon_core.engines.memory_needs import Needs
from anon_core.recipe.plan import Plan
from anon_core.release.problem import leaf_codes


@dataclass(frozen=True, kw_only=True, eq=False)
class Coarsened:
    """The levels that a table is counted at.

    Attributes
    ----------
    floors : mapping of str to int
        By quasi-identifier, where it is not 0.
    leaf : mapping of str to int32 array of shape (texts,)
        By the same columns, the first leaf of each number's group.
    groups : mapping of str to int64 array of shape (texts,)
        The number that stands for each number's group: the first of them.
    """

    floors: Mapping[str, int] = field(default_factory=dict[str, int])
    leaf: Mapping[str, npt.NDArray[np.int32]] = field(
        default_factory=dict[str, npt.NDArray[np.int32]]
    )
    groups: Mapping[str, npt.NDArray[np.int64]] = field(
        default_factory=dict[str, npt.NDArray[np.int64]]
    )


def that_fits(
    table: CountedTable,
    plan: Plan,
    hierarchies: Mapping[str, Hierarchy],
    names: tuple[str, ...],
    needs: Needs,
    tuples: int,
) -> Coarsened:
    """Return the levels to count a table at: level 0 of every column where memory has room.

    Else the column of most groups is raised by a level, again and again, until there is room. Where
    a plan names the levels, it is counted at these at once.

    Parameters
    ----------
    table : CountedTable
        It was read.
    hierarchies : mapping of str to Hierarchy
        Of every published column.
    names : tuple of str
        Quasi-identifiers and sensitive columns.
    tuples : int
        How many distinct tuples of them there are.

    Raises
    ------
    BadInput
        If memory has no room, and the technique can look at no coarser levels, or they are all at
        their top.
    """
    raised = _raised(plan, names)
    if needs.fits(tuples) or not raised:
        needs.refuse(tuples)
        return Coarsened()
    at = _levels_named(plan, hierarchies, raised)
    if at is not None:
        found = _at(table, hierarchies, at)
        needs.refuse(table.how_many(names, found.groups), ", at the levels that are named")
        return found
    at = dict.fromkeys(raised, 0)
    found = Coarsened()
    while not needs.fits(tuples):
        open_ = [name for name in raised if at[name] < hierarchies[name].height]
        if not open_:
            needs.refuse(tuples, ", though each that may be coarser is at its most general level")
        widest = max(open_, key=lambda name: _groups(table, hierarchies[name], name, at[name]))
        at[widest] += 1
        found = _at(table, hierarchies, at)
        tuples = table.how_many(names, found.groups)
    return found


def _raised(plan: Plan, names: Sequence[str]) -> list[str]:
    """Return the columns that may be counted at coarser levels; none where a technique needs all.

    A promise about a quasi-identifier counts its values.
    """
    technique = plan.algorithm
    changed = technique.as_mapping().get("transformation", "AG_TS")
    by_vectors = technique.as_mapping().get("check") == "distance vectors"
    if not technique.one_level or changed not in ("AG_TS", "AG") or by_vectors:
        return []
    told = [value for model in plan.models for value in model.as_mapping().values()]
    kept = {*plan.roles.sensitive, *(text for text in told if isinstance(text, str))}
    return [name for name in names if name in plan.roles.quasi and name not in kept]


def _levels_named(
    plan: Plan, hierarchies: Mapping[str, Hierarchy], raised: Sequence[str]
) -> dict[str, int] | None:
    """Return the levels that a plan publishes, where it names them."""
    parameter = plan.algorithm.levels_parameter
    if not parameter:
        return None
    named = cast(Mapping[str, int], getattr(plan.algorithm, parameter))
    at = {name: named.get(name, hierarchies[name].height) for name in raised}
    for name, level in at.items():
        if not 0 <= level <= hierarchies[name].height:
            raise BadPlan(
                f"Column '{name}' has no level {level}; its hierarchy has levels 0 to "
                f"{hierarchies[name].height}.",
                remedy="Name one of them.",
            )
    return at


def _at(
    table: CountedTable, hierarchies: Mapping[str, Hierarchy], at: Mapping[str, int]
) -> Coarsened:
    """Return what it is to count at some levels."""
    floors = {name: level for name, level in at.items() if level}
    leaf: dict[str, npt.NDArray[np.int32]] = {}
    groups: dict[str, npt.NDArray[np.int64]] = {}
    for name, level in floors.items():
        own = hierarchies[name].first_leaf[level][_leaves(table, hierarchies[name], name)]
        leaf[name] = own.astype(np.int32)
        _, first, place = np.unique(own, return_index=True, return_inverse=True)
        groups[name] = first[place.ravel()].astype(np.int64)
    return Coarsened(floors=floors, leaf=leaf, groups=groups)


def _groups(table: CountedTable, hierarchy: Hierarchy, name: str, level: int) -> int:
    """Return how many groups of a level the table has."""
    seen = _leaves(table, hierarchy, name)[table.coded[name].tally > 0]
    return len(np.unique(hierarchy.node(level)[seen]))


def _leaves(table: CountedTable, hierarchy: Hierarchy, name: str) -> npt.NDArray[np.int32]:
    return leaf_codes(table.coded[name].column, hierarchy)
