"""Noise from OpenDP's library alone: it is drawn from the operating system, never from a seed.

Noise made of floats leaks (Mironov 2012, doi 10.1145/2382196.2382264), and so does a generator for
simulations; whole-number noise whose privacy map is proven is what that library is for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from math import inf, nextafter
from typing import Any, cast

from anon_core.base.errors import AnonError

#: What the optional part of the installation is called, and what it installs.
EXTRA = "dp"


def _opendp() -> Any:
    """Return OpenDP's prelude.

    Raises
    ------
    AnonError
        If it is not installed.
    """
    try:
        dp: Any = importlib.import_module("opendp.prelude")
    except ImportError as error:
        raise AnonError(
            "Noisy counts need OpenDP's library for their noise, and it is not installed.",
            remedy=f"Install the extra '{EXTRA}': pip install 'anonymity-workbench[{EXTRA}]'.",
        ) from error
    dp.enable_features("contrib")  # how the library asks for its proven, unvetted parts
    return dp


def refuse_without_library() -> None:
    """Refuse at once where noise could not be drawn at the end.

    Raises
    ------
    AnonError
    """
    _opendp()


def with_noise(counts: Sequence[int], epsilon: float) -> list[int]:
    """Return counts with two-sided geometric noise: P(x) ∝ e^(−ε |x|), independently for each.

    One row more or less changes one count by one, so all of them together are ε-differentially
    private (Ghosh, Roughgarden, Sundararajan 2012, doi 10.1137/09076828X).
    """
    if not counts:
        return []
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = 1 / epsilon
    while (mechanism := dp.m.make_geometric(*space, scale=scale)).map(1) > epsilon:
        scale = nextafter(scale, inf)
    return cast(list[int], mechanism([int(count) for count in counts]))


def above_threshold(
    counts: Mapping[str, int], epsilon: float, delta: float
) -> tuple[dict[str, int], int]:
    """Return noisy counts of keys that the table itself names, and the threshold they are above.

    A key that one row brings is published with a chance of at most δ: a count must exceed a
    threshold after noise, the least that OpenDP's privacy map allows for δ.
    """
    dp = _opendp()
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    one_row = (1, 1, 1)  # one row changes one key, by one

    def made(scale: float, threshold: int) -> Any:
        return dp.m.make_laplace_threshold(*space, scale=scale, threshold=threshold)

    scale = 1 / epsilon
    while made(scale, 2).map(one_row)[0] > epsilon:
        scale = nextafter(scale, inf)
    high = 2
    while made(scale, high).map(one_row)[1] > delta:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if made(scale, middle).map(one_row)[1] > delta:
            low = middle
        else:
            high = middle
    found = made(scale, high)({key: int(count) for key, count in counts.items()})
    return cast(dict[str, int], found), high
