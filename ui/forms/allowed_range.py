"""What the table allows a parameter to be: in words, as a slider, and where it is impossible."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st

from anon_core.base.errors import listing
from anon_core.base.params import Parameter, Technique
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.feasibility import Allowed, rounded
from ui.components.guard import handled
from ui.words.escaping import plain

#: Steps of a slider; a whole number with more values than that is better typed.
_MOST_STEPS = 200


@dataclass(frozen=True, kw_only=True)
class Range:
    """What all columns concerned allow together.

    Attributes
    ----------
    low, high : float or None
        Ends, within what is declared; rounded to few digits, so that both can be asked for.
    words : str
        The table's own limits as a sentence; empty where it sets none.
    """

    low: float | None
    high: float | None
    words: str


def range_of(parameter: Parameter, allowed: Sequence[Allowed], removable: int = 0) -> Range | None:
    """Return what a table allows a parameter to be; None where that is not known of it.

    Parameters
    ----------
    parameter : Parameter
    allowed : sequence of Allowed
        Of all columns and parameters.
    removable : int
        Rows that may be left out.
    """
    own = [one for one in allowed if one.parameter == parameter.name]
    if not own:
        return None
    lows = [(one.low, one) for one in own if one.low is not None]
    highs = [(one.high, one) for one in own if one.high is not None]
    low, lowest = max(lows, key=lambda pair: pair[0], default=(None, None))
    high, highest = min(highs, key=lambda pair: pair[0], default=(None, None))
    ends: list[str] = []
    if low is not None and (parameter.low is None or low > parameter.low):
        low = _up(parameter, low)
        above = "above" if lowest is not None and lowest.open else "from"
        ends.append(f"{above} {low:g}{_by(lowest, own)}")
    if high is not None and (parameter.high is None or high < parameter.high):
        high = _down(parameter, high)
        below = "below" if highest is not None and highest.open else "up to"
        ends.append(f"{below} {high:,.6g}{_by(highest, own)}")
    low = _tighter(parameter.low, low, max)
    high = _tighter(parameter.high, high, min)
    also = f" with up to {removable:,} {ROWS_SUPPRESSED}" if removable else ""
    name = parameter.label or parameter.name
    words = f"This table allows {name} {' and '.join(ends)}{also}." if ends else ""
    return Range(low=low, high=high, words=words)


def draw(
    technique: type[Technique],
    allowed: Sequence[Allowed],
    *,
    key: str,
    removable: int = 0,
) -> None:
    """Draw, for every parameter that the table limits, its range in words and as a slider.

    The slider moves the number next to it, which takes exact decimals, and follows it.

    Parameters
    ----------
    technique : type of Technique
    allowed : sequence of Allowed
    key : str
        What distinguishes the form's widgets; see `parameter_form`.
    removable : int
    """
    for parameter in technique.parameters():
        found = range_of(parameter, allowed, removable)
        widget = f"{key}/{technique.name}/{parameter.name}"
        if found is None or widget not in st.session_state:
            continue
        if found.low is not None and found.high is not None and found.low < found.high:
            _slider(parameter, found.low, found.high, widget)
        if found.words:
            st.caption(f":material/straighten: {plain(found.words)}")


def _slider(parameter: Parameter, low: float, high: float, widget: str) -> None:
    now = float(cast(float, st.session_state[widget]))
    whole = parameter.kind == "integer"
    if whole and high - low > _MOST_STEPS:
        return
    own = f"{widget}/slider"
    shown = min(max(now, low), high)
    name = f"{parameter.label or parameter.name}, as far as this table allows"
    if whole:
        st.session_state[own] = round(shown)
        ends, step, form = (int(low), int(high)), 1, "%d"
    else:
        st.session_state[own] = shown
        ends, step, form = (low, high), _step(high - low), "%.4g"
    st.slider(
        name,
        min_value=ends[0],
        max_value=ends[1],
        step=step,
        format=form,
        key=own,
        on_change=_take_over,
        args=(own, widget, step),
    )


@handled("Choices")
def _take_over(own: str, widget: str, step: float) -> None:
    """Write what the slider was moved to into the number, with as many digits as a step has."""
    moved = st.session_state[own]
    digits = max(0, -math.floor(math.log10(step)))
    st.session_state[widget] = moved if isinstance(moved, int) else round(float(moved), digits)


def _step(width: float) -> float:
    """Return a round step that parts a width into 100 to 1,000."""
    return float(10.0 ** math.floor(math.log10(width / 100)))


def _up(parameter: Parameter, low: float) -> float:
    return float(math.ceil(low)) if parameter.kind == "integer" else rounded(low, "up")


def _down(parameter: Parameter, high: float) -> float:
    return float(math.floor(high)) if parameter.kind == "integer" else rounded(high, "down")


def _tighter(
    declared: float | None, own: float | None, pick: Callable[[list[float]], float]
) -> float | None:
    ends = [end for end in (declared, own) if end is not None]
    return pick(ends) if ends else None


def _by(one: Allowed | None, own: Sequence[Allowed]) -> str:
    """Return which column sets an end, where several are concerned."""
    columns = dict.fromkeys(a.column for a in own if a.column)
    return f" (by {listing([one.column])})" if one is not None and len(columns) > 1 else ""
