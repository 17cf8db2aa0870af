"""The sweep behind the frontier: started in a thread, its points shown as they come, each a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan
from anon_core.pipeline.result import Result
from anon_core.pipeline.sweep import sweep as sweeping
from anon_core.pipeline.sweep.points import Point
from anon_core.pipeline.sweep.variations import Value, Variation
from ui.state import pinning, results, state
from ui.state.work import jobs, running

JOB = "sweep"
#: How the technique is named among what is varied.
TECHNIQUE = "algorithm"
_POINTS = "frontier/points"
_NEXT = "frontier/next"
_ERROR = "frontier/error"
_NOTE = "frontier/note"
_MADE_OF = "frontier/made_of"


def start(
    techniques: Sequence[str],
    path: str,
    values: Sequence[Value],
    settings: Mapping[str, Mapping[str, Any]],
) -> None:
    """Carry out the present plan for every technique and value; an error is kept for `error`.

    Parameters
    ----------
    techniques : sequence of str
    path : str
        The parameter that is varied; empty for none.
    values : sequence of value
    settings : mapping of str to mapping
        Parameters of techniques other than the plan's own.
    """
    st.session_state.pop(_ERROR, None)
    st.session_state[_NOTE] = ""
    found: list[Point] = []
    try:
        plan = state.plan()
        table, people = running.inputs(plan)
        released = running.earlier(plan)
        lists = [Variation(path=TECHNIQUE, values=tuple(techniques))]
        if path:
            lists.append(Variation(path=path, values=tuple(values)))
    except AnonError as error:
        st.session_state[_ERROR] = error
        return
    levels = {name: rows for name, rows in state.levels().items() if name in plan.hierarchies}
    over = sweeping.Varied(variations=tuple(lists), settings=dict(settings))
    st.session_state[_NEXT] = found
    st.session_state[_MADE_OF] = results.now()

    def work(context: Context) -> list[Point]:
        return sweeping.sweep(
            plan,
            over,
            table,
            levels,
            population=people,
            earlier=released,
            context=context,
            found=found.append,
        )

    jobs.start(JOB, "Sweep", work, page="pages/6_Compare.py", needs=tuple(techniques))


def settle() -> None:
    """Take over what an ended sweep found; one that was stopped keeps the points it came to."""
    job = jobs.collect(JOB)
    if job is None:
        return
    found = cast(list[Point], list(st.session_state.pop(_NEXT, [])))
    if job.state == "failed":
        st.session_state[_ERROR] = job.error
    if job.state == "cancelled":
        many = "1 point" if len(found) == 1 else f"{len(found)} points"
        st.session_state[_NOTE] = f"The sweep was stopped; it had come to {many}."
    if found or job.state == "done":
        st.session_state[_POINTS] = found


def is_running() -> bool:
    """Say whether a sweep is under way."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def points() -> list[Point]:
    """Return the points of the sweep that is under way, or of the last one."""
    kept = st.session_state.get(_NEXT) or st.session_state.get(_POINTS) or []
    return cast(list[Point], list(kept))


def error() -> AnonError | None:
    """Return what stopped the last sweep, until the next one starts."""
    return st.session_state.get(_ERROR)


def note() -> str:
    """Return what is to be said of the last sweep."""
    return str(st.session_state.get(_NOTE, ""))


def take(point: Point) -> Result | None:
    """Choose what a point was made of, and make its run the result; None where it was not kept.

    Roles and hierarchies are those the sweep began with, so that the choices fit the result.

    Raises
    ------
    BadPlan
        If the point has no release, or another table is loaded.
    """
    made_of = cast(results.MadeOf | None, st.session_state.get(_MADE_OF))
    if point.plan is None or made_of is None or not _same_table(point):
        raise BadPlan(
            "This point is of another table, or has no release.",
            remedy="Sweep again on the table that is loaded.",
        )
    state.set_choices(made_of["choices"])
    recipe = point.plan.as_mapping()
    state.update_draft(algorithm=recipe["algorithm"], models=recipe["models"])
    if point.result is not None:
        results.keep(point.result)
    return point.result


def pin(point: Point) -> None:
    """Keep a point's run for comparison.

    Raises
    ------
    AnonError
        If its run was not kept, or all letters are taken.
    """
    if point.result is None:
        raise BadPlan(
            "This run was not stored: the sweep has too many points.",
            remedy="Open it to run its settings again.",
        )
    if not any(p.result is point.result for p in pinning.pins()):
        made_of = cast(results.MadeOf | None, st.session_state.get(_MADE_OF))
        pinning.pin(point.result, None if made_of is None else made_of["choices"])


def _same_table(point: Point) -> bool:
    table = state.dataset()
    if table is None or point.result is None:
        return table is not None
    return set(point.result.problem.dataset.names) <= set(table.names)
