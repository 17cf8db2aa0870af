"""Random examples: a share of them at every change, all of them in `make test-long`.

Examples are drawn from a fixed seed, so that the share is always the same one and what fails can be
repeated; more of them are for the long run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TypeVar

import pytest
from hypothesis import settings

_T = TypeVar("_T", bound=Callable[..., object])
#: Whether all examples are tried.
EVERY = os.environ.get("TEST_LONG") == "1"
_SHARE = 6


def times(examples: int, *, share: int = _SHARE) -> int:
    """Return how many random examples are tried now; the test is marked `often`.

    A test whose examples take long may ask for a smaller part of them at every change.
    """
    return examples if EVERY else max(1, examples // share)


#: For a test that counts what is seldom drawn, of which a sixth of the examples holds too little.
quarter = partial(times, share=4)


def often(examples: int, *, share: int = _SHARE) -> Callable[[_T], _T]:
    """Try a test on so many random examples in the long run, and on a share of them otherwise."""

    def around(test: _T) -> _T:
        return pytest.mark.often(settings(max_examples=times(examples, share=share))(test))

    return around


def crossed(
    names: str, *values: Sequence[object], share: int, ids: Callable[[object], str] | None = None
) -> Callable[[_T], _T]:
    """Try a test on every combination in the long run, and on a share of them otherwise.

    The share is drawn like a Latin square: no value is left out that has `share` others to meet.

    Parameters
    ----------
    names : str
        Arguments of the test, as `pytest.mark.parametrize` takes them.
    values : sequences
        What each of them may be.
    """
    places = product(*(range(len(one)) for one in values))
    taken = [
        tuple(one[at] for one, at in zip(values, place, strict=True))
        for place in places
        if EVERY or sum(place) % share == 0
    ]

    def around(test: _T) -> _T:
        return pytest.mark.often(pytest.mark.parametrize(names, taken, ids=ids)(test))

    return around
