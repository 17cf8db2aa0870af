"""The public tuples, findable by the leaf of any quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.methods.membership.bucket import BucketProblem, from_types
from anon_core.methods.membership.joint_model import JointProblem
from anon_core.methods.membership.presolve import parts
from anon_core.release.knowledge.people import Population
from anon_core.release.release import BlockTable, View

#: Several models and attacks ask for the same equations.
_KEPT: WeakKeyDictionary[View, WeakKeyDictionary[Population, Published]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """The published buckets against the public table.

    Attributes
    ----------
    joint : JointProblem
        Its types are the population's distinct tuples.
    row_bucket, row_block, row_value : int64 arrays of shape (rows,)
        Bucket, link block and number within both of each row of the equations.
    unclear : bool array of shape (buckets,)
        Buckets whose equations cannot be written: covers of one column overlap without being
        equal. Their people are undecided, and no equation is kept of them.
    size : int64 array of shape (buckets,)
        Published rows.
    """

    joint: JointProblem
    row_bucket: I64
    row_block: I64
    row_value: I64
    unclear: npt.NDArray[np.bool_]
    size: I64

    @cached_property
    def doubtful(self) -> npt.NDArray[np.bool_]:
        """Types tied, directly or through others, to a bucket without equations; shape (types,)."""
        joint = self.joint
        system = joint.system
        found = np.zeros(len(joint.count), dtype=np.bool_)
        unclear = joint.types[self.unclear[joint.bucket]]
        if len(unclear):
            count, label, _ = parts(system.rows, len(system.total))
            touched = np.zeros(count, dtype=np.bool_)
            touched[label[joint.variable[unclear]]] = True
            inside = joint.variable >= 0
            found[inside] = touched[label[joint.variable[inside]]]
        return found

    def bucket(self, number: int) -> tuple[BucketProblem, I64]:
        """Return one bucket by itself, as if no one fitted another, and each entry's type.

        Returns
        -------
        problem : BucketProblem
        type_of : int64 array of shape (entries of the bucket,)
        """
        mine = np.flatnonzero(self.joint.bucket == number)
        at = self.row_bucket == number
        blocks = self.joint.rows.shape[1]
        margins = [self.joint.total[at & (self.row_block == b)] for b in range(blocks)]
        return from_types(
            self.row_value[self.joint.rows[mine]].astype(np.int32),
            self.joint.count[self.joint.types[mine]],
            margins,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """The quasi-identifiers of one link block: distinct published tuples per bucket."""

    place: list[int]  # positions in the quasi-identifiers
    codes: I32  # (values, columns), sorted by bucket
    count: I64
    start: I64  # (buckets + 1,)


def published_buckets(view: View, population: Population, context: Context) -> Published:
    """Write the equations of a release.

    Parameters
    ----------
    view : View
        Only what is published; sensitive columns are not in the public table and drop out.
    population : Population
        With its table (distinct tuples of leaf numbers).

    Raises
    ------
    AnonError
        If only the population's size is known.
    Cancelled
    """
    if population.codes is None or population.tuple_count is None:
        raise AnonError(
            "Membership needs the public table itself, not only its size.",
            remedy="State a table of the population that has the quasi-identifiers.",
        )
    kept = _KEPT.setdefault(view, WeakKeyDictionary())
    if population not in kept:
        kept[population] = _written(view, population, context)
    return kept[population]


def _written(view: View, population: Population, context: Context) -> Published:
    assert population.codes is not None
    assert population.tuple_count is not None
    groups = len(view.group_size)
    names = [name for name in view.quasi if name not in population.lacking]
    sides = [s for s in (_side(view, block, groups, names) for block in view.blocks) if s.place]
    offset = np.cumsum([0, *(len(s.count) for s in sides)]).astype(np.int64)
    people = PeopleByLeaf(
        population.codes, [len(population.hierarchies[n].leaves) for n in view.quasi]
    )
    covers = [population.cover(view.vocabularies[name]) for name in view.quasi]
    unclear = np.zeros(groups, dtype=np.bool_)
    types: list[I64] = []
    rows: list[I32] = []
    bucket: list[I64] = []
    for g in range(groups):
        if g % 64 == 0:
            context.report(g / groups, "Finding who fits which bucket")
        found, at, clear = _fit(covers, sides, people, g)
        unclear[g] = not clear
        types.append(found)
        rows.append(np.where(at < 0, at, at + offset[:-1]).astype(np.int32))
        bucket.append(np.full(len(found), g, dtype=np.int64))
    width = len(sides)
    where = [np.repeat(np.arange(groups), np.diff(s.start)) for s in sides]
    within = [np.arange(len(s.count)) - np.repeat(s.start[:-1], np.diff(s.start)) for s in sides]
    row_bucket = np.concatenate([np.empty(0, np.int64), *where]).astype(np.int64)
    total = np.concatenate([np.empty(0, np.int64), *(s.count for s in sides)])
    return Published(
        joint=JointProblem(
            types=np.concatenate([np.empty(0, np.int64), *types]),
            rows=np.concatenate([np.empty((0, width), np.int32), *rows]),
            bucket=np.concatenate([np.empty(0, np.int64), *bucket]),
            total=np.where(unclear[row_bucket], 0, total),
            count=population.tuple_count,
        ),
        row_bucket=row_bucket,
        row_block=np.repeat(np.arange(width), np.diff(offset)).astype(np.int64),
        row_value=np.concatenate([np.empty(0, np.int64), *within]).astype(np.int64),
        unclear=unclear,
        size=view.group_size,
    )


def _side(view: View, block: BlockTable, groups: int, names: list[str]) -> _Side:
    """Project a block's table on those of its quasi-identifiers that are named."""
    place = [d for d, n in enumerate(view.quasi) if n in block.columns and n in names]
    codes = block.codes[:, [block.columns.index(view.quasi[d]) for d in place]]
    keyed = np.column_stack([block.group, codes]).astype(np.int64)
    found, which = np.unique(keyed, axis=0, return_inverse=True)
    return _Side(
        place=place,
        codes=found[:, 1:].astype(np.int32),
        count=np.bincount(which.ravel(), block.count, len(found)).astype(np.int64),
        start=np.searchsorted(found[:, 0], np.arange(groups + 1)).astype(np.int64),
    )


