"""How likely a person is unique in a population, by a Gaussian copula over the columns.

Rocher, Hendrickx and de Montjoye 2019, doi 10.1038/s41467-019-10933-3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I32, I64

_POINTS = 20_000  # at which the mass of a box of many columns is looked at


def individual_uniqueness(mass: float, people: int) -> float:
    """Return the chance that nobody else of a population is as somebody is, (1 − p)^(N − 1).

    Parameters
    ----------
    mass : float
        p, chance that one person is so.
    people : int
        N.

    Examples
    --------
    >>> round(individual_uniqueness(0.003, 500), 7)
    0.2232976
    """
    return (1 - mass) ** (people - 1)


def match_correctness(mass: float, people: int) -> float:
    """Return the chance that a match is right, (1 − (1 − p)^N) / (N p); 1 where p is 0.

    Examples
    --------
    >>> round(match_correctness(0.003, 500), 7)
    0.5182482
    """
    return (1 - (1 - mass) ** people) / (people * mass) if mass > 0 else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Copula:
    """A Gaussian copula over coded columns.

    Attributes
    ----------
    below : tuple of float64 arrays of shape (values + 1,)
        Of each column, the share of people with a lower value; 0 first and 1 last.
    correlation : float64 array of shape (columns, columns)
        Of the normal scores.
    """

    below: tuple[F64, ...]
    correlation: F64

    def mass(self, values: I32, generator: np.random.Generator) -> float:
        """Return the chance of one value of each column, shape (columns,)."""
        from scipy.stats import multivariate_normal, norm

        low = [norm.ppf(b[v]) for b, v in zip(self.below, values, strict=True)]
        high = [norm.ppf(b[v + 1]) for b, v in zip(self.below, values, strict=True)]
        free = [d for d in range(len(low)) if np.isfinite(low[d]) or np.isfinite(high[d])]
        if not free:
            return 1.0
        cov = self.correlation[np.ix_(free, free)]
        found = multivariate_normal.cdf(
            np.array(high)[free],
            cov=cov,
            lower_limit=np.array(low)[free],
            allow_singular=True,
            maxpts=_POINTS,
            rng=generator,
        )
        return float(min(max(found, 0.0), 1.0))


def fitted(codes: I32, count: I64) -> Copula:
    """Fit a copula: the columns' shares, and the correlation of their normal scores.

    Parameters
    ----------
    codes : int32 array of shape (lines, columns)
        Values as ascending numbers.
    count : int64 array of shape (lines,)
        Rows of each line, at least one in all.
    """
    from scipy.stats import norm

    below: list[F64] = []
    scores = np.empty(codes.shape)
    for d in range(codes.shape[1]):
        rows = np.bincount(codes[:, d], count)
        until = np.concatenate([[0.0], np.cumsum(rows) / rows.sum()])
        until[-1] = 1.0
        below.append(until)
        middle = (until[codes[:, d]] + until[codes[:, d] + 1]) / 2
        scores[:, d] = norm.ppf(middle)
    centred = scores - (scores * count[:, None]).sum(0) / count.sum()
    spread = np.sqrt((centred**2 * count[:, None]).sum(0))
    spread[spread == 0] = 1.0
    centred = centred / spread
    own = np.einsum("ia,ib,i->ab", centred, centred, count.astype(np.float64))
    np.fill_diagonal(own, 1.0)
    return Copula(below=tuple(below), correlation=own)
