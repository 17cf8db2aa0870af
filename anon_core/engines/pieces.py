"""A counted table's distinct tuples as a relation of its engine, which is cut there.

The engine filters, counts and keeps; where cuts are is not its business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.base.errors import BadPlan
from anon_core.data.counted_rows import counted_set
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.roles.roles import Roles
from anon_core.engines.counted_table import CountedTable, Groups
from anon_core.engines.memory_needs import Needs
from anon_core.recipe.plan import Plan
from anon_core.release.problem import leaf_codes
from anon_core.release.table_pieces import Counted, Piece, Pieces


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
        The number that represents each number's group: the first of them.
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

    A privacy model about a quasi-identifier counts its values.
    """
    technique = plan.algorithm
    changed = technique.as_mapping().get("transformation", "AG_TS")
    by_vectors = technique.as_mapping().get("check") == "distance vectors"
    if not technique.shape.one_level or changed not in ("AG_TS", "AG") or by_vectors:
        return []
    values = [value for model in plan.models for value in model.as_mapping().values()]
    kept = {*plan.roles.sensitive, *(text for text in values if isinstance(text, str))}
    return [name for name in names if name in plan.roles.quasi and name not in kept]


def _levels_named(
    plan: Plan, hierarchies: Mapping[str, Hierarchy], raised: Sequence[str]
) -> dict[str, int] | None:
    """Return the levels that a plan publishes, where it names them."""
    parameter = plan.algorithm.needs.levels_parameter
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


#: The relation of every tuple of quasi-identifiers with its part.
ASSIGNED = "assigned"


