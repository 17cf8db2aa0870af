"""The one line above a panel's chart: its title, what the signs mean, its numbers, its drawer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.charts.chart_frame import Chart, Sign, legend, numbers
from ui.components.guard import handled
from ui.panels.results import workspace
from ui.state.kept_fields import remembered
from ui.state.work.fragments import Tells, alone


@dataclass(frozen=True, kw_only=True)
class Line:
    """What the line says.

    Attributes
    ----------
    title : str
        As it is shown.
    signs : sequence of (str, str, str)
        What is drawn, for the legend.
    chart : callable
        Returns the chart, whose numbers are one click away.
    """

    title: str
    signs: Sequence[Sign]
    chart: Callable[[], Chart]


def details_of(title: str) -> str:
    """Return the name of the drawer of a panel, by the panel's title."""
    return f"{title} in detail"


def draw(of: str, *, key: str, tells: Tells, line: Callable[[], Line]) -> None:
    """Draw the line of a linked panel; again where it is to say something else.

    Parameters
    ----------
    of : str
        The panel's own title, by which its drawer is named.
    key : str
    tells : {'', 'figures', 'verdict'}
        As the panel does.
    line : callable
        Returns what is said now.
    """

    def drawn() -> None:
        now = line()
        st.subheader(now.title, anchor=False, width="content")
        legend(now.signs)
        numbers(lambda: line().chart(), key=key)
        st.button(
            "Details",
            key=f"details-{key}",
            type="tertiary",
            width="content",
            on_click=handled(of)(workspace.open_drawer),
            args=(details_of(of),),
        )

    def drawn_from() -> object:
        now, is_open = line(), bool(st.session_state.get(f"numbers-{key}"))
        return now.title, tuple(now.signs), id(now.chart()) if is_open else None

    alone(
        of,
        drawn,
        key=f"head-{key}-alone",
        linked=True,
        tells=tells,
        drawn_from=drawn_from,
        block=lambda: _block(key),
    )


def _block(key: str) -> dict[str, Any]:
    return {
        "key": f"head-{key}",
        "horizontal": True,
        "vertical_alignment": "center",
        "gap": "small",
    }


def controls(title: str, *, key: str) -> DeltaGenerator:
    """Draw the line of a panel with controls of its own; return the place they are drawn in.

    Parameters
    ----------
    title : str
    key : str
    """
    place = st.container(**_block(key))
    place.subheader(title, anchor=False, width="content")
    return place


def either(label: str, options: Sequence[str], *, key: str) -> str:
    """Draw the choice of one of a few words, the first until another one is chosen."""
    return st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        **remembered(key),
        label_visibility="collapsed",
        width="content",
    )


def stepper(noun: str, most: int, *, key: str, more: str = "", first: int = 1) -> int:
    """Draw the choice of a number up to `most` as "‹ 1 / 50 ›"; return it.

    Parameters
    ----------
    noun : str
        What is numbered, for the names of the field and of the arrows.
    most : int
        With one alone, nothing is drawn.
    key : str
    more : str
        Said of the numbers, for readers of screens.
    first : int
        The number shown before another one is chosen.
    """
    if most <= 1:
        return 1
    now = min(int(st.session_state.get(key) or first), most)
    st.session_state[key] = now  # fewer may be left than there were

    def step(to: int) -> None:
        st.session_state[key] = to

    for sign, word, to in (("left", "Previous", now - 1), ("right", "Next", now + 1)):
        if word == "Next":
            st.number_input(
                f"{noun} of {most:,}" + (f", {more}" if more else ""),
                min_value=1,
                max_value=most,
                value=now,  # an emptied field keeps its number
                step=1,
                key=key,
                label_visibility="collapsed",
                width=58,
            )
            st.html(f"<span class='aw-of' aria-hidden='true'>/ {most:,}</span>", width="content")
        st.button(
            f"{word} {noun.lower()}",
            key=f"step-{word.lower()}-{key}",
            icon=f":material/chevron_{sign}:",
            type="tertiary",
            width="content",
            disabled=not 1 <= to <= most,
            on_click=handled("Table")(step),
            args=(to,),
        )
    return now
