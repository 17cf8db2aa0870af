"""Ordered domains cut into intervals, encoded as sets of indices (Bayardo and Agrawal 2005).

Every value of every ordered domain has an index; a set of indices says which values begin an
interval. The least value of a domain always begins one and is left out, so the empty set hides
everything and the set of all indices changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.contracts.model import GroupModel
from anon_core.data.frequency import dense_rank
from anon_core.methods.lattice.lattice import Classes, Lattice
from anon_core.release import vocabulary
from anon_core.release.grouping import group_runs
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block

Splits = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedClasses:
    """The classes of a set of indices, in canonical order.

    Attributes
    ----------
    keep : bool array of shape (classes,)
        Which of them keep every privacy model.
    possible : bool array of shape (classes,)
        Which of them can hold one that does; the others are removed however they are parted.
    most : int64 array of shape (classes,)
        Rows that have the most common label of their class.
    """

    classes: Classes
    keep: npt.NDArray[np.bool_]
    possible: npt.NDArray[np.bool_]
    most: npt.NDArray[np.int64]


class IndexSpace(Lattice):
    """Single-dimensional recodings by intervals of the quasi-identifiers' leaf order.

    Parameters
    ----------
    sensitive : sequence of str
        Columns whose histograms the models need.

    Attributes
    ----------
    attribute, leaf : int64 arrays of shape (indices + 1,)
        What each index represents; index 0 represents nothing, so that indices count from 1 as in
        the paper. Values that no row has are left out.
    alphabet : tuple of int
        The indices that may be in a set: all but the least of every attribute.
    """

    def __init__(self, problem: Problem, sensitive: Sequence[str] = ()) -> None:
        super().__init__(problem, sensitive)
        self._reference = reference_of(problem)
        attribute, leaf, alphabet = [-1], [-1], list[int]()
        for d, name in enumerate(problem.quasi):
            for place, value in enumerate(np.flatnonzero(problem.leaf_rows[name] > 0).tolist()):
                if place:
                    alphabet.append(len(attribute))
                attribute.append(d)
                leaf.append(value)
        self.attribute = np.array(attribute, dtype=np.int64)
        self.leaf = np.array(leaf, dtype=np.int64)
        self.alphabet: Splits = tuple(alphabet)
        self.table_itself = self.at((0,) * len(self.heights))

    def first_leaves(self, splits: Sequence[int]) -> list[npt.NDArray[np.int64]]:
        """Return, per attribute, the first leaf of the interval that holds each leaf."""
        begins = [np.zeros(len(h.leaves), dtype=np.int64) for h in self.hierarchies]
        for index in splits:
            d = self.attribute[index]
            begins[d][self.leaf[index]] = self.leaf[index]
        return [np.maximum.accumulate(b) for b in begins]

    def entries(self, splits: Sequence[int]) -> Classes:
        """Return the class set of a set of indices, still parted by sensitive value."""
        return self._map(self.table_itself, range(len(self.heights)), self.first_leaves(splits))[0]

    def kept(
        self, entries: Classes, models: Sequence[GroupModel]
    ) -> tuple[Classes, npt.NDArray[np.bool_]]:
        """Return the classes of an entry set in canonical order, and which keep every model."""
        found = self.judged(entries, models)
        return found.classes, found.keep

    def judged(
        self, entries: Classes, models: Sequence[GroupModel], labels: str = ""
    ) -> JudgedClasses:
        """Return the classes of an entry set, and how many rows of each have its common label.

        `labels` is one of the columns whose histograms are kept; without one, every row counts.
        """
        classes, stats = self.stats_of(entries)
        keep, possible = np.ones((2, len(stats.sizes)), dtype=np.bool_)
        for model in models:
            possible &= model.relaxed_per_group(stats, self._reference)
            holds = model.per_group(stats, self._reference)
            if not model.allows_removal() and not holds.all():
                holds = np.zeros_like(holds)
            keep &= holds
        most = stats.histograms[labels].most_alike if labels else stats.sizes
        order = np.lexsort([self.field(classes, d) for d in reversed(range(len(self.heights)))])
        return JudgedClasses(
            classes=Classes(words=classes.words[order], count=classes.count[order]),
            keep=keep[order],
            possible=possible[order],
            most=most[order],
        )

    def within(self, classes: Classes, splits: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return which class of a set of fewer indices, in canonical order, holds each class."""
        begins = self.first_leaves(splits)
        columns = [b[self.field(classes, d)].astype(np.int32) for d, b in enumerate(begins)]
        return dense_rank(columns, [len(h.leaves) for h in self.hierarchies])[0]

    def release(self, splits: Sequence[int], models: Sequence[GroupModel]) -> Release:
        """Publish every class that keeps the models by its intervals, and remove the rest."""
        problem, codes = self.problem, self.problem.frequency.run_codes
        begins = self.first_leaves(splits)
        columns = [begin[codes[:, d]] for d, begin in enumerate(begins)]
        classes, held = self.kept(self.entries(splits), models)
        member, _ = dense_rank(
            [c.astype(np.int32) for c in columns], [len(h.leaves) for h in self.hierarchies]
        )
        numbers = np.where(held, np.cumsum(held) - 1, -1).astype(np.int64)
        published = np.flatnonzero(held)
        vocabularies: dict[str, vocabulary.Vocabulary] = {}
        cells: dict[str, npt.NDArray[np.int32]] = {}
        for d, (name, h) in enumerate(zip(problem.quasi, self.hierarchies, strict=True)):
            lo = self.field(classes, d)[published].astype(np.int32)
            begin = begins[d]
            hi = np.searchsorted(begin, lo, side="right").astype(np.int32) - np.int32(1)
            vocabularies[name], cells[name] = vocabulary.of_boxes(
                h, problem.dataset.column(name).kind, lo, hi, as_nodes=False
            )
        grouping = group_runs(problem.frequency, numbers[member], len(published))
        return one_block(problem, grouping, vocabularies, cells)
