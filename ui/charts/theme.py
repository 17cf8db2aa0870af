"""The colours of roles and runs in a light and a dark set, each with a sign next to it.

Every colour reaches a contrast of 4.5:1 on the page and on the sidebar of its set; none of them
ever is alone: a role has its sign and word, a run its letter and symbol.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import streamlit as st

#: Role → (colour in light, colour in dark, sign, word).
ROLE_STYLE: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "identifier": ("#B84A00", "#F0A868", "⊘", "identifier"),
        "person": ("#00696B", "#5CC4BE", "◎", "person"),
        "household": ("#4A6B00", "#A6C95A", "⌂", "household"),
        "weight": ("#6A4C93", "#C3A6E8", "⚖", "weight"),
        "quasi": ("#0072B2", "#56B4E9", "◐", "quasi-identifier"),
        "sensitive": ("#AA3377", "#E58BBB", "◈", "sensitive"),
        "insensitive": ("#5F6773", "#A9B4C0", "○", "insensitive"),
        "left_out": ("#6B5344", "#CBB29F", "∅", "left out"),
        "undecided": ("#B3261E", "#FF8A80", "?", "undecided"),
    }
)

#: Letter of a pinned run → (colour in light, colour in dark, sign, plotly's name of the sign).
RUN_STYLE: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "A": ("#00795A", "#3CBF99", "●", "circle"),
        "B": ("#9A5F00", "#E69F00", "■", "square"),
        "C": ("#5B4FC4", "#A79BF2", "◆", "diamond"),
        "D": ("#B0304F", "#FF8FA3", "▲", "triangle-up"),
        "E": ("#1F6FB2", "#7FB3F5", "▼", "triangle-down"),
        "F": ("#666600", "#C9C95A", "★", "star"),
    }
)

#: How a figure is → (colour in light, colour in dark, icon).
VERDICT_STYLE: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "bad": ("#B3261E", "#FF8A80", ":material/close:"),
        "doubtful": ("#8A5300", "#F2B84B", ":material/warning:"),
        "good": ("#1B6B3A", "#6FCF97", ":material/check:"),
        "plain": ("#4B5563", "#A9B4C0", ":material/info:"),
    }
)


def dark() -> bool:
    """Return whether the person sees the dark set now."""
    return cast(str | None, st.context.theme.type) == "dark"


def role_colour(role: str) -> str:
    """Return the colour of a role on the present background."""
    light, night, _, _ = ROLE_STYLE[role]
    return night if dark() else light


def run_colour(letter: str) -> str:
    """Return the colour of a pinned run on the present background."""
    light, night, _, _ = RUN_STYLE[letter]
    return night if dark() else light


def verdict_colour(verdict: str) -> str:
    """Return the colour of a figure that is so."""
    light, night, _ = VERDICT_STYLE[verdict]
    return night if dark() else light


def original_colour() -> str:
    """Return the colour of the original table."""
    return "#A9B4C0" if dark() else "#4B5563"


def ink() -> str:
    """Return the colour of text."""
    return "#E6EAEE" if dark() else "#0F1720"


def muted() -> str:
    """Return the colour of axis labels and side notes."""
    return "#A9B4C0" if dark() else "#4B5563"


def paper() -> str:
    """Return the colour of the page."""
    return "#14181D" if dark() else "#FFFFFF"


def grid() -> str:
    """Return the colour of grid lines; it carries no information."""
    return "#39424D" if dark() else "#D5DBE1"
