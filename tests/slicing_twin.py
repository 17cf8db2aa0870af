"""Slicing's own measures of membership: fake tuples and matching buckets (S-90)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from anon_core.base.errors import Infeasible

Value = Hashable
Tuple = tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class SlicedBucket:
    """One bucket of a sliced table: the values of each column, and the sensitive ones next to them.

    Attributes
    ----------
    columns : tuple of tuples
        Per slicing column the value every row shows (of its quasi-identifiers only), in any order.
    sensitive : tuple
        Sensitive values, row by row next to the last column.
    """

    columns: tuple[tuple[Value, ...], ...]
    sensitive: tuple[Value, ...] = ()

    @property
    def size(self) -> int:
        """Rows of the bucket."""
        return len(self.columns[0])

    def match(self, person: Tuple) -> Fraction:
        """Return f(t, B): the product over columns of the share of rows that show t's value."""
        shares = zip(person, self.columns, strict=True)
        return prod((Fraction(c.count(v), self.size) for v, c in shares), start=Fraction(1))


@dataclass(frozen=True, kw_only=True)
class MatchingBuckets:
    """Original tuples against the fake ones that the pairings could also be.

    Attributes
    ----------
    original, fake : mapping of int to int
        Matching buckets → tuples that have so many.
    """

    original: Mapping[int, int]
    fake: Mapping[int, int]

    @property
    def originals(self) -> int:
        """Distinct original tuples with a matching bucket."""
        return sum(self.original.values())

    @property
    def fakes(self) -> int:
        """Tuples with a matching bucket that are in no original row."""
        return sum(self.fake.values())


def matching_buckets(
    buckets: Sequence[SlicedBucket], original: Iterable[Tuple], *, most: int = 5_000_000
) -> MatchingBuckets:
    """Count the tuples every bucket's columns could pair to (Toth 2015, 3.1.3.1).

    Parameters
    ----------
    buckets : sequence of SlicedBucket
        Columns as whole link blocks, sensitive values included.
    original : iterable of tuples
        The table's rows, one value per column. Only they can tell the original from the fake;
        an attacker has no such list.
    most : int
        Largest number of pairings listed.

    Raises
    ------
    Infeasible
        If there are more.
    """
    distinct = [[tuple(dict.fromkeys(c)) for c in b.columns] for b in buckets]
    pairings = sum(prod(len(c) for c in columns) for columns in distinct)
    if pairings > most:
        raise Infeasible(
            f"The buckets could pair to {pairings:,} tuples; at most {most:,} are listed.",
            remedy="Take smaller buckets, or fewer and wider columns.",
            best=float(pairings),
        )
    found: Counter[Tuple] = Counter()
    for columns in distinct:
        found.update(product(*columns))
    true = set(original)
    return MatchingBuckets(
        original=dict(Counter(n for t, n in found.items() if t in true)),
        fake=dict(Counter(n for t, n in found.items() if t not in true)),
    )


@dataclass(frozen=True, kw_only=True)
class SlicedPosterior:
    """What slicing tells of one person.

    Attributes
    ----------
    bucket : tuple of Fraction
        p(t, B): chance to be in each bucket, given to be in one.
    sensitive : mapping of value to Fraction
        p(t, s).
    """

    bucket: tuple[Fraction, ...]
    sensitive: Mapping[Value, Fraction]


def sliced_posterior(buckets: Sequence[SlicedBucket], person: Tuple) -> SlicedPosterior:
    """Return p(t, B) = f(t, B)/f(t) and p(t, s) = Σ_B p(t, B)·D(t, B)[s].

    Parameters
    ----------
    buckets : sequence of SlicedBucket
    person : tuple
        One value per column, of the quasi-identifiers only.

    Notes
    -----
    D(t, B) is the distribution of the sensitive values among the bucket's rows whose last column
    shows the person's value.
    """
    match = [b.match(person) for b in buckets]
    whole = sum(match, start=Fraction(0))
    if not whole:
        return SlicedPosterior(bucket=tuple(match), sensitive={})
    chance = tuple(m / whole for m in match)
    found: dict[Value, Fraction] = {}
    for b, p in zip(buckets, chance, strict=True):
        if not p:
            continue
        matching = [s for v, s in zip(b.columns[-1], b.sensitive, strict=True) if v == person[-1]]
        for s in matching:
            found[s] = found.get(s, Fraction(0)) + p / len(matching)
    return SlicedPosterior(bucket=chance, sensitive=found)
