"""A table built from rows: one cell for each combination of categories and subtotals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from anon_core.base.errors import BadInput, BadPlan, clipped, listing
from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from anon_core.data.hierarchy import flat, from_rows
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.table import Dataset
from anon_core.tables.axis import Axis
from anon_core.tables.contributions import CellContributions, Members
from anon_core.tables.system import Number, Relation, System

#: More columns than a reader can hold in mind, and more cells than one table may have.
MOST_COLUMNS, MOST_CELLS = 4, 200_000
Negatives = Literal["refused", "absolute"]
_MOST = 2**62


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What is tabulated: columns with levels, and what is counted or added up.

    Attributes
    ----------
    columns : tuple of str
        One to four, each a tree.
    levels : mapping of str to tuple of int
        Levels of a column's hierarchy that are shown; all of them by default.
    value : str
        Column that is added up; empty to count.
    weight : str
        Column that says how many each row represents.
    expanded : bool
        Whether rules count a contribution as often as its weight says.
    respondent, holding : str
        Whose a row is, and to whom those belong; a row is its own respondent by default.
    waiver : str
        Column that is not empty for respondents who agreed to be published.
    negatives : {'refused', 'absolute'}
        What rules make of amounts below 0.
    """

    columns: tuple[str, ...]
    levels: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    value: str = ""
    weight: str = ""
    expanded: bool = False
    respondent: str = ""
    holding: str = ""
    waiver: str = ""
    negatives: Negatives = "refused"

    def __post_init__(self) -> None:
        """Refuse what is no table."""
        many = len(self.columns)
        if not 1 <= many <= MOST_COLUMNS:
            raise BadPlan(
                f"The table has {many} columns; allowed are 1 to {MOST_COLUMNS}.",
                remedy="Make several tables; they are audited together.",
            )
        if len(set(self.columns)) < many:
            raise BadPlan(
                f"The table names a column twice: {listing(self.columns)}.",
                remedy="Name each column once; its subtotals come from its hierarchy.",
            )
        if self.expanded and self.holding:
            raise BadPlan(
                "Expanded weights and a holding do not go together: a holding has no one weight.",
                remedy="Use weights = 'sample', or leave out the holding.",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Where each row of the data is in a table, arrays of one entry a row.

    Attributes
    ----------
    leaf : int64 array
        Its finest cell.
    amount : int64 array
        What it adds to its cells, in the table's units.
    own : int64 array
        The same without its weight.
    who : int64 array
        Its respondent.
    """

    leaf: npt.NDArray[np.int64]
    amount: npt.NDArray[np.int64]
    own: npt.NDArray[np.int64]
    who: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Cells of a product of trees, in the order of their categories, the first column slowest.

    Attributes
    ----------
    values : tuple of int
        In units of the last digit: see `digits`.
    digits : int
        Decimal places of the published numbers.
    contributions : CellContributions
        By cell, in the same units.
    members : Members
        By cell, what each respondent contributes.
    counts : bool
        Whether values are counts.
    rows : Rows
        What the cells are made of.
    people : sequence of str or int
        Whose each respondent's number is: the text of its column, or the number of its row.
    """

    axes: tuple[Axis, ...]
    values: tuple[int, ...]
    digits: int
    contributions: CellContributions
    members: Members
    counts: bool
    rows: Rows
    people: Sequence[str | int]

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes of each column."""
        return tuple(len(axis.labels) for axis in self.axes)

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """The node of each column, by cell."""
        return tuple(product(*(range(n) for n in self.shape)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Cells by their labels, such as ``north|Total``."""
        labels = [_joinable(axis.labels) for axis in self.axes]
        return tuple("|".join(names) for names in product(*labels))

    @cached_property
    def system(self) -> System:
        """The cells and every sum among them."""
        return System(names=self.names, values=self.values, relations=relations_of(self.axes))

    def above(self, leaf: int) -> tuple[int, ...]:
        """Return the cells that hold the rows of a finest cell, that cell with them."""
        nodes = np.unravel_index(leaf, self.shape)
        chains = [
            sorted({int(n) for n in axis.chains[:, int(node)] if n >= 0})
            for axis, node in zip(self.axes, nodes, strict=True)
        ]
        strides = [prod(self.shape[at + 1 :]) for at in range(len(self.shape))]
        return tuple(
            sum(n * s for n, s in zip(parts, strides, strict=True)) for parts in product(*chains)
        )

    def number(self, value: Number) -> Fraction:
        """Return a value in units of the last digit as it is published."""
        return Fraction(value) / 10**self.digits

    def text(self, value: Number) -> str:
        """Return a value in units of the last digit as text, exactly."""
        whole = round(value)
        if not self.digits:
            return str(whole)
        sign, number = ("-" if whole < 0 else ""), abs(whole)
        head, tail = divmod(number, 10**self.digits)
        return f"{sign}{head}.{tail:0{self.digits}d}"


def _joinable(labels: Sequence[str]) -> list[str]:
    """Return labels without the sign between them; of two that are then alike, one gets a number.

    Examples
    --------
    >>> _joinable(["a|b", "a/b", "c"])
    ['a/b', 'a/b (2)', 'c']
    """
    found: dict[str, None] = {}
    for text in labels:
        name, number = text.replace("|", "/"), 1
        while name in found or (number > 1 and name in labels):
            number += 1
            name = f"{text.replace('|', '/')} ({number})"
        found[name] = None
    return list(found)


def relations_of(axes: Sequence[Axis]) -> tuple[Relation, ...]:
    """Return every sum of a product of trees: each subtotal, at all nodes of the other columns."""
    shape = [len(axis.labels) for axis in axes]
    strides = [prod(shape[at + 1 :]) for at in range(len(shape))]
    found: list[Relation] = []
    for at, axis in enumerate(axes):
        others = [
            [node * strides[n] for node in range(size)] if n != at else [0]
            for n, size in enumerate(shape)
        ]
        for node, children in enumerate(axis.children):
            if not children:
                continue
            for parts in product(*others):
                base = sum(parts)
                found.append(
                    Relation(
                        parent=base + node * strides[at],
                        children=tuple(base + child * strides[at] for child in children),
                    )
                )
    return tuple(found)


def hierarchies_of(
    dataset: Dataset, columns: Sequence[str], levels: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, Hierarchy]:
    """Return the hierarchy of each column: the level table given, or its values under one top."""
    return {
        name: from_rows(dataset.column(name), levels[name])
        if name in levels
        else flat(dataset.column(name))
        for name in columns
    }


def build(
    dataset: Dataset, layout: Layout, levels: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> Table:
    """Tabulate rows.

    Parameters
    ----------
    levels : mapping of str to level table, optional
        By column: value first, then one label a level.

    Raises
    ------
    BadInput, BadPlan
        If amounts are missing, no numbers, negative without a word on them, or the table is too
        large.
    """
    trees = hierarchies_of(dataset, layout.columns, levels or {})
    axes = [Axis.from_hierarchy(trees[name], layout.levels.get(name)) for name in layout.columns]
    shape = [len(axis.labels) for axis in axes]
    if prod(shape) > MOST_CELLS:
        raise BadPlan(
            f"The table has {' × '.join(f'{n:,}' for n in shape)} = {prod(shape):,} cells; allowed "
            f"are {MOST_CELLS:,}.",
            remedy="Use fewer columns, or coarser levels.",
        )
    leaves: list[npt.NDArray[np.int32]] = []
    for axis, name in zip(axes, layout.columns, strict=True):
        column, tree = dataset.column(name), trees[name]
        code = [tree.code[text] for text in column.values]
        leaf = np.array([*code, tree.missing_leaf], dtype=np.int32)[column.codes]
        assert axis.leaf_of is not None
        leaves.append(axis.leaf_of[leaf])
    amounts, digits = _amounts(dataset, layout)
    weights, scale = _weights(dataset, layout)
    who = _respondents(dataset, layout)
    agreed = _waived(dataset, layout)
    named = layout.holding or layout.respondent
    people = dataset.column(named).values if named else dataset.row_numbers.tolist()
    return _tabulate(
        tuple(axes), leaves, amounts, weights, who, agreed, people, digits + scale, scale, layout
    )


def _tabulate(
    axes: tuple[Axis, ...],
    leaves: Sequence[npt.NDArray[np.int32]],
    amounts: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64] | None,
    who: npt.NDArray[np.int64],
    agreed: npt.NDArray[np.bool_],
    people_of: Sequence[str | int],
    digits: int,
    scale: int,
    layout: Layout,
) -> Table:
    shape = tuple(len(axis.labels) for axis in axes)
    size, people = prod(shape), int(who.max(initial=-1)) + 1
    _refuse_overflow(amounts, weights, scale)
    unit = 10**scale
    weighted = amounts * unit if weights is None else amounts * weights
    own = amounts * unit
    # Each cell is at one depth of each column; rows go in the order of their respondents.
    order = np.argsort(who, kind="stable")
    cells, rows = list[npt.NDArray[np.int32]](), list[npt.NDArray[np.int32]]()
    for depths in product(*(range(axis.chains.shape[0]) for axis in axes)):
        parts = [
            axis.chains[depth][leaf[order]]
            for axis, depth, leaf in zip(axes, depths, leaves, strict=True)
        ]
        inside = np.flatnonzero(np.logical_and.reduce([part >= 0 for part in parts]))
        at = np.asarray(np.ravel_multi_index([part[inside] for part in parts], shape))
        cells.append(at.astype(np.int32))
        rows.append(order[inside].astype(np.int32))
    cell, row = np.concatenate(cells), np.concatenate(rows)
    values = np.zeros(size, dtype=np.int64)
    np.add.at(values, cell, weighted[row])

    def held(of: npt.NDArray[np.int64]) -> Members:
        found = csr_array((of[row], (cell, who[row])), shape=(size, max(people, 1)))
        found.sum_duplicates()
        return Members(
            begin=found.indptr.astype(np.int64),
            who=found.indices.astype(np.int64),
            amount=found.data,
        )

    members, totals = held(own), values
    # Rules go by the size of what is contributed, whatever its sign.
    if layout.value and layout.negatives == "absolute":
        whole = members if weights is None else held(weighted)
        totals = np.zeros(size, dtype=np.int64)
        np.add.at(totals, np.repeat(np.arange(size), whole.sizes), np.abs(whole.amount))
    spread: Members | None = None
    if layout.expanded and weights is not None:
        first = np.lexsort((row, cell))
        at, sizes = row[first], np.abs(amounts)
        spread = Members(
            begin=np.searchsorted(cell[first], np.arange(size + 1)).astype(np.int64),
            who=sizes[at],
            amount=weights[at],
        )
        totals = np.zeros(size, dtype=np.int64)
        np.add.at(totals, cell, (sizes * weights)[row])
    return Table(
        axes=axes,
        values=tuple(values.tolist()),
        digits=digits,
        contributions=CellContributions(
            members=members,
            # A count: each respondent is one, whatever the weights make of the total.
            sizes_of=np.abs(members.amount)
            if layout.value
            else np.full(len(members.who), unit, dtype=np.int64),
            totals=totals,
            agreed=agreed,
            spread=spread,
        ),
        members=members,
        counts=not layout.value,
        rows=Rows(
            leaf=np.ravel_multi_index(list(leaves), shape).astype(np.int64),
            amount=weighted,
            own=own,
            who=who,
        ),
        people=people_of,
    )


def _amounts(dataset: Dataset, layout: Layout) -> tuple[npt.NDArray[np.int64], int]:
    """Return what each row contributes, in units of the last digit, and how many digits."""
    if not layout.value:
        return np.ones(dataset.rows, dtype=np.int64), 0
    column = dataset.column(layout.value)
    found, digits = _decimals(column, "added up")
    if (found < 0).any() and layout.negatives == "refused":
        row = int(np.flatnonzero(found < 0)[0]) + 1
        raise BadInput(
            f"'{clipped(column.name)}' is negative in row {row:,}"
            f"{_and_more(int((found < 0).sum()) - 1)}; allowed are numbers from 0 up.",
            remedy="Say negatives = 'absolute' for rules on the size of each contribution, or use "
            "a threshold of respondents only; say what a reader knows of the cells.",
            values=[column.values[column.codes[row - 1]]],
        )
    return found, digits


def _weights(dataset: Dataset, layout: Layout) -> tuple[npt.NDArray[np.int64] | None, int]:
    if not layout.weight:
        return None, 0
    column = dataset.column(layout.weight)
    found, digits = _decimals(column, "used as a weight")
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0]) + 1
        raise BadInput(
            f"The weight '{clipped(column.name)}' is negative in row {row:,}; allowed are numbers "
            "from 0 up.",
            remedy="Mend the weight.",
            values=[column.values[column.codes[row - 1]]],
        )
    if layout.expanded and digits:
        raise BadInput(
            f"The weight '{clipped(column.name)}' has decimals; expanded weights are "
            "whole numbers.",
            remedy="Use weights = 'sample'.",
        )
    return found, digits


