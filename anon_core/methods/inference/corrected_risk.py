"""What an attack learns of the table itself: its success against that on people of no part in it.

Giomi, Boenisch, Wehmeyer and Tasnádi 2023, doi 10.56553/popets-2023-0055; intervals after Wilson
1927, doi 10.1080/01621459.1927.10502953.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Standard deviations either side of which 95% of a normal distribution lies.
Z = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share estimated from trials.

    Attributes
    ----------
    value : float
        Middle of the interval, drawn towards one half where trials are few.
    error : float
        Half of its length.
    """

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, 0 to 1."""
        return max(self.value - self.error, 0.0), min(self.value + self.error, 1.0)


def wilson(succeeded: float, trials: float, z: float = Z) -> Share:
    """Return a share of successes with its interval.

    Examples
    --------
    >>> found = wilson(300, 1000)
    >>> round(found.value, 8), round(found.error, 8)
    (0.30076535, 0.02835851)
    """
    if trials <= 0:
        return Share(value=0.5, error=0.5)
    value = (succeeded + z * z / 2) / (trials + z * z)
    spread = succeeded * (trials - succeeded) / trials + z * z / 4
    return Share(value=value, error=z / (trials + z * z) * math.sqrt(max(spread, 0.0)))


def corrected(attack: Share, control: Share) -> Share | None:
    """Return the risk that is left once the control is taken off; None where it is void.

    It is void where the control is right of everyone: nothing is left to learn.

    Examples
    --------
    >>> found = corrected(wilson(300, 1000), wilson(250, 1000))
    >>> found and (round(found.value, 8), round(found.error, 8))
    (0.06649637, 0.05048958)
    """
    room = 1.0 - control.value
    if room <= 0:
        return None
    value = (attack.value - control.value) / room
    error = math.hypot(attack.error / room, control.error * (attack.value - 1) / room**2)
    return Share(value=min(max(value, 0.0), 1.0), error=error)
