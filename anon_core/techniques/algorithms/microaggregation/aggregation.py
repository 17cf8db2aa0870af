"""Publish, for every part of the table, one number in place of each column's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.contracts.partitioner import Buckets
from anon_core.data.values.kinds import KINDS
from anon_core.methods.partition.box_release import covered_outcome, hulls
from anon_core.methods.partition.mondrian_cuts import normalized_positions
from anon_core.release.problem import Problem
from anon_core.release.results import Outcome
from anon_core.release.vocabulary import Vocabulary, of_numbers


def standardised(problem: Problem, weights: F64) -> F64:
    """Return the quasi tuples as points of unit variance per attribute, shape (runs, quasi).

    Numbers and dates stand by their value, categories by their place in the hierarchy's order,
    and the missing value beyond both. `weights` is of shape (quasi,).
    """
    codes, count = problem.frequency.run_codes, problem.frequency.run_count
    points = np.empty(codes.shape, dtype=np.float64)
    for d, hierarchy in enumerate(problem.quasi_hierarchies):
        at = normalized_positions(hierarchy)[codes[:, d]]
        at = at - np.average(at, weights=count)
        spread = float(np.sqrt(np.average(at * at, weights=count)))
        points[:, d] = at / spread * weights[d] if spread > 0 else 0.0
    return points


def aggregated_outcome(
    problem: Problem,
    parts: Buckets,
    as_nodes: Sequence[bool],
    *,
    median: bool,
    decimals: int,
) -> Outcome:
    """Publish each part's mean or median of every column of numbers, and covers of the rest.

    Parameters
    ----------
    problem : Problem
    parts : Buckets
        Every part from 0 on has a key.
    as_nodes : sequence of bool
        Per quasi-identifier, whether a column that is no number publishes nodes or ranges.
    median : bool
        The median instead of the mean; of an even number of values, the mean of the middle two.
    decimals : int
        Decimals beyond those of the column's own values.
    """
    low, high = hulls(problem, parts)
    codes = problem.frequency.run_codes[problem.frequency.run[parts.key]]
    replaced: dict[str, tuple[Vocabulary, npt.NDArray[np.int32]]] = {}
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        if not KINDS[problem.dataset.column(name).kind].amount or hierarchy.measure is None:
            continue
        value = hierarchy.measure[codes[:, d]]
        told = ~np.isnan(value)
        group, count, value = parts.group[told], parts.count[told], value[told]
        number = (medians if median else means)(group, count, value, len(low))
        replaced[name] = of_numbers(
            hierarchy,
            number,
            low[:, d],
            high[:, d],
            decimals=own_decimals(problem, name) + decimals,
        )
    return covered_outcome(problem, parts, low, high, as_nodes, replaced=replaced)


def own_decimals(problem: Problem, name: str) -> int:
    """Return the most decimals that a value of the table has in a column of numbers."""
    found = 0
    leaves = problem.hierarchies[name].leaves
    for leaf in np.flatnonzero(problem.leaf_rows[name]).tolist():
        text = leaves[leaf].strip().replace(",", ".")
        if text:
            found = max(found, -int(Decimal(text).normalize().as_tuple().exponent))
    return found


def means(group: I64, count: I64, value: F64, groups: int) -> F64:
    """Return the mean of each group's values, NaN where it has none, shape (groups,)."""
    rows = np.bincount(group, weights=count, minlength=groups)
    total = np.bincount(group, weights=count * value, minlength=groups)
    return np.where(rows > 0, total / np.maximum(rows, 1.0), np.nan)


def medians(group: I64, count: I64, value: F64, groups: int) -> F64:
    """Return the median of each group's values, NaN where it has none, shape (groups,)."""
    order = np.lexsort([value, group])
    upto = np.cumsum(count[order])
    rows = np.bincount(group, weights=count, minlength=groups).astype(np.int64)
    begin = np.cumsum(rows) - rows
    # Rows of a group stand one after the other; the middle ones are found by counting.
    middle = [begin + (rows - 1) // 2, begin + rows // 2]
    found = np.full(groups, np.nan)
    filled = rows > 0
    one, other = (np.searchsorted(upto, m[filled], side="right") for m in middle)
    sorted_value = value[order]
    found[filled] = (sorted_value[one] + sorted_value[other]) / 2.0
    return found