class EnginePieces(Pieces):
    """The distinct tuples of some columns of a counted table, by leaf.

    Attributes
    ----------
    leaf : mapping of str to int64 array of shape (texts,)
        The leaf of each number of a column.
    key : int64 array of shape (parts,)
        A key of the frequency set for each part; none before the partition is finished.
    """

    key: I64
    leaf: Groups

    def __init__(
        self,
        table: CountedTable,
        names: tuple[str, ...],
        leaf: Groups,
        leaves: Mapping[str, int],
        *,
        quasi: int,
        needs: Needs,
    ) -> None:
        """Take a table's columns.

        Parameters
        ----------
        names : tuple of str
            Quasi-identifiers, then sensitive columns.
        leaf : mapping of str to int64 array of shape (texts,)
            The leaf of each number of a column.
        leaves : mapping of str to int
            How many leaves each column has.
        quasi : int
            How many of the columns are quasi-identifiers.
        """
        self.room, self.key, self.leaf = needs.room_to_cut(), np.empty(0, dtype=np.int64), leaf
        self._table, self._names, self._quasi = table, names, quasi
        self._leaves = [leaves[name] for name in names]
        self._type = [_whole_number(size) for size in self._leaves]
        self._needs = needs
        self._made = 0

    def sensitive(self) -> FrequencySet:
        """Return the table's frequency set as if all quasi-identifiers had one value."""
        found = Counted(codes=np.empty((1, 0), dtype=np.int32), count=np.array([self._first.rows]))
        if len(self._names) > self._quasi:
            found = self.counted(self._first, range(self._quasi, len(self._names)))
        nothing = [np.zeros(len(found.count), dtype=np.int32)] * self._quasi
        codes = [*nothing, *found.codes.T]
        keys = counted_set(self._names, codes, self._leaves, found.count, quasi=self._quasi)
        return keys.frequency

    def whole(self) -> Piece:
        """Return the table as one piece."""
        return self._first

    @cached_property
    def _first(self) -> Piece:
        shown, coded = self._table.grouped(self._names, self.leaf)
        keys = ", ".join(
            f"CAST({own} AS {kind}) AS k{d}"
            for d, (own, kind) in enumerate(zip(shown, self._type, strict=True))
        )
        return self._kept(
            f"SELECT {keys}, CAST(count(*) AS INTEGER) AS n FROM {coded} "
            f"GROUP BY {', '.join(shown)}"
        )

    def counted(self, piece: Piece, columns: Sequence[int]) -> Counted:
        """Return the distinct tuples of some columns of a piece; of all, each as it is held."""
        keys = ", ".join(f"k{d} AS c{nth}" for nth, d in enumerate(columns))
        if len(columns) == len(self._names):
            query = f"SELECT {keys}, n FROM {piece.name}"
        else:
            by = ", ".join(f"k{d}" for d in dict.fromkeys(columns))
            query = f"SELECT {keys}, sum(n) AS n FROM {piece.name} GROUP BY {by}"
        *codes, count = self._table.asked(query)
        found = np.empty((len(count), len(codes)), dtype=np.int32, order="F")
        for d, own in enumerate(codes):
            found[:, d] = own
        return Counted(codes=found, count=count.astype(np.int64))

    def cut(self, piece: Piece, column: int, ends: Sequence[tuple[int, int]]) -> list[Piece]:
        """Cut a piece, which is no more, by the leaves of a column, first and last of each."""
        found = [
            self._kept(f"SELECT * FROM {piece.name} WHERE k{column} BETWEEN {low} AND {high}")
            for low, high in ends
        ]
        self._table.drop(piece.name)
        return found

    def settle(self, piece: Piece, codes: I32, part: I64) -> None:
        """Note the part of each of a piece's tuples of quasi-identifiers; the piece is no more."""
        import pyarrow as pa

        self._table.drop(piece.name)
        first: slice | I64 = slice(None)
        if len(self._names) > self._quasi:  # they stand there with several sensitive values
            own = list(codes.T)
            _, first = dense_rank(own, [int(column.max(initial=0)) + 1 for column in own])
        frame: dict[str, Any] = {
            f"k{d}": codes[first, d].astype(np.int16 if kind == "SMALLINT" else np.int32)
            for d, kind in enumerate(self._type[: self._quasi])
        }
        frame["part"] = part[first].astype(np.int32)
        whole: Any = frame
        self._table.add(ASSIGNED, pa.table(whole))

    def finish(self, key: I64) -> None:
        """Note a key of the frequency set for each part; see `Pieces.finish`."""
        keys = int(key.max(initial=-1)) + 1
        self._needs.refuse(keys, ", even where the rows of a class are alike")
        self._table.spare(self._needs.of_tuples(keys) // 2)  # they are held until all is written
        self.key = key

    def _kept(self, query: str) -> Piece:
        """Keep what a query finds as a piece."""
        name = f"piece{self._made}"
        self._made += 1
        self._table.keep(name, query)
        ends = ", ".join(f"min(k{d}), max(k{d})" for d in range(self._quasi))
        found = [
            int(own[0]) for own in self._table.asked(f"SELECT {ends}, count(*), sum(n) FROM {name}")
        ]
        *bounds, tuples, rows = found
        return Piece(
            name=name,
            tuples=tuples,
            rows=rows,
            low=np.array(bounds[::2], dtype=np.int32),
            high=np.array(bounds[1::2], dtype=np.int32),
        )


def can_cut(plan: Plan) -> bool:
    """Return whether a plan's technique cuts tables piece by piece, as it is set and asked."""
    return plan.algorithm.cuts_in_pieces and all(
        model.logic.by_limits
        and model.logic.by_classes
        and not set(model.protects(plan.roles)) & set(plan.roles.quasi)
        for model in plan.models
    )


def roles_looked_at(plan: Plan) -> Roles:
    """Return a plan's roles, in which sensitive columns that no privacy model is about are none.

    With every such column a class shows more, until classes show as much as the table itself.
    """
    roles = plan.roles
    watched = {name for model in plan.models for name in model.protects(roles)}
    left = tuple(name for name in roles.sensitive if name not in watched)
    return replace(
        roles,
        sensitive=tuple(name for name in roles.sensitive if name in watched),
        insensitive=(*roles.insensitive, *(n for n in left if n not in roles.quasi)),
    )


def pieces_of(
    table: CountedTable,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy],
    names: tuple[str, ...],
    needs: Needs,
) -> EnginePieces:
    """Return the pieces of a table that was read.

    Parameters
    ----------
    names : tuple of str
        Quasi-identifiers, then sensitive columns.
    """
    return EnginePieces(
        table,
        names,
        {n: leaf_codes(table.coded[n].column, hierarchies[n]).astype(np.int64) for n in names},
        {n: len(hierarchies[n].leaves) for n in names},
        quasi=len(roles.quasi),
        needs=needs,
    )


def _whole_number(size: int) -> str:
    """Return a type for numbers below a size that every engine has."""
    return "SMALLINT" if size <= 1 << 15 else "INTEGER"
