"""Plain values that JSON can say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast


def finite(value: object) -> object:
    """Return plain values with null for what JSON cannot say (infinite, not a number).

    Examples
    --------
    >>> finite({"a": [1.5, float("inf")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, Mapping):
        return {k: finite(v) for k, v in cast(Mapping[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in cast(Sequence[object], value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
