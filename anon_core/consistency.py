"""Who can stand behind whom: original rows and the published rows that are consistent with them.

The models of Gionis, Mazza and Tassa (2008) count matches instead of sizes of classes: a published
row is consistent with an original row if each of its cells covers the original value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .context import Context
from .errors import AnonError
from .kernels.gain import Prices
from .kernels.nearest import nearest_boxes, nearest_taker, nearest_tuple
from .least_size import LeastSize
from .params import integer
from .problem import Problem
from .release import View
from .results import State, Verdict

I64 = npt.NDArray[np.int64]
_MOST = 400_000_000  # comparisons of classes with tuples; beyond, classes of k rows decide
_CHUNK = 4_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Matches:
    """Pairs of an original tuple and a class that covers it.

    Attributes
    ----------
    originals, released : int64 arrays of shape (tuples,) and (classes,)
        Rows of each.
    tuple, box : int64 arrays of shape (pairs,)
    """

    originals: I64
    released: I64
    tuple: I64
    box: I64

    @cached_property
    def per_class(self) -> I64:
        """Original rows consistent with a row of each class, shape (classes,): (k, 1)."""
        return _summed(self.box, self.originals[self.tuple], len(self.released))

    @cached_property
    def per_tuple(self) -> I64:
        """Published rows consistent with a row of each tuple, shape (tuples,): (1, k)."""
        return _summed(self.tuple, self.released[self.box], len(self.originals))

    @cached_property
    def perfect(self) -> npt.NDArray[np.bool_]:
        """Which pairs lie in a perfect matching, shape (pairs,).

        Rows that are not published match a place of their own. With one perfect matching as a flow,
        a pair lies in some perfect matching if it carries flow, or if its ends can be exchanged
        along a cycle, that is, lie in one strongly connected component.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components, maximum_flow

        tuples, classes = len(self.originals), len(self.released)
        hidden = int(self.originals.sum() - self.released.sum())
        source, sink, away = tuples + classes, tuples + classes + 1, tuples + classes + 2
        everyone = np.arange(tuples)
        tail = [np.full(tuples, source), self.tuple, everyone, tuples + np.arange(classes), [away]]
        head = [everyone, tuples + self.box, np.full(tuples, away), np.full(classes, sink), [sink]]
        between = np.minimum(self.originals[self.tuple], self.released[self.box])
        room = [self.originals, between, self.originals, self.released, [max(hidden, 0)]]
        graph = csr_array(
            (
                np.concatenate(room).astype(np.int32),
                (np.concatenate(tail), np.concatenate(head)),
            ),
            shape=(away + 1, away + 1),
        )
        found = maximum_flow(graph, source, sink)
        if hidden < 0 or found.flow_value < int(self.originals.sum()):
            return np.zeros(len(self.tuple), dtype=np.bool_)
        flow = found.flow.tocoo()
        used = (flow.data > 0) & (flow.row < tuples) & (flow.col != source)
        # From a tuple to every class that covers it, and back along what carries flow.
        one = np.concatenate([self.tuple, everyone, flow.col[used]])
        other = np.concatenate([tuples + self.box, np.full(tuples, away), flow.row[used]])
        # A place of its own for hidden rows gives way only where rows are hidden.
        if hidden == 0:
            kept = (one != away) & (other != away)
            one, other = one[kept], other[kept]
        links = csr_array(
            (np.ones(len(one), dtype=np.int8), (one, other)), shape=(away + 1, away + 1)
        )
        part = connected_components(links, directed=True, connection="strong")[1]
        return part[self.tuple] == part[tuples + self.box]

    @cached_property
    def per_tuple_perfect(self) -> I64:
        """Published rows that a perfect matching can give each tuple: global (1, k)."""
        kept = self.perfect
        return _summed(self.tuple[kept], self.released[self.box[kept]], len(self.originals))


def _summed(where: I64, what: I64, size: int) -> I64:
    return np.bincount(where, weights=what, minlength=size).astype(np.int64)


