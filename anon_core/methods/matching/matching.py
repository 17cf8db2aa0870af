"""Who can be behind whom: original rows and the published rows that are consistent with them.

The models of Gionis, Mazza and Tassa (2008) count matches instead of sizes of classes: a published
row is consistent with an original row if each of its cells covers the original value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import integer
from anon_core.contracts.min_group_size import LeastSize
from anon_core.kernels.widening_boxes import Sorted, covered_pairs
from anon_core.methods.matching.fitting_people import matched
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import State, Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.release import View

MOST_PAIRS = 20_000_000  # beyond, classes of k rows decide
WORK = 20_000_000  # tuples passed at most between two looks at the cancel button


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
        # A place of its own for suppressed rows gives way only where rows are suppressed.
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


def by_order(codes: npt.NDArray[np.int32], count: I64) -> tuple[Sorted, I64, I64]:
    """Sort distinct tuples, columns of few values first: most boxes show one value there.

    Returns
    -------
    across : int64 array of shape (attributes,)
        The column of each of its attributes.
    order : int64 array of shape (tuples,)
        The tuple given that is at each place.
    """
    across = np.argsort([len(np.unique(column)) for column in codes.T], kind="stable")
    order = np.lexsort(codes[:, across[::-1]].T) if codes.size else np.arange(len(codes))
    ranked = np.ascontiguousarray(codes[order][:, across])
    size, attributes = ranked.shape
    turn = np.zeros(size, dtype=np.int64)
    turn[1:] = np.argmax(ranked[1:] != ranked[:-1], axis=1) if attributes else 0
    skip = np.empty((size, attributes), dtype=np.int64)
    for d in range(attributes):
        begin = np.append(np.flatnonzero(turn <= d), size)
        skip[:, d] = begin[np.searchsorted(begin, np.arange(size), side="right")]
    return Sorted(ranked, count[order], turn, skip), across, order.astype(np.int64)


def covering(
    tuples: Sorted, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32], context: Context
) -> tuple[I64, I64] | None:
    """List which boxes cover which tuples; None where there are too many pairs to list.

    Returns
    -------
    box, at : int64 arrays of shape (pairs,)
    """
    room = min(64 * (len(low) + 1), MOST_PAIRS)
    box, at = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    held, step = 0, max(WORK // max(len(tuples.codes), 1), 1)
    for start in range(0, len(low), step):
        context.check()
        stop = min(start + step, len(low))
        before, held = held, covered_pairs(tuples, low, high, start, stop, box, at, held)
        if held > MOST_PAIRS:
            return None
        if held > len(box):
            more = np.empty(min(2 * held, MOST_PAIRS) - before, dtype=np.int64)
            box, at = np.append(box[:before], more), np.append(at[:before], more)
            held = covered_pairs(tuples, low, high, start, stop, box, at, before)
    return box[:held], at[:held]


def matches(
    codes: npt.NDArray[np.int32],
    originals: I64,
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    released: I64,
    context: Context,
) -> Matches | None:
    """Find which boxes low to high, (classes, quasi) each, cover which tuples, (tuples, quasi).

    Returns None where there are too many pairs to list.
    """
    tuples, across, order = by_order(codes, originals)
    low, high = (np.ascontiguousarray(ends[:, across], dtype=np.int32) for ends in (low, high))
    pairs = covering(tuples, low, high, context)
    if pairs is None:
        return None
    return Matches(originals=originals, released=released, tuple=order[pairs[1]], box=pairs[0])


def plainly_behind(view: View, audience: Audience, reference: Reference, context: Context) -> bool:
    """Return whether it is plain from what is published which rows are in which class.

    So it is where everyone of the table fits one class at most, and none that is full already.
    """
    persons, frequency = matched(view), reference.frequency
    place = [persons.columns.index(name) for name in audience.quasi]
    codes = persons.codes[:, place]
    entries = [view.vocabularies[name] for name in audience.quasi]
    low = np.stack([v.lo[codes[:, d]] for d, v in enumerate(entries)], axis=1)
    high = np.stack([v.hi[codes[:, d]] for d, v in enumerate(entries)], axis=1)
    found = matches(frequency.run_codes, frequency.run_count, low, high, persons.sizes, context)
    if found is None:
        return False
    one = int(np.bincount(found.tuple).max(initial=0)) <= 1
    return one and np.array_equal(found.per_class, persons.sizes)


@dataclass(frozen=True, kw_only=True)
class ConsistencyModel(LeastSize):
    """A privacy model about matches between original and published rows.

    Classes of k rows are enough for all of them, so searches that form classes may be steered by
    size; what is measured is the weaker privacy model itself.

    Class attributes
    ----------------
    sides : tuple of str
        Whose matches are counted: those of published rows, of original rows, or only those of a
        perfect matching.
    """

    sides: ClassVar[tuple[Literal["released", "originals", "perfect"], ...]] = ()
    k: int = integer(
        default=5, low=2, help="Fewest rows that must be consistent.", label="k", unit="rows"
    )

    @abstractmethod
    def counts(self, found: Matches) -> I64:
        """Return the number of matches of everyone the privacy model is about."""

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the fewest matches of anyone against k.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks: no row then matches as a whole.
        """
        block = view.whole_quasi()
        if block is None:
            raise AnonError(
                f"{self.title} is not defined where quasi-identifiers are permuted separately.",
                remedy="Choose a model for buckets instead.",
            )
        persons = view.persons(block)
        place = [persons.columns.index(name) for name in audience.quasi]
        codes = persons.codes[:, place]
        entries = [view.vocabularies[name] for name in audience.quasi]
        low = np.stack([v.lo[codes[:, d]] for d, v in enumerate(entries)], axis=1)
        high = np.stack([v.hi[codes[:, d]] for d, v in enumerate(entries)], axis=1)
        frequency = reference.frequency
        smallest = int(persons.sizes.min(initial=reference.rows)) if len(persons.sizes) else 0
        state: State
        if not len(persons.sizes):
            reached, state, sentence = 0, "holds", "No row is published."
        else:
            found = matches(
                frequency.run_codes, frequency.run_count, low, high, persons.sizes, context
            )
            if found is None:  # the rows of a class match each other
                reached, state = smallest, "holds" if smallest >= self.k else "undecided"
                sentence = f"Rows of one class match each other; the smallest class has {smallest}."
            else:
                counted = self.counts(found)
                # A row that is suppressed and matches nothing published is no one's to find.
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
