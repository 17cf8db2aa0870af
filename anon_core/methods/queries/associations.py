"""How strongly two published columns go together, from what is published alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy

from anon_core.base.arrays import F64
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.queries.pair_tables import AnyTable, entries, expected, margins, weighted
from anon_core.release.release import View
from anon_core.release.vocabulary import Vocabulary

if TYPE_CHECKING:
    import scipy.sparse

#: Below this a spread is rounding, and nothing goes together with it.
_NONE = 1e-12


def association(view: View, hierarchies: Mapping[str, Hierarchy], first: str, second: str) -> float:
    """Return the association of two columns over the published rows.

    Returns
    -------
    float
        Pearson's r in [-1, 1] between two columns of numbers, Cramér's V in [0, 1] between two
        others (φ where both have two values), the correlation ratio η in [0, 1] between one of
        each. 0 where a column does not vary. Rows without a number are left out where one is asked
        for.
    """
    one, two = (numbers_of(hierarchies[name], view.vocabularies[name]) for name in (first, second))
    if one is None and two is None:
        return cramer(expected(view, first, second))
    if one is None and two is not None:
        return _ratio(view, first, second, two)
    if two is None and one is not None:
        return _ratio(view, second, first, one)
    assert one is not None
    assert two is not None
    return _pearson(view, first, second, one, two)


def numbers_of(hierarchy: Hierarchy, vocabulary: Vocabulary) -> F64 | None:
    """Return the number each cell represents, NaN for none; None for a column of no numbers.

    A range represents its middle, a replaced value for the number it shows.
    """
    if hierarchy.measure is None:
        return None
    last = vocabulary.hi.astype(np.int64)
    if hierarchy.has_missing:  # a cell that hides the missing value as well is read without it
        end = len(hierarchy.leaves) - 1
        last = np.where((last == end) & (vocabulary.lo < end), max(end - 1, 0), last)
    middle = (hierarchy.measure[vocabulary.lo] + hierarchy.measure[last]) / 2
    if vocabulary.shown is None:
        return middle
    return np.where(np.isnan(vocabulary.shown), middle, vocabulary.shown)


def cramer(table: AnyTable) -> float:
    """Return Cramér's V of a table of counts; 0 where a side does not vary.

    Examples
    --------
    >>> cramer(np.array([[4.0, 0.0], [0.0, 4.0]]))
    1.0
    """
    rows, columns = margins(table)
    total = rows.sum()
    least = min(np.count_nonzero(rows), np.count_nonzero(columns)) - 1
    if least < 1:
        return 0.0
    i, j, count = entries(table)
    phi = float(np.sum(count / rows[i] * (count / columns[j]))) - 1.0
    return float(np.sqrt(min(max(phi / least, 0.0), 1.0))) if total > 0 and phi > _NONE else 0.0


def _joint(view: View, first: str, second: str, there: F64 | None, also: F64 | None) -> AnyTable:
    """Return expected rows by pair of cells, those without an asked number left out."""
    found = expected(view, first, second)
    if isinstance(found, np.ndarray):
        found = found if there is None else found * there[:, None]
        return found if also is None else found * also
    if there is not None and not there.all():
        found = scipy.sparse.csr_array(weighted(scipy.sparse.csr_array(found.T), there).T)
    return found if also is None or also.all() else weighted(found, also)


def _ratio(view: View, label: str, number: str, value: F64) -> float:
    """Return the correlation ratio: the share of a number's spread that labels account for, √."""
    there = ~np.isnan(value)
    table = _joint(view, label, number, None, there.astype(np.float64))
    at = np.where(there, value, 0.0)
    rows, columns = margins(table)
    total = rows.sum()
    if total <= 0:
        return 0.0
    at = at - float(columns @ at) / total
    spread = float(columns @ (at * at))
    if spread <= _NONE * total:
        return 0.0
    sums = np.asarray(table @ at).ravel()
    seen = rows > 0
    between = float(np.sum(sums[seen] ** 2 / rows[seen]))
    eta = between / spread
    return float(np.sqrt(min(eta, 1.0))) if eta > _NONE else 0.0


def _pearson(view: View, first: str, second: str, one: F64, two: F64) -> float:
    marks = [(~np.isnan(value)).astype(np.float64) for value in (one, two)]
    table = _joint(view, first, second, marks[0], marks[1])
    rows, columns = margins(table)
    total = rows.sum()
    if total <= 0:
        return 0.0
    x, y = np.nan_to_num(one), np.nan_to_num(two)
    x, y = x - float(rows @ x) / total, y - float(columns @ y) / total
    spread = float(rows @ (x * x)), float(columns @ (y * y))
    if min(spread) <= _NONE * total:
        return 0.0
    both = float(x @ np.asarray(table @ y).ravel()) / float(np.sqrt(spread[0] * spread[1]))
    return min(max(both, -1.0), 1.0) if abs(both) > _NONE else 0.0
