"""What searches found of values that no one chose yet: points of curves, and their releases."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan

#: Curves that a session keeps, the oldest forgotten.
_MOST = 8
_CURVES = "foreseen/curves"


@dataclass(frozen=True, kw_only=True)
class Point:
    """What a value comes to, by the search alone.

    Attributes
    ----------
    value : float
    loss, chance : float or None
        None where no release keeps the privacy models.
    suppressed, classes, rows : int
    """

    value: float
    loss: float | None = None
    chance: float | None = None
    suppressed: int = 0
    classes: int = 0
    rows: int = 0


@dataclass(kw_only=True, eq=False)
class Curve:
    """The points of a parameter, all else as the draft has it.

    Attributes
    ----------
    points : dict of float to Point
    found : dict of float to Result
        What the searches found, where it is kept.
    """

    points: dict[float, Point] = field(default_factory=dict[float, Point])
    found: dict[float, Result] = field(default_factory=dict[float, Result])


def curve(key: str) -> Curve:
    """Return the curve of a key as far as it is known, kept with the session."""
    kept: dict[str, Curve] = st.session_state.setdefault(_CURVES, {})
    if key not in kept:
        while len(kept) >= _MOST:
            kept.pop(next(iter(kept)))
        kept[key] = Curve()
    return kept[key]


def found(plan: Plan) -> Result | None:
    """Return what the search of a plan found, where its value was looked at before."""
    kept: dict[str, Curve] = st.session_state.get(_CURVES, {})
    every = (result for one in kept.values() for result in list(one.found.values()))
    return next((result for result in every if result.plan == plan), None)
