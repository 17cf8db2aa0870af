"""Cuts over any two columns, for results that form groups of rows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from anon_core.data.values.kinds import KINDS
from anon_core.methods.bucketized.permuted_release import gathers_alike
from anon_core.methods.partition.parts_picture import common_leaves, parts_picture
from anon_core.pipeline.result import Result
from anon_core.release.problem import Problem
from ui.charts.chart_frame import Chart, Palette, Series, kept, palette, show
from ui.charts.parts_plot import parts_chart
from ui.components.guard import panel
from ui.state.kept_fields import remembered
from ui.state.result_view import shown
from ui.words.escaping import plain

_ACROSS, _UP = "parts/across", "parts/up"
#: Fields next to each other, wide enough for a value each.
_ABREAST = 4
_SLICE = "One slice"


def applies(result: Result) -> bool:
    """Say whether a result parts its rows by their likeness, and has two columns to draw."""
    return result.account.partition is not None and len(result.problem.quasi) > 1 and _alike(result)


def _alike(result: Result) -> bool:
    algorithm = result.plan.algorithm
    return all(
        gathers_alike(type(getattr(algorithm, p.name)))
        for p in algorithm.parameters()
        if p.options_of == "partitioner"
    )


@st.fragment
@panel("Cuts")
def draw(run: Series) -> None:
    """Draw what the parts of a result cover over two columns."""
    problem = run.facts.result.problem
    with st.container(border=True, key="parts-panel"):
        st.subheader("Cuts", anchor=False)
        names = sorted(problem.quasi, key=lambda name: _tells(problem, name))
        with st.container(horizontal=True):
            across = _column("Across", names, _ACROSS)
            up = _column("Up", [name for name in names if name != across], _UP)
        others = [name for name in problem.quasi if name not in (across, up)]
        at: dict[str, int] = {}
        every = f"Every {run.facts.noun[0]}"
        if others:
            shown_parts = st.segmented_control(
                "Show",
                [every, _SLICE],
                default=_SLICE,
                required=True,
                **remembered("parts/slice"),
                help="A slice holds the other columns at one value each, so that the cuts do not "
                "lie on each other.",
            )
            if shown_parts == _SLICE:
                at = _values(problem, others)
        show(kept(_chart, [run], palette(), across, up, tuple(at.items())), key="parts")


def _values(problem: Problem, names: Sequence[str]) -> dict[str, int]:
    """Draw the choice of a value for every column that is held, and return the leaves."""
    common = common_leaves(problem)
    found: dict[str, int] = {}
    for begin in range(0, len(names), _ABREAST):
        some = names[begin : begin + _ABREAST]
        columns = st.columns(_ABREAST if len(names) > _ABREAST else len(some), gap="small")
        for name, place in zip(some, columns, strict=False):
            leaves = problem.hierarchies[name].leaves
            key = f"parts/at/{name}"
            if st.session_state.get(key) not in leaves:
                st.session_state[key] = leaves[common[name]]
            held = place.selectbox(
                f"{plain(name)} held at", leaves, **remembered(key), format_func=shown
            )
            found[name] = problem.hierarchies[name].code[held]
    return found


def _tells(problem: Problem, name: str) -> tuple[bool, int]:
    """Return what puts the columns whose cuts tell most first: numbers and dates, many values."""
    column = problem.dataset.column(name)
    return not KINDS[column.kind].measured, -len(column.values)


def _column(words: str, names: Sequence[str], key: str) -> str:
    if st.session_state.get(key) not in names:
        st.session_state[key] = names[0]
    return st.selectbox(words, names, **remembered(key))


def _chart(
    runs: Sequence[Series],
    colours: Palette,
    across: str,
    up: str,
    at: tuple[tuple[str, int], ...],
) -> Chart:
    facts = runs[0].facts
    result = facts.result
    picture = parts_picture(result.problem, result.release, across, up, slice_at=dict(at))
    return parts_chart(facts.result.problem, picture, facts.noun, colours)
