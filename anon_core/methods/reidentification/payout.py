"""What published rows earn where attackers attack those that pay them (Wan et al. 2015).

A publisher earns B (1 − IL) by a row, IL = Σ log leaves / Σ log |A|. Of N people who fit it an
attacker gains G/N on average; if that is above the cost C, the row is attacked, and the publisher
loses L/N.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.params import Technique, number
from anon_core.data.hierarchy import Hierarchy

#: Of first and last leaves of cells, a number each.
Width = Callable[[I32, I32], F64]
_ROUNDING = 1e-9  # of a payout in floats, relative to the benefit


def size_without_attack(gain: float, cost: float) -> int:
    """Return the least class that no one attacks, ⌈G/C⌉: from there on G/N is at most C.

    Examples
    --------
    >>> size_without_attack(300, 4), size_without_attack(300, 100), size_without_attack(300, 7)
    (75, 3, 43)
    """
    return max(math.ceil(Fraction(str(gain)) / Fraction(str(cost))), 1)


@dataclass(frozen=True, kw_only=True)
class Amounts(Technique):
    """What rows and attacks are worth, in one unit of money."""

    benefit: float = number(
        default=0.0,
        low=0.0,
        high=1e12,
        help="B, what a row earns as it is. State it; 0 is refused.",
        label="Benefit",
    )
    loss: float = number(
        default=0.0,
        low=0.0,
        high=1e12,
        help="L, what the publisher loses by each person who is found.",
        label="Loss if found",
    )
    gain: float = number(
        default=0.0,
        low=0.0,
        high=1e12,
        help="G, what an attacker gains by each person who is found.",
        label="Attack gain",
    )
    cost: float = number(
        default=0.0,
        low=0.0,
        high=1e12,
        help="C, what an attack on a row costs the attacker.",
        label="Attack cost",
    )

    def of_rows(self, lost: F64, people: I64) -> F64:
        """Return what a row of each class earns, shape (classes,).

        Parameters
        ----------
        lost : float64 array of shape (classes,)
            IL, 0 to 1.
        people : int64 array of shape (classes,)
            N, at least 1.
        """
        attacked = people < self.safe_from()
        return self.benefit * (1 - lost) - attacked * self.loss / people

    def pays(self, earned: F64) -> B1:
        """Return which rows earn more than nothing, and more than rounding."""
        return earned > self.benefit * _ROUNDING

    def safe_from(self) -> float:
        """Return the least N that no one attacks; none is where an attack costs nothing."""
        if not self.gain:
            return 1.0
        return float(size_without_attack(self.gain, self.cost)) if self.cost else math.inf


def share_lost(
    hierarchies: Mapping[str, Hierarchy],
    names: Iterable[str],
    widths: Callable[[str, Width], F64],
) -> F64:
    """Return Σ log leaves / Σ log |A| of each class, shape (classes,); 0 of domains of one.

    Parameters
    ----------
    names : iterable of str
        Quasi-identifiers, at least one.
    widths : callable
        Given a column and a function of first and last leaves, it returns what that says of each
        class, such as `Release.by_cover`.
    """
    logs: list[F64] = []
    every = 0.0
    for name in names:
        hierarchy = hierarchies[name]

        def width(lo: I32, hi: I32, hierarchy: Hierarchy = hierarchy) -> F64:
            return np.log(np.maximum(hierarchy.leaf_count(lo, hi), 1))

        logs.append(widths(name, width))
        every += math.log(max(hierarchy.size, 1))
    found = np.sum(logs, axis=0)
    return found / every if every else found
