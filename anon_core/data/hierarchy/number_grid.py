"""The grid that a column's numbers stand on: whole numbers, days, tenths, steps of five.

Bars that cover unequally many possible values show spikes where there are none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Most decimals of a grid; numbers with more are taken as spread without one.
_MOST_DECIMALS = 9


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equally spaced points that all values of a column are among.

    Attributes
    ----------
    step : float
        From one point to the next.
    first : float
        The smallest value.
    places : int64 array of shape (values,)
        Steps from the first value to each, exactly.
    """

    step: float
    first: float
    places: npt.NDArray[np.int64]


def grid_of(measure: npt.NDArray[np.float64]) -> Grid | None:
    """Return the widest grid that ascending, different numbers stand on; None where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> grid_of(np.array([1.1, 1.3, 2.1])).step, grid_of(np.array([10.0, 25.0, 40.0])).step
    (0.2, 15.0)
    >>> grid_of(np.array([0.0, 2.0**0.5])) is None
    True
    """
    if len(measure) < 2:
        return None
    largest = float(np.max(np.abs(measure)))
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10.0**decimals
        if not largest * scale < 2.0**53:
            return None
        units = np.rint(measure * scale)
        # A decimal is the quotient of two numbers that are exact.
        if np.array_equal(units / scale, measure):
            apart = (units - units[0]).astype(np.int64)
            step = int(np.gcd.reduce(apart[1:]))
            return Grid(step=step / scale, first=float(measure[0]), places=apart // step)
    return None
