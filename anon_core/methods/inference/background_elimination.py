"""What is left to believe once values are ruled out: by an attacker who knows more than is shown.

Of a class with weights u_1 ≥ u_2 ≥ … of its values, somebody who has value j, and of whom the r
likeliest other values are ruled out, is believed to have it with u_j / (u_j + those that are left).
Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302, equation 3.1 and section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import F64, I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """The values of every class, the likeliest first.

    Attributes
    ----------
    entry : int64 array of shape (weighed,)
        Entry at each place: class by class; entries of weight 0 are left out.
    group : int64 array of shape (weighed,)
    weight : float64 array of shape (weighed,)
    rank : int64 array of shape (weighed,)
        Place within the class, from 0.
    size : int64 array of shape (groups,)
        How many values each class has left.
    """

    entry: I64
    group: I64
    weight: F64
    rank: I64
    size: I64

    def beliefs(self, ruled_out: int) -> F64:
        """Return what each place is believed with, once that many others are ruled out.

        Parameters
        ----------
        ruled_out : int
            The likeliest others, which is the worst that as many can do.

        Returns
        -------
        float64 array of shape (weighed,)
        """
        # Among the likeliest r a value's own place is filled by the next.
        own = self.rank <= ruled_out
        fewer, more = self._left(ruled_out + 1), self._left(ruled_out)
        return self.weight / np.where(own, self.weight + fewer[self.group], more[self.group])

    def _left(self, gone: int) -> F64:
        """Return the weight of each class without its likeliest values, shape (groups,).

        Summed class by class: differences of one long sum would lose what is small in it.
        """
        kept = self.weight * (self.rank >= gone)
        return np.bincount(self.group, kept, minlength=len(self.size)).astype(np.float64)


def ranked(group: I64, weight: F64, groups: int) -> Ranked:
    """Return the values of every class, the likeliest first.

    Parameters
    ----------
    group : int64 array of shape (entries,)
    weight : float64 array of shape (entries,)
        Not negative; what has weight 0 is ruled out.
    groups : int
    """
    entry = np.flatnonzero(weight > 0)
    entry = entry[np.lexsort((-weight[entry], group[entry]))]
    own, heavy = group[entry], weight[entry]
    size = np.bincount(own, minlength=groups).astype(np.int64)
    first = np.cumsum(size) - size
    return Ranked(
        entry=entry,
        group=own,
        weight=heavy,
        rank=np.arange(len(entry)) - first[own],
        size=size,
    )
