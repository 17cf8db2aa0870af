"""Forms out of declarations: one widget for each parameter a technique declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import TypeVar, cast

import streamlit as st

from anon_core.errors import BadPlan
from anon_core.params import Parameter, Technique
from anon_core.registry import Family, find, option_title

from .explain import plain

_T = TypeVar("_T")

#: Letters that fit a third of the form.
_MOST_TEXT = 15


def parameter_form(
    technique: type[Technique],
    values: Mapping[str, object],
    *,
    key: str,
    sensitive: Sequence[str] = (),
    without: Collection[str] = (),
) -> dict[str, object]:
    """Draw one widget for each declared parameter and return what they show.

    Parameters
    ----------
    technique : type of Technique
    values : mapping of str to object
        What the session holds; parameters without a value, or with one that is no longer allowed,
        show their default.
    key : str
        Tells this form's widgets from those of other forms.
    sensitive : sequence of str
        Columns that a parameter of kind ``column`` may name.
    without : collection of str
        Parameters that have a form of their own.

    Returns
    -------
    dict of str to object
        Every parameter's value by name; it is the technique that judges them.
    """
    shown: dict[str, object] = {}
    for parameter in technique.parameters():
        if parameter.name in without:
            continue
        wanted = _allowed(parameter, values.get(parameter.name, parameter.default), technique.name)
        widget = f"{key}/{technique.name}/{parameter.name}"
        now = follow(widget, wanted)
        long = parameter.kind == "choice" and _longest(parameter) > _MOST_TEXT
        # A choice is no choice where its words are cut off; `shell` gives such a place more room.
        with st.container(key=f"long-{widget}") if long else nullcontext():
            shown[parameter.name] = _widget(parameter, widget, sensitive, wanted, now)
    return shown


def _longest(parameter: Parameter) -> int:
    return max(len(option_title(parameter, option)) for option in parameter.options)


def _allowed(parameter: Parameter, value: object, owner: str) -> object:
    try:
        return parameter.accept(value, owner)
    except BadPlan:
        return parameter.default


def follow(widget: str, wanted: _T) -> _T:
    """Put `wanted` into the widget when it is new to it; what was typed since is kept.

    Parameters
    ----------
    widget : str
        The widget's key.
    wanted : object
        The draft's value.

    Returns
    -------
    object
        What the widget will show, to be given to it as its default as well: where the message of
        one run is overtaken by the next run, the browser has nothing else to show, and would send
        back the widget's own first or smallest value as if it had been chosen.
    """
    before = f"{widget}/before"
    if widget not in st.session_state or st.session_state.get(before) != wanted:
        st.session_state[widget] = wanted
    st.session_state[before] = wanted
    return st.session_state[widget]


def place(options: Sequence[object], value: object) -> int:
    """Return where a value stands among the options; the first where it is none of them."""
    return options.index(value) if value in options else 0


def _widget(
    parameter: Parameter, widget: str, sensitive: Sequence[str], wanted: object, now: object
) -> object:
    label = parameter.label or parameter.name.replace("_", " ")
    if label[1:2].isalpha():  # a letter by itself, such as k or the δ of "δ max", is a formula's
        label = label[:1].upper() + label[1:]
    if parameter.unit:
        label = f"{label} ({parameter.unit})"
    if parameter.kind == "choice":
        return st.selectbox(
            label,
            parameter.options,
            index=place(parameter.options, now),
            key=widget,
            help=f"{plain(parameter.help)}\n\n{_each(parameter)}",
            format_func=lambda option: option_title(parameter, option),
        )
    note = f"{plain(parameter.help)}\n\nAllowed: {plain(parameter.allowed())}."
    if parameter.kind == "flag":
        return st.checkbox(label, value=bool(now), key=widget, help=note)
    if parameter.kind == "column":
        columns = ["", *sensitive]
        if wanted not in columns:  # the plan says what is wrong with it, not the form
            columns.append(str(wanted))
        return st.selectbox(
            label,
            columns,
            index=place(columns, now),
            key=widget,
            help=note,
            format_func=lambda name: name or parameter.empty,
        )
    if parameter.kind == "text":
        return st.text_input(label, value=str(now), key=widget, help=note)
    if parameter.kind == "integer":
        low = None if parameter.low is None else int(parameter.low)
        high = None if parameter.high is None else int(parameter.high)
        return st.number_input(
            label,
            min_value=low,
            max_value=high,
            value=cast(int, now),
            step=1,
            key=widget,
            help=note,
        )
    low, high = parameter.low, parameter.high
    step = 0.01 if high is not None and high <= 1 else 0.1
    return st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=float(cast(float, now)),
        step=step,
        format="%g",
        key=widget,
        help=note,
    )


def _each(parameter: Parameter) -> str:
    """Return every option in words, with what it is where the registry says so."""
    lines: list[str] = []
    for option in parameter.options:
        line = f"- {plain(option_title(parameter, option))}"
        if parameter.options_of:
            line += f": {plain(find(cast(Family, parameter.options_of), option).summary)}"
        lines.append(line)
    return "\n".join(lines)
