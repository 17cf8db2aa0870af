"""Log-linear models of filled cells, and what they say of the people behind single rows.

Skinner and Holmes 1998, Estimating the re-identification risk per record in microdata, Journal of
Official Statistics 14(4); Skinner and Shlomo 2008, doi 10.1198/016214507000001328.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_people import matched
from anon_core.release.attack_result import Cell
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.release import View

#: Cells of the table that is fitted where pairs of columns depend on each other.
MOST_CELLS = 1_000_000
_CLOSE = 1e-8  # how far fitted margins may be off, as a share of each
_ROUNDS = 1000
MODELS = {"independence": "independent columns", "pairs": "all pairs", "chosen": "chosen pairs"}
Pairs = tuple[tuple[int, int], ...]


def single_row_chances(mean: F64, drawn: F64) -> tuple[F64, F64]:
    """Return the chances that a person is unique in the population, and named right.

    Of F ~ Poisson(λ) people of a cell each is drawn with chance π, and one was: then
    P(F = 1 | f = 1) = e^−a and E(1/F | f = 1) = (1 − e^−a) / a, with a = (1 − π) λ.

    Parameters
    ----------
    mean : float64 array of shape (cells,)
        λ, people of the population.
    drawn : float64 array of shape (cells,)
        π, 0 to 1.

    Examples
    --------
    >>> [one.round(6).tolist() for one in single_row_chances(np.array([4.0]), np.array([0.1]))]
    [[0.027324], [0.270188]]
    """
    others = (1 - drawn) * mean
    some = others > 0
    right = np.where(some, -np.expm1(-others) / np.where(some, others, 1.0), 1.0)
    return np.exp(-others), right


def fitted_rows(codes: I32, count: I64, pairs: Pairs, context: Context) -> F64 | None:
    """Return the rows expected in each filled cell, or None where the fit does not converge.

    Main effects of all columns and the named pairs; iterative proportional fitting, which gives
    what a Poisson regression gives. Combinations of a named pair that no row has are left out.

    Parameters
    ----------
    codes : int32 array of shape (cells, columns)
        Labels as whole numbers from 0, each of which is used.
    count : int64 array of shape (cells,)
        Rows of each filled cell.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> fitted_rows(codes, np.array([2, 1, 1]), (), Context()).tolist()
    [2.25, 0.75, 0.75]
    >>> fitted_rows(codes, np.array([2, 1, 1]), ((0, 1),), Context()).tolist()
    [2.0, 1.0, 1.0]
    """
    rows = int(count.sum())
    if not pairs:
        found = np.full(len(codes), float(rows))
        for code in codes.T:
            found *= np.bincount(code, count)[code] / rows
        return found
    columns = range(codes.shape[1])
    paired = {d for pair in pairs for d in pair}
    margins = [*pairs, *((d,) for d in columns if d not in paired)]
    table = np.zeros([int(code.max()) + 1 for code in codes.T])
    np.add.at(table, tuple(codes.T), count)
    others = [tuple(d for d in columns if d not in margin) for margin in margins]
    seen = [table.sum(axis=axes, keepdims=True) for axes in others]
    table = np.ones_like(table)
    for _ in range(_ROUNDS):
        context.check()
        off = 0.0
        for axes, wanted in zip(others, seen, strict=True):
            now = table.sum(axis=axes, keepdims=True)
            some = wanted > 0
            off = max(off, float((np.abs(now - wanted)[some] / wanted[some]).max()))
            table *= np.divide(wanted, now, out=np.zeros_like(now), where=some)
        if off <= _CLOSE:
            return table[tuple(codes.T)]
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class FilledCells:
    """Filled cells of the quasi-identifiers, and the chance that one of their people was drawn.

    Attributes
    ----------
    codes : int32 array of shape (cells, columns)
        Labels as whole numbers from 0, each of which is used.
    count : int64 array of shape (cells,)
        Rows, or persons where one may have several rows.
    drawn : float64 array of shape (cells,)
        π.
    of_class : int64 array of shape (classes,)
        The cell of each class of the view.
    """

    codes: I32
    count: I64
    drawn: F64
    of_class: I64

    @property
    def single(self) -> B1:
        """Cells of one row, or of one person, shape (cells,)."""
        return self.count == 1

    @property
    def labels(self) -> list[int]:
        """Used labels of each column."""
        return [int(code.max(initial=0)) + 1 for code in self.codes.T]

    def pairs(self, model: str, chosen: Pairs) -> Pairs:
        """Return the pairs of columns in which a model depends; those of one label add nothing."""
        if model == "independence":
            return ()
        every = combinations(range(len(self.labels)), 2) if model == "pairs" else chosen
        return tuple((a, b) for a, b in every if min(self.labels[a], self.labels[b]) > 1)

    def too_many(self, model: str, chosen: Pairs) -> str:
        """Return how many cells a model would fit, next to the most; empty where it can."""
        table = math.prod(self.labels)
        many = bool(self.pairs(model, chosen)) and table > MOST_CELLS
        return f"{table:,} cells; at most {MOST_CELLS:,}" if many else ""

    def free(self, pairs: Pairs) -> int:
        """Return the parameters of a model."""
        of = [labels - 1 for labels in self.labels]
        return 1 + sum(of) + sum(of[a] * of[b] for a, b in pairs)


def filled_cells(
    view: View, drawn: float, weights: F64 | None, crowd: Crowd | None = None
) -> FilledCells:
    """Return the filled cells of a view; by the weights of its classes where there are some.

    Where one person may have several rows, persons of each cell are counted, not rows.
    """
    persons = matched(view)
    dense = [np.unique(code, return_inverse=True)[1].ravel() for code in persons.codes.T]
    codes, own = np.unique(np.stack(dense, 1), axis=0, return_inverse=True)
    own = own.ravel().astype(np.int64)
    sizes = persons.sizes if crowd is None else crowd.sizes
    count = np.bincount(own, sizes, len(codes)).astype(np.int64)
    chance = np.full(len(codes), drawn)
    if weights is not None:
        chance = count / np.maximum(np.bincount(own, weights, len(codes)), count)
    return FilledCells(codes=codes.astype(np.int32), count=count, drawn=chance, of_class=own)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What a model says of the single rows; without figures where it could not be fitted.

    Attributes
    ----------
    free : int
        Parameters of the model.
    said : str
        What is to be known of the fit; empty where it is plain.
    mean, unique, right : float64 arrays of shape (single rows,) or None
        λ, and the chances of `single_row_chances`.
    """

    name: str
    free: int
    said: str = ""
    mean: F64 | None = None
    unique: F64 | None = None
    right: F64 | None = None

    def line(self, singles: int) -> Mapping[str, Cell]:
        """Return the model's figures of so many single rows."""
        sums = [None if one is None else float(one.sum()) for one in (self.unique, self.right)]
        cells: dict[str, Cell] = {"model": MODELS[self.name], "parameters": self.free}
        for name, total in zip(("unique in the population", "named right"), sums, strict=True):
            cells[name] = "no estimate" if total is None else total
            cells[f"share {name}"] = 0.0 if total is None else total / max(singles, 1)
        return {**cells, "fit": self.said}


def fit_model(cells: FilledCells, model: str, chosen: Pairs, context: Context) -> Fit:
    """Return what a model of `MODELS` says of the single rows; `chosen` are the pairs of one."""
    pairs = cells.pairs(model, chosen)
    free, table = cells.free(pairs), math.prod(cells.labels)
    if too_many := cells.too_many(model, chosen):
        return Fit(name=model, free=free, said=too_many)
    rows = fitted_rows(cells.codes, cells.count, pairs, context)
    if rows is None:
        return Fit(name=model, free=free, said="not converged")
    single = cells.single
    mean = rows[single] / cells.drawn[single]
    unique, right = single_row_chances(mean, cells.drawn[single])
    said = "every cell has its own parameter, nothing is borrowed" if free >= table else ""
    return Fit(name=model, free=free, said=said, mean=mean, unique=unique, right=right)
