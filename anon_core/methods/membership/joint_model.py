"""Buckets whose value ranges overlap: everyone is in at most one of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.data.frequency import dense_rank
from anon_core.methods.membership.bucket import BucketProblem
from anon_core.methods.membership.equations import System
from anon_core.release.release import BlockTable, View

if TYPE_CHECKING:
    import scipy.sparse
    import scipy.sparse.csgraph


def overlapping(joint: JointProblem, buckets: int) -> I64:
    """Return a number for each bucket, the same where people fit both; shape (buckets,)."""
    types = len(joint.count)
    links = scipy.sparse.coo_array(
        (np.ones(len(joint.types)), (joint.bucket, buckets + joint.types)),
        shape=(buckets + types, buckets + types),
    )
    label = scipy.sparse.csgraph.connected_components(links, directed=False)[1][:buckets]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def united(view: View, label: I64) -> View:
    """Return the view with buckets of one label taken for one.

    Parameters
    ----------
    label : int64 array of shape (groups,)
    """
    blocks: list[BlockTable] = []
    for block in view.blocks:
        keyed = np.column_stack([label[block.group], block.codes]).astype(np.int64)
        found, which = np.unique(keyed, axis=0, return_inverse=True)
        blocks.append(
            BlockTable(
                columns=block.columns,
                group=found[:, 0],
                codes=found[:, 1:].astype(np.int32),
                count=np.bincount(which.ravel(), block.count, len(found)).astype(np.int64),
            )
        )
    return View(
        vocabularies=view.vocabularies,
        blocks=tuple(blocks),
        group_size=np.bincount(label, view.group_size).astype(np.int64),
        quasi=view.quasi,
        sensitive=view.sensitive,
        published=True,
        guarantee=view.guarantee,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class JointProblem:
    """Which people of the public table can be in which bucket, for all buckets together.

    A type that fits several buckets has a variable for each of them and one for staying outside;
    they add up to its people. So knowledge of one bucket sharpens the others (E-08).

    Attributes
    ----------
    types : int64 array of shape (entries,)
        Type of each entry; an entry is a type that fits a bucket.
    rows : int32 array of shape (entries, blocks)
        Row (published value of a block of a bucket) the entry adds to; -1 for none.
    bucket : int64 array of shape (entries,)
    total : int64 array of shape (rows,)
        How often the value is published there.
    count : int64 array of shape (types,)
        Public people of every type, those without an entry too.
    known_entries : int64 array of shape (entries,), or None
        A solution that is already known: people per entry.
    """

    types: I64
    rows: npt.NDArray[np.int32]
    bucket: I64
    total: I64
    count: I64
    known_entries: I64 | None = None

    @cached_property
    def _fits(self) -> I64:
        """Buckets each entry's type fits, shape (entries,)."""
        return np.bincount(self.types, minlength=len(self.count))[self.types].astype(np.int64)

    @cached_property
    def _single(self) -> tuple[I64, I64, I64, I64]:
        """Entries of types that fit one bucket: where, rank of its like, and one of each."""
        at = np.flatnonzero(self._fits == 1)
        columns = [self.rows[at, b] + np.int32(1) for b in range(self.rows.shape[1])]
        rank, first = dense_rank(columns, [len(self.total) + 1] * len(columns))
        people = np.bincount(rank, self.count[self.types[at]], len(first)).astype(np.int64)
        return at, rank, at[first], people

    @cached_property
    def _several(self) -> tuple[I64, I64, I64]:
        """Entries of types that fit several buckets: where, rank of the type, and the types."""
        at = np.flatnonzero(self._fits > 1)
        shared, rank = np.unique(self.types[at], return_inverse=True)
        return at, rank.astype(np.int64), shared.astype(np.int64)

    @cached_property
    def system(self) -> System:
        """The equations: look-alikes that fit one bucket, then shared entries, then outsiders."""
        _, _, first, people = self._single
        at, rank, shared = self._several
        own = len(self.total)
        width = self.rows.shape[1] + (1 if len(shared) else 0)
        rows = np.full((len(first) + len(at) + len(shared), width), -1, dtype=np.int32)
        blocks = self.rows.shape[1]
        rows[: len(first), :blocks] = self.rows[first]
        rows[len(first) : len(first) + len(at), :blocks] = self.rows[at]
        if len(shared):
            rows[len(first) : len(first) + len(at), blocks] = own + rank
            rows[len(first) + len(at) :, blocks] = own + np.arange(len(shared))
        count = self.count[shared]
        everyone = np.concatenate([people, count[rank], count])
        return System(
            rows=rows,
            total=np.concatenate([self.total, count]),
            lower=np.zeros_like(everyone),
            upper=everyone,
            people=everyone,
            shared=np.arange(len(everyone)) >= len(first),
        )

    @cached_property
    def variable(self) -> I64:
        """Variable that shows of each type, shape (types,); -1 for types no bucket can hold."""
        found = np.full(len(self.count), -1, dtype=np.int64)
        at, rank, first, _ = self._single
        found[self.types[at]] = rank
        entries, _, shared = self._several
        found[shared] = len(first) + len(entries) + np.arange(len(shared))
        return found

    @cached_property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Whether that variable counts the people in no bucket, shape (types,)."""
        found = np.zeros(len(self.count), dtype=np.bool_)
        found[self._several[2]] = True
        return found

    @cached_property
    def known(self) -> I64 | None:
        """The known solution by variable."""
        if self.known_entries is None:
            return None
        at, rank, first, _ = self._single
        own = np.bincount(rank, self.known_entries[at], len(first)).astype(np.int64)
        entries, place, shared = self._several
        spread = self.known_entries[entries]
        inside = np.bincount(place, spread, len(shared)).astype(np.int64)
        return np.concatenate([own, spread, self.count[shared] - inside])


#: What can be asked who is in it.
Asked = BucketProblem | JointProblem
