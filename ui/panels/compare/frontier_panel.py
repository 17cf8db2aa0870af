"""The risk–utility frontier: the form of a sweep, its progress, and its points as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.params import Parameter
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, met_first
from anon_core.explain.text.phrases import few, symbol
from anon_core.pipeline.sweep.variations import Value, numbers_of
from ui.charts.chart_frame import Palette, Series
from ui.components.clicks import clicked
from ui.components.guard import panel, show_error
from ui.forms import run_form
from ui.panels.compare import sweep_points
from ui.state import state
from ui.state.kept_fields import remembered
from ui.state.work import curve, jobs, sweep, what_if
from ui.words.escaping import plain

#: What is offered for a whole number, and what is chosen at first of it.
_WHOLE, _FIRST = (2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200), (2, 3, 5, 10, 20, 50)
#: Shares of a number's range that are offered, all chosen at first.
_STEPS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
#: Seconds between two looks at the points of a sweep under way.
_LOOK = 1.0
_TECHNIQUES = "sweep-techniques"


@st.fragment
@panel("Risk–utility frontier")
def draw(runs: Sequence[Series], colours: Palette) -> None:
    """Draw the form of the sweep, its progress, and the frontier as its points come."""
    sweep.settle()
    _form()
    jobs.watch(sweep.JOB)
    error = sweep.error()
    if error is not None:
        show_error(error)
    busy = sweep.is_running()
    if sweep.note() and not busy:
        st.caption(plain(sweep.note()))

    @st.fragment(run_every=_LOOK if busy else None)
    @panel("Points of the sweep")
    def live() -> None:
        sweep_points.draw(runs, colours)

    live()


def _form() -> None:
    """Draw what is varied, and the button that starts the sweep."""
    people = bool(state.draft().get("population", {}).get("file"))
    known = {
        name: found
        for name, found in cast(dict[str, type[Algorithm]], family("algorithm")).items()
        if not (found.needs.public and not people) and not found.needs.levels_parameter
    }
    numbers = _numbers()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = st.session_state.get(_TECHNIQUES) or [n for n in met_first() if n in known]
        with st.popover(_named([known[n].title for n in names if n in known]), key="sweep-which"):
            techniques = st.pills(
                "Techniques",
                list(known),
                selection_mode="multi",
                default=[n for n in met_first() if n in known],  # all take minutes
                format_func=lambda n: known[n].title,
                wrap=True,
                **remembered(_TECHNIQUES),
            )
        path, values = "", list[Value]()
        if numbers:
            path = st.selectbox(
                "Parameter",
                list(numbers),
                format_func=lambda p: _said(p, numbers[p]),
                **remembered("sweep-path"),
                width=120,
            )
            values = _values(path, numbers[path])
        ready = bool(techniques) and bool(values or not path) and _has_table()
        if clicked(
            "Sweep",
            key="sweep",
            disabled=not ready or sweep.is_running(),
            help="Runs the current plan once for every technique and value; other models, budget "
            "and threshold stay. If columns are permuted separately, a bucket size replaces a "
            "model of whole rows.",
        ):
            settings = {name: run_form.kept_parameters(name) for name in techniques}
            sweep.start(techniques, path, values, settings)
            st.rerun()
        _as_on_results(numbers)


def _as_on_results(numbers: Mapping[str, Parameter]) -> None:
    """Draw one click that sweeps what the curve on Results shows, with the present technique."""
    one = curve.setting()
    if one is None or one.table != "models" or not _has_table():
        return
    found = [p for p in numbers if p.split(".")[-1] == one.parameter.name]
    path = next((p for p in found if p.split(".")[1:-1] in ([], [one.owner])), "")
    if not path:
        return
    whole = one.parameter.kind == "integer"
    known = curve.of(one).points or curve.values(one)
    values: list[Value] = sorted({int(v) if whole else float(v) for v in known})
    name = symbol(one.parameter.label or one.parameter.name)
    if clicked(
        "Sweep the curve",
        key="sweep-curve",
        disabled=sweep.is_running(),
        help=f"Runs the current technique for the {len(values)} values of {name} that the "
        "curve on Results shows, and recomputes each.",
    ):
        sweep.start([what_if.technique().name], path, values, {})
        st.rerun()


def _named(titles: Sequence[str]) -> str:
    """Return what is on the list of techniques: the first that are chosen, and how many."""
    return plain(few(titles, 2)) if titles else "Techniques"


def _has_table() -> bool:
    return state.dataset() is not None and bool(state.roles().quasi)


def _numbers() -> dict[str, Parameter]:
    with suppress(AnonError):  # what is wrong with the plan is said when it is carried out
        return numbers_of(state.plan().models)
    return {}


def _said(path: str, parameter: Parameter) -> str:
    _, *model, _ = path.split(".")
    name = symbol(parameter.label or parameter.name)
    return f"{name} of {family('model')[model[0]].title}" if model else name


def _values(path: str, parameter: Parameter) -> list[Value]:
    """Draw the values that are tried; others can be typed."""
    offered, first = _offered(parameter)
    typed = st.multiselect(
        "Values",
        offered,
        default=first,
        accept_new_options=True,
        **remembered(f"sweep-values-{path}"),
        width=352,
    )
    found: list[Value] = []
    for value in cast(Sequence[Value], typed):
        number = _read(value, parameter)
        if number is None:
            st.caption(plain(f"{value} is left out: {parameter.allowed()} is needed."))
        elif number not in found:
            found.append(number)
    return sorted(found, key=float)


def _offered(parameter: Parameter) -> tuple[list[Value], list[Value]]:
    low = parameter.low if parameter.low is not None else 0.0
    high = parameter.high
    if parameter.kind == "integer":
        inside = [v for v in _WHOLE if v >= low and (high is None or v <= high)]
        return list(inside), [v for v in inside if v in _FIRST]
    if high is None:
        base = float(cast(float, parameter.default)) or 1.0
        steps = [round(base * f, 6) for f in (0.25, 0.5, 1.0, 2.0, 4.0)]
        inside_numbers = [v for v in steps if v >= low]
        return list(inside_numbers), list(inside_numbers)
    shares = [round(low + (high - low) * f, 6) for f in _STEPS]
    return list(shares), list(shares)


def _read(value: Value, parameter: Parameter) -> Value | None:
    """Return a typed value as the parameter's number, or None where it is none."""
    try:
        number = float(value)
        if parameter.kind == "integer" and number != int(number):
            return None
        read: Value = int(number) if parameter.kind == "integer" else number
        parameter.accept(read, parameter.name)
    except (ValueError, AnonError, OverflowError):
        return None
    return read
