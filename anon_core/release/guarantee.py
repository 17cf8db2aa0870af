"""What a mechanism is proven to guarantee: differential privacy, which no release shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """(ε, δ)-differential privacy of the way a release was made, one row more or less.

    It is public: anyone who attacks a release knows how it was made.

    Attributes
    ----------
    spent : mapping of str to Fraction
        ε by what it was spent on; they add up (sequential composition).
    delta : Fraction
        δ, rounded up.
    share : Fraction
        Chance of every row to be in the sample.
    least : int
        Least number of sampled rows of a class that is published.
    """

    spent: Mapping[str, Fraction]
    delta: Fraction
    share: Fraction
    least: int

    @property
    def epsilon(self) -> Fraction:
        """ε in all."""
        return sum(self.spent.values(), start=Fraction(0))