def _fit(
    covers: list[tuple[I32, I32]], sides: list[_Side], people: PeopleByLeaf, g: int
) -> tuple[I64, I64, bool]:
    """Return the public tuples that fit bucket `g`, their value per block, and if that is all."""
    clear = True
    lookup: dict[int, I32] = {}  # column → entry + 1 of each slot, 0 for none
    for side in sides:
        codes = side.codes[side.start[g] : side.start[g + 1]]
        for column, d in enumerate(side.place):
            entries = np.unique(codes[:, column])
            lo, hi = covers[d][0][entries], covers[d][1][entries]
            by_lo = np.argsort(lo, kind="stable")
            if np.any(lo[by_lo][1:] <= hi[by_lo][:-1]):
                clear = False
            slots = np.zeros(people.sizes[d] + 1, dtype=np.int32)
            length = (hi - lo + 1).astype(np.int64)
            ends = np.cumsum(length)
            leaves = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
                lo - (ends - length), length
            )
            slots[leaves + 1] = np.repeat(entries + 1, length)
            lookup[d] = slots
    if not lookup:
        return np.empty(0, np.int64), np.empty((0, len(sides)), np.int64), clear
    shown = {d: slots != 0 for d, slots in lookup.items()}
    first, *others = sorted(lookup, key=lambda d: people.how_many(d, shown[d]))
    found = people.with_leaves(first, shown[first])
    for d in others:
        found = found[lookup[d][people.codes[found, d] + 1] != 0]
    cells = [np.stack([lookup[d][people.codes[found, d] + 1] for d in s.place], 1) for s in sides]
    if not clear:
        return found, np.full((len(found), len(sides)), -1, dtype=np.int64), False
    at = np.empty((len(found), len(sides)), dtype=np.int64)
    for b, (side, cell) in enumerate(zip(sides, cells, strict=True)):
        start, stop = int(side.start[g]), int(side.start[g + 1])
        at[:, b] = start + _match(side.codes[start:stop].astype(np.int64) + 1, cell)
    fits = (at >= 0).all(axis=1)
    return found[fits], at[fits], True


def _match(values: I64, asked: I32) -> I64:
    """Return which of the sorted distinct rows `values` each row of `asked` is, else far below."""
    if values.shape[1] == 1:
        return np.searchsorted(values[:, 0], asked[:, 0]).astype(np.int64)
    both = np.concatenate([values, asked])
    _, rank = np.unique(both, axis=0, return_inverse=True)
    rank = rank.ravel()
    place = np.full(int(rank.max(initial=-1)) + 1, -(1 << 40), dtype=np.int64)
    place[rank[: len(values)]] = np.arange(len(values))
    return place[rank[len(values) :]]


class PeopleByLeaf:
    """Public tuples by each of their leaves.

    Parameters
    ----------
    codes : int32 array of shape (tuples, quasi)
    sizes : list of int
        Leaves of each column.
    """

    def __init__(self, codes: I32, sizes: list[int]) -> None:
        self.codes = codes
        self.sizes = sizes
        # Slot 0 is a value that no cell can cover.
        self.order = [np.argsort(codes[:, d], kind="stable") for d in range(codes.shape[1])]
        self.start = [
            np.searchsorted(codes[self.order[d], d], np.arange(-1, size + 1))
            for d, size in enumerate(sizes)
        ]
        self._many = [np.diff(start) for start in self.start]

    def with_leaves(self, d: int, leaf: B1) -> I64:
        """Return the tuples whose leaf of column `d` is chosen; slot 0 is not a leaf."""
        start, order = self.start[d], self.order[d]
        runs = [order[start[i] : start[i + 1]] for i in np.flatnonzero(leaf)]
        return np.concatenate([np.empty(0, np.int64), *runs]).astype(np.int64)

    def how_many(self, d: int, leaf: B1) -> int:
        """Return how many tuples `with_leaves` would."""
        return int(self._many[d][leaf].sum())

    def within(self, leaves: Sequence[B1]) -> I64:
        """Return the tuples whose leaf is chosen in every column, ascending.

        Parameters
        ----------
        leaves : sequence of bool arrays of shape (leaves + 1,)
            Slot 0 is not a leaf.
        """
        many = [self.how_many(d, leaf) for d, leaf in enumerate(leaves)]
        order = np.argsort(many, kind="stable").tolist()
        found = np.sort(self.with_leaves(order[0], leaves[order[0]]))
        for d in order[1:]:
            found = found[leaves[d][self.codes[found, d] + 1]]
        return found
