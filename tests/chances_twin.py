"""Chances without a public table, each labelled for what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod

from anon_core.base.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """How likely a combination of values is in a group whose columns were permuted apart.

    Attributes
    ----------
    fixed_row : Fraction
        Chance that one fixed published row is the combination by chance: Li's "lemma value"
        Π n_i / N^d. It is no bound on the chance of presence (E-03).
    expected : Fraction
        Expected number of rows that are the combination, Π n_i / N^(d−1).
    occurs : Fraction or None
        Chance that at least one row is, over all equally likely pairings; only for two columns.
    """

    fixed_row: Fraction
    expected: Fraction
    occurs: Fraction | None


def lemma_value(counts: Sequence[int], size: int) -> Occurrence:
    """Return the chances that a combination occurs in a permuted group (S-85, E-03).

    Parameters
    ----------
    counts : sequence of int
        How often the group publishes each of the combination's values, one per column.
    size : int
        Rows of the group.

    Raises
    ------
    BadInput
        If a count does not lie in 0 … size.

    Notes
    -----
    Li et al. 2015, lemma 1, and Toth 2015, 3.1.2.2, call the first number an upper bound for
    presence; it is not. With a public table, presence is decided by `decide`.

    Examples
    --------
    >>> lemma_value([1, 2], 5)
    Occurrence(fixed_row=Fraction(2, 25), expected=Fraction(2, 5), occurs=Fraction(2, 5))
    """
    if size < 1 or not counts or any(not 0 <= n <= size for n in counts):
        raise BadInput(
            f"A group of {size} rows cannot publish a value {list(counts)} times.",
            remedy="Give one count per column, from 0 to the size of the group.",
        )
    ways = prod(counts)
    occurs = None
    if len(counts) == 2:
        first, second = counts
        occurs = 1 - Fraction(comb(size - first, second), comb(size, second))
    return Occurrence(
        fixed_row=Fraction(ways, size ** len(counts)),
        expected=Fraction(ways, size ** (len(counts) - 1)),
        occurs=occurs,
    )


def attribute_chance(histogram: Mapping[str, int], value: str) -> Fraction:
    """Return the chance c(v)/|G| that someone known to be in a group has a sensitive value.

    Parameters
    ----------
    histogram : mapping of str to int
        Rows of the group per sensitive value.
    value : str

    Raises
    ------
    BadInput
        If the group is empty.

    Notes
    -----
    Exactly as for Anatomy: permuting the quasi-identifiers does not lower it. The product over
    distinct values in Li et al. 2015, theorem 1, has no basis (S-88, E-02).
    """
    size = sum(histogram.values())
    if size < 1:
        raise BadInput("The group is empty.", remedy="Give a group that has rows.")
    return Fraction(histogram.get(value, 0), size)