def _and_more(many: int) -> str:
    return f" and {many:,} more" if many else ""


def _decimals(column: Column, used: str) -> tuple[npt.NDArray[np.int64], int]:
    """Return the numbers of a column as integers in units of its last digit."""
    missing = np.flatnonzero(column.codes < 0)
    if len(missing):
        raise BadInput(
            f"'{clipped(column.name)}' is missing in row {int(missing[0]) + 1:,}"
            f"{_and_more(len(missing) - 1)}; a column that is {used} has a number in each row.",
            remedy="Fill the numbers in, or leave the rows out (missing = 'drop').",
        )
    numbers: list[Decimal] = []
    for place, text in enumerate(column.values):
        try:
            number = Decimal(text.strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            row = int(np.argmax(column.codes == place)) + 1
            raise BadInput(
                f"'{clipped(column.name)}' has a value that is not a number in row {row:,}; a "
                f"column that is {used} has numbers.",
                remedy="Correct the value, or choose another column.",
                values=[text],
            )
        numbers.append(number.normalize())
    digits = max((-int(n.as_tuple().exponent) for n in numbers), default=0)
    digits = max(digits, 0)
    scaled = [int(n.scaleb(digits)) for n in numbers]
    if any(abs(n) >= _MOST for n in scaled):
        raise BadInput(
            f"'{clipped(column.name)}' has numbers of more than 18 digits; allowed are 18.",
            remedy="Round the numbers, or give them in a larger unit.",
        )
    return np.array(scaled, dtype=np.int64)[column.codes], digits


def _refuse_overflow(
    amounts: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None, scale: int
) -> None:
    size = np.abs(amounts).astype(float)
    whole = max(size.sum() * 10.0**scale, 0 if weights is None else (size * weights).sum())
    if whole >= _MOST:
        raise BadInput(
            "The grand total has more than 18 digits; allowed are 18.",
            remedy="Give the amounts in a larger unit.",
        )


def _respondents(dataset: Dataset, layout: Layout) -> npt.NDArray[np.int64]:
    if not layout.respondent:
        if layout.holding:
            raise BadPlan(
                "The table names a holding and no respondent.",
                remedy="Name the column of the respondents, which the holdings own.",
            )
        return np.arange(dataset.rows, dtype=np.int64)
    own = _codes(dataset.column(layout.respondent), "A respondent")
    if not layout.holding:
        return own
    above = _codes(dataset.column(layout.holding), "A holding")
    pairs = np.unique(np.stack([own, above]), axis=1)
    twice = np.flatnonzero(pairs[0, 1:] == pairs[0, :-1])
    if len(twice):
        raise BadInput(
            f"{in_figures(len(twice), 'respondent')} of '{clipped(layout.respondent)}' "
            f"{'is' if len(twice) == 1 else 'are'} in two holdings of "
            f"'{clipped(layout.holding)}'; allowed is one.",
            remedy="Mend the holding of these respondents.",
            values=[dataset.column(layout.respondent).values[pairs[0, twice[0]]]],
        )
    return above


def _codes(column: Column, what: str) -> npt.NDArray[np.int64]:
    missing = np.flatnonzero(column.codes < 0)
    if len(missing):
        raise BadInput(
            f"{what} is missing in row {int(missing[0]) + 1:,}{_and_more(len(missing) - 1)} of "
            f"'{clipped(column.name)}'; each row needs one.",
            remedy="Fill it in, or leave the rows out.",
        )
    return column.codes.astype(np.int64)


def _waived(dataset: Dataset, layout: Layout) -> npt.NDArray[np.bool_]:
    """Return which respondents agreed to be published: all their rows have to say so."""
    who = _respondents(dataset, layout)
    many = int(who.max(initial=-1)) + 1
    if not layout.waiver:
        return np.zeros(many, dtype=np.bool_)
    refused = np.zeros(many, dtype=np.bool_)
    refused[who[dataset.column(layout.waiver).codes < 0]] = True
    return ~refused