def matches(
    codes: npt.NDArray[np.int32],
    originals: I64,
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    released: I64,
    context: Context,
) -> Matches:
    """Find which boxes low to high, (classes, quasi) each, cover which tuples, (tuples, quasi)."""
    step = max(_CHUNK // max(len(codes), 1), 1)
    pairs: list[tuple[I64, I64]] = []
    for start in range(0, len(low), step):
        context.check()
        covered = np.ones((len(low[start : start + step]), len(codes)), dtype=np.bool_)
        for d in range(codes.shape[1]):
            covered &= low[start : start + step, d, None] <= codes[None, :, d]
            covered &= high[start : start + step, d, None] >= codes[None, :, d]
        box, at = np.nonzero(covered)
        pairs.append((at.astype(np.int64), (box + start).astype(np.int64)))
    none = np.empty(0, dtype=np.int64)
    return Matches(
        originals=originals,
        released=released,
        tuple=np.concatenate([none, *(at for at, _ in pairs)]),
        box=np.concatenate([none, *(box for _, box in pairs)]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """Boxes that are widened until they match; arrays are changed in place.

    Attributes
    ----------
    problem : Problem
    prices : Prices
    low, high : int32 arrays of shape (boxes, quasi)
    size : int64 array of shape (boxes,)
        Rows that publish each.
    """

    problem: Problem
    prices: Prices
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    size: I64

    def matches(self, context: Context) -> Matches:
        """Count who fits whom at present."""
        frequency = self.problem.frequency
        return matches(
            frequency.run_codes, frequency.run_count, self._low, self._high, self.size, context
        )

    @property
    def _low(self) -> npt.NDArray[np.int32]:
        return self._published()[0]

    @property
    def _high(self) -> npt.NDArray[np.int32]:
        return self._published()[1]

    def _published(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return what the boxes cover as they are published: nodes cover more than their ends."""
        low, high = self.low.copy(), self.high.copy()
        for d, hierarchy in enumerate(self.problem.quasi_hierarchies):
            last = len(hierarchy.leaves) - 1
            if self.prices.by_node[d]:
                level = hierarchy.smallest_node(low[:, d], high[:, d])
                for step in range(hierarchy.height + 1):
                    at = level == step
                    node = hierarchy.node(step)[low[at, d]]
                    low[at, d] = hierarchy.starts[step][node]
                    high[at, d] = hierarchy.bounds(step)[1][node]
            elif hierarchy.has_missing:  # a range with the missing value is the whole column
                low[:, d] = np.where((high[:, d] == last) & (low[:, d] < last), 0, low[:, d])
        return low, high

    def cover_everything(self) -> None:
        """Let every box cover all leaves: everyone then matches every row."""
        self.low[:] = 0
        self.high[:] = [len(h.leaves) - 1 for h in self.problem.quasi_hierarchies]

    def reach_out(self, few: I64) -> None:
        """Widen boxes to the nearest tuple that each does not cover yet."""
        codes = self.problem.frequency.run_codes
        low, high = self._published()
        for b in few.tolist():
            t = nearest_tuple(low, high, self.size, self.prices, b, codes)
            self._cover(b, codes[t], codes[t])

    def take_in(self, few: I64) -> None:
        """Let each tuple be covered by the nearest box that does not cover it yet."""
        codes = self.problem.frequency.run_codes
        for t in few.tolist():
            low, high = self._published()
            b = nearest_taker(low, high, self.size, self.prices, codes, t)
            self._cover(b, codes[t], codes[t])

    def exchange(self, few: I64) -> None:
        """Join the boxes that cover each tuple most closely with their nearest, both ways."""
        codes = self.problem.frequency.run_codes
        for t in few.tolist():
            inside = (self.low <= codes[t]).all(axis=1) & (codes[t] <= self.high).all(axis=1)
            own = np.flatnonzero(inside)[:1].astype(np.int64)
            other = np.empty(1, dtype=np.int64)
            nearest_boxes(self.low, self.high, self.size, self.prices, own, 0, 1, other, True)
            if other[0] < 0:
                continue
            one, two = int(own[0]), int(other[0])
            equal = [
                (self.low == self.low[b]).all(axis=1) & (self.high == self.high[b]).all(axis=1)
                for b in (one, two)
            ]
            low = np.minimum(self.low[one], self.low[two])
            high = np.maximum(self.high[one], self.high[two])
            self.low[equal[0] | equal[1]] = low
            self.high[equal[0] | equal[1]] = high

    def _cover(self, b: int, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> None:
        self.low[b] = np.minimum(self.low[b], low)
        self.high[b] = np.maximum(self.high[b], high)


@dataclass(frozen=True, kw_only=True)
class ConsistencyModel(LeastSize):
    """A promise about matches between original and published rows.

    Classes of k rows are enough for all of them, so searches that form classes may be steered by
    size; what is measured is the weaker promise itself.

    Class attributes
    ----------------
    of_released, of_originals, perfect : bool
        Whether matches of published rows, of original rows, and only those of a perfect matching
        are counted.
    """

    of_released: ClassVar[bool] = False
    of_originals: ClassVar[bool] = False
    perfect: ClassVar[bool] = False
    k: int = integer(
        default=5, low=2, help="Fewest rows that must be consistent.", label="k", unit="rows"
    )

    @abstractmethod
    def counts(self, found: Matches) -> I64:
        """Return the number of matches of everyone the promise is about."""

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return the fewest matches of anyone against k.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks: no row then matches as a whole.
        """
        block = view.whole_quasi()
        if block is None:
            raise AnonError(
                f"{self.title} is not defined where quasi-identifiers are permuted apart.",
                remedy="Choose a model for buckets instead.",
            )
        persons = view.persons(block)
        place = [persons.columns.index(name) for name in problem.quasi]
        codes = persons.codes[:, place]
        entries = [view.vocabularies[name] for name in problem.quasi]
        low = np.stack([v.lo[codes[:, d]] for d, v in enumerate(entries)], axis=1)
        high = np.stack([v.hi[codes[:, d]] for d, v in enumerate(entries)], axis=1)
        frequency = problem.frequency
        smallest = int(persons.sizes.min(initial=problem.rows)) if len(persons.sizes) else 0
        state: State
        if not len(persons.sizes):
            reached, state, sentence = 0, "holds", "No row is published."
        elif len(low) * len(frequency.run_count) > _MOST:
            # Too many to compare: the rows of a class match each other.
            reached, state = smallest, "holds" if smallest >= self.k else "undecided"
            sentence = f"Rows of one class match each other; the smallest class has {smallest}."
        else:
            found = matches(
                frequency.run_codes, frequency.run_count, low, high, persons.sizes, context
            )
            counted = self.counts(found)
            # A row that is hidden and matches nothing published is nobody's to find.
            shown = counted[counted > 0] if len(counted) == len(found.originals) else counted
            reached = int(shown.min()) if len(shown) else 0
            state = "holds" if reached >= self.k else "broken"
            sentence = f"Everyone matches at least {reached} rows; {self.k} were asked for."
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state=state,
                bound=float(self.k),
                reached=float(reached),
                per_class=persons.sizes.astype(np.float64),
                sentence=sentence,
            )
        ]
