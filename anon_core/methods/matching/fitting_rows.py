"""Who fits whom where the cells of different classes cover the same people.

Where classes cover different people, the rows consistent with a person are those of one class, and
its size says everything. Relaxed partitions, clusters, boxes by matches and cells suppressed one by
one publish classes that overlap: a person's quasi-identifiers then fit rows of several classes, and
a row fits people of several (Gionis, Mazza and Tassa 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context, part_of
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.kernels.overlap import WORD, WORDS, least, mark, tally
from anon_core.release.release import Persons, View
from anon_core.release.vocabulary import Vocabulary

#: Comparisons of tuples with classes, and pairs that fit, beyond which sizes of classes decide.
_MOST = 16_000_000_000
_MOST_PAIRS = 300_000_000
_LEAVES = 1 << 12  # of a column, that are marked fast enough as they are
_TUPLES = 20_000  # between two looks at the cancel button
#: What a result adds where classes were too many to compare.
BOUNDED = (
    "Classes are too many to say which of them overlap: their sizes give an upper bound of the "
    "chance."
)
#: What a result adds where suppressed rows fit published ones.
HIDDEN = (
    "Rows that are suppressed fit published ones too, and the release does not say which rows they "
    "are, so these figures are an upper bound."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fits:
    """Rows that fit people, and people who fit rows, of a release whose quasi tuples stay whole.

    Attributes
    ----------
    persons : Persons
        The classes.
    rows_of_person : int64 array of shape (tuples,), or None
        Published rows consistent with each quasi tuple of the table; None where classes do not
        overlap or were too many, and the size of a person's class is the number.
    people_of_row : int64 array of shape (classes,)
        People of the table consistent with a row of each class.
    fewest_rows : int64 array of shape (classes,)
        Fewest published rows consistent with anyone who fits each class.
    bounded : bool
        Whether sizes of classes are in as lower bounds of both.
    """

    persons: Persons
    rows_of_person: I64 | None
    people_of_row: I64
    fewest_rows: I64
    bounded: bool = False


def fits(people: FrequencySet, view: View, persons: Persons, context: Context) -> Fits:
    """Return who fits whom; computed once for people and a view.

    Parameters
    ----------
    people : FrequencySet
        Those whom rows may fit, by their quasi-identifiers: everyone of the private table.
    persons : Persons
        The view's classes by all quasi-identifiers.

    Notes
    -----
    Averages cover no one for sure: by them everyone is matched to the own class alone.
    """
    known = _FOUND.setdefault(people, WeakKeyDictionary())
    found = known.get(view)
    if found is None:
        found = known[view] = _fits(people, view, persons, context)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Chances:
    """Published people by how many published rows fit them.

    Attributes
    ----------
    people, rows : int64 arrays of shape (parts,)
        People who fit equally many rows, and how many, per class or per tuple.
    exact : bool
        False where rows that are suppressed fit published ones: `rows` are then lower bounds.
    """

    people: I64
    rows: I64
    exact: bool = True

    @property
    def expected(self) -> float:
        """People picked by choosing one of the rows that fit, on average."""
        return float((self.people / self.rows).sum())

    def above(self, threshold: float) -> int:
        """Return the people picked with a chance above a threshold."""
        return int(self.people[1.0 / self.rows > threshold].sum())


def published_people(everyone: FrequencySet, view: View, found: Fits) -> Sequence[Chances]:
    """Return how many published rows fit the people whose rows are published.

    Which rows are suppressed is not in the view. Those that fit nothing published are; where there
    are more, two bounds hold, and either may be the closer one for a figure: suppressed is
    anyone who fits most rows, or everyone of a class fits as few rows as anyone whom it covers.
    """
    if found.rows_of_person is None:
        return [Chances(people=found.persons.sizes, rows=found.fewest_rows)]
    fitting = found.rows_of_person > 0
    rows, people = found.rows_of_person[fitting], everyone.run_count[fitting]
    spare = int(people.sum()) - view.rows
    if spare == 0:
        return [Chances(people=people, rows=rows)]
    order = np.argsort(-rows, kind="stable")
    rows, people = rows[order], people[order]
    people = people - np.clip(spare - (np.cumsum(people) - people), 0, people)
    return [
        Chances(people=people, rows=rows, exact=False),
        Chances(people=found.persons.sizes, rows=found.fewest_rows, exact=False),
    ]


def _fits(everyone: FrequencySet, view: View, persons: Persons, context: Context) -> Fits:
    sizes, people = persons.sizes, everyone.run_count
    if view.averaged or not len(sizes) or not _may_overlap(view, persons):
        return _by_size(persons)
    if len(people) * len(sizes) > _MOST:
        return _by_size(persons, bounded=True)
    place = [everyone.columns.index(name) for name in persons.columns]
    entries = [
        (view.vocabularies[n], c) for n, c in zip(persons.columns, persons.codes.T, strict=True)
    ]
    low = np.stack([v.lo[c] for v, c in entries], axis=1)
    high = np.stack([v.hi[c] for v, c in entries], axis=1)
    boxes = _Boxes(everyone.run_codes[:, place], low, high)
    of_person = np.zeros(len(people), dtype=np.int64)
    of_row = np.zeros(len(sizes), dtype=np.int64)
    room = np.empty(WORD * WORDS, dtype=np.int64)
    pairs = 0
    for table, these, some in boxes.tables(part_of(context, 0.0, 0.6)):
        own = np.zeros(len(these), dtype=np.int64)
        pairs += tally(
            table, boxes.lines[some], people[some], sizes[these], of_person[some], own, room
        )
        of_row[these] += own
        if pairs > _MOST_PAIRS:
            return _by_size(persons, bounded=True)
    if pairs == np.count_nonzero(of_person):  # everyone fits one class at most
        return _by_size(persons)
    fewest = np.full(len(sizes), everyone.rows, dtype=np.int64)
    for table, these, some in boxes.tables(part_of(context, 0.6, 1.0)):
        own = fewest[these]
        least(table, boxes.lines[some], of_person[some], own, room)
        fewest[these] = own
    return Fits(persons=persons, rows_of_person=of_person, people_of_row=of_row, fewest_rows=fewest)


def rows_fitting(
    codes: I32, low: I32, high: I32, sizes: I64, context: Context
) -> npt.NDArray[np.int64] | None:
    """Return how many published rows fit each of some people, shape (tuples,).

    None where there are too many people and classes to compare, or none; see `fewest_fitting`.
    """
    if not len(codes) or not len(sizes) or len(codes) * len(sizes) > _MOST:
        return None
    boxes = _Boxes(codes, low, high)
    found = np.zeros(len(codes), dtype=np.int64)
    nobody = np.zeros(len(codes), dtype=np.int64)
    room = np.empty(WORD * WORDS, dtype=np.int64)
    unasked = np.zeros(len(sizes), dtype=np.int64)
    pairs = 0
    for table, these, some in boxes.tables(context):
        args = boxes.lines[some], nobody[some], sizes[these], found[some]
        pairs += tally(table, *args, unasked[these], room)
        if pairs > _MOST_PAIRS:
            return None
    return found


def fewest_fitting(
    codes: I32, low: I32, high: I32, sizes: I64, context: Context
) -> npt.NDArray[np.int64]:
    """Return the fewest published rows that fit anyone who fits a row of each class.

    Where no one fits a class, or there are too many to compare, that is the class's size: the least
    it can be.

    Parameters
    ----------
    codes : int32 array of shape (tuples, columns)
        Leaf numbers of the people.
    low, high : int32 arrays of shape (classes, columns)
        First and last leaf of each class's cells.
    sizes : int64 array of shape (classes,)
        Published rows.
    """
    of_person = rows_fitting(codes, low, high, sizes, context)
    if of_person is None:
        return sizes
    return least_of_fitting(codes, low, high, of_person, sizes, context)


def least_of_fitting(
    codes: I32, low: I32, high: I32, of_person: I64, unfit: I64, context: Context
) -> npt.NDArray[np.int64]:
    """Return the least number of anyone who fits a row of each class, shape (classes,).

    Parameters
    ----------
    codes, low, high
        As of `fewest_fitting`.
    of_person : int64 array of shape (tuples,)
        A number of each of the people.
    unfit : int64 array of shape (classes,)
        What is in for it where no one fits.
    """
    boxes = _Boxes(codes, low, high)
    room = np.empty(WORD * WORDS, dtype=np.int64)
    none = np.int64(np.iinfo(np.int64).max)
    fewest = np.full(len(unfit), none)
    for table, these, some in boxes.tables(context):
        own = fewest[these]
        least(table, boxes.lines[some], of_person[some], own, room)
        fewest[these] = own
    return np.where(fewest == none, unfit, fewest)


def within_reach(codes: I32, low: I32, high: I32) -> I64:
    """Return the people each of whose values some class covers: no other one can fit any.

    Parameters
    ----------
    codes, low, high
        As of `fewest_fitting`.

    Returns
    -------
    int64 array of shape (people within reach,)
        Their places, ascending.
    """
    covered: list[npt.NDArray[np.bool_]] = []
    for own, first, last in zip(codes.T, low.T, high.T, strict=True):
        leaves = int(max(own.max(initial=0), last.max(initial=0))) + 1
        begin, end = (np.bincount(at, minlength=leaves + 1) for at in (first, last + 1))
        covered.append(np.cumsum(begin - end) > 0)
    found = np.arange(len(codes))
    for d in sorted(range(len(covered)), key=lambda d: float(covered[d].mean())):
        found = found[covered[d][codes[found, d]]]
    return found


def _by_size(persons: Persons, *, bounded: bool = False) -> Fits:
    return Fits(
        persons=persons,
        rows_of_person=None,
        people_of_row=persons.sizes,
        fewest_rows=persons.sizes,
        bounded=bounded,
    )


def _may_overlap(view: View, persons: Persons) -> bool:
    """Say whether two classes can cover one person, as far as single columns tell.

    They cannot where classes differ in their cells and no two texts of a column share a value.
    """
    names = persons.columns
    if view.published:  # classes of different groups may say the same
        wide = [len(view.vocabularies[name].texts) for name in names]
        if len(dense_rank(list(persons.codes.T), wide)[1]) < len(persons.sizes):
            return True
    return any(
        texts_overlap(view.vocabularies[name], persons.codes[:, d]) for d, name in enumerate(names)
    )


def texts_overlap(vocabulary: Vocabulary, codes: I32) -> bool:
    """Say whether two different texts of a column, of those used, share a value."""
    used = np.zeros(len(vocabulary.lo), dtype=np.bool_)
    used[codes] = True
    low, high = vocabulary.lo[used], vocabulary.hi[used]
    if np.all(low[1:] > high[:-1]):  # in order, as values by themselves are
        return False
    order = np.argsort(low)
    return bool(np.any(low[order][1:] <= high[order][:-1]))


class _Boxes:
    """The classes' cells as bits; those that cover least of a column are looked at first."""

    def __init__(self, codes: I32, low: I32, high: I32) -> None:
        codes, low, high = _fewer_leaves(codes, low, high)
        leaves = high.max(axis=0).astype(np.int64) + 1
        leaves = np.maximum(leaves, codes.max(axis=0, initial=0) + 1)
        share = (high - low + 1).mean(axis=0) / leaves
        column = np.argsort(share, kind="stable")
        first = np.concatenate([[0], np.cumsum(leaves[column] + 1)])
        # Neighbours cover the same people rather than others, so that most words stay empty.
        self.order = np.lexsort(low[:, column[::-1]].T)
        self.low = np.ascontiguousarray(low[:, column])
        self.high = np.ascontiguousarray(high[:, column])
        self.first = first.astype(np.int64)
        self.lines = np.ascontiguousarray(codes[:, column] + first[:-1]).astype(np.int32)

    def tables(self, context: Context) -> Iterator[tuple[npt.NDArray[np.uint64], I64, slice]]:
        """Yield tables of bits with their classes and some of the tuples, until all have met."""
        table = np.empty((int(self.first[-1]), WORDS + 1), dtype=np.uint64)
        for start in range(0, len(self.order), WORD * WORDS):
            these = self.order[start : start + WORD * WORDS]
            mark(self.low[these], self.high[these], self.first, table)
            for begin in range(0, len(self.lines), _TUPLES):
                done = (start + len(these) * begin / len(self.lines)) / len(self.order)
                context.report(done, "Counting who fits whom")
                yield table, these, slice(begin, begin + _TUPLES)


def _fewer_leaves(codes: I32, low: I32, high: I32) -> tuple[I32, I32, I32]:
    """Number leaves alike that no class distinguishes, in columns that have many of them."""
    leaves = np.maximum(codes.max(axis=0, initial=0), high.max(axis=0, initial=0)) + 1
    many = np.flatnonzero(leaves > _LEAVES + 4 * len(low)).tolist()
    if not many:
        return codes, low, high
    codes, low, high = codes.copy(), low.copy(), high.copy()
    for d in many:
        begins = np.zeros(leaves[d] + 1, dtype=np.bool_)
        begins[low[:, d]] = begins[high[:, d] + 1] = True
        number = np.cumsum(begins, dtype=np.int32)
        for part in (codes, low, high):
            part[:, d] = number[part[:, d]]
    return codes, low, high


_FOUND: WeakKeyDictionary[FrequencySet, WeakKeyDictionary[View, Fits]] = WeakKeyDictionary()
