"""What the privacy models cost on this table, before the run: all together, and without each."""

from __future__ import annotations

from typing import cast

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.explain.text.phrases import rows, share
from anon_core.recipe.plan import Plan
from ui.components.guard import handled, show_error
from ui.state import results, state
from ui.state.work import jobs, model_cost, running
from ui.state.work.model_cost import Cost
from ui.words.escaping import plain

PANEL = "What it costs"
_FOUND = "cost_panel/found"
_MADE_OF = "cost_panel/made_of"


def draw(*, ready: bool) -> None:
    """Draw the button, the work while it lasts, and what was found for the present choices."""
    _settle()
    busy = running.is_running() or jobs.current(model_cost.JOB) is not None
    st.button(
        "What would it cost?",
        key="cost",
        disabled=not ready or busy,
        help="Runs these settings with all privacy models, then without each of them. "
        "Nothing is released or kept.",
        on_click=_begin,
        width="stretch",
    )
    jobs.watch(model_cost.JOB)
    kept = cast(tuple[object, tuple[Cost, ...]] | None, st.session_state.get(_FOUND))
    if kept is not None and kept[0] == results.now():
        for cost in kept[1]:
            _line(cost, kept[1][0])


def _line(cost: Cost, every: Cost) -> None:
    name = f"Without {plain(cost.without)}" if cost.without else "**With all privacy models**"
    if cost.why:
        st.markdown(f"- {name}: no release. {plain(cost.why)}")
        return
    parts = [
        f"{rows(cost.removed)} suppressed",
        f"{cost.classes:,} class{'' if cost.classes == 1 else 'es'}",
    ]
    if cost.loss is not None:
        less = ""
        if cost.without and every.loss is not None:
            saved = every.loss - cost.loss
            less = f" ({share(abs(saved))} {'less' if saved > 0 else 'more'})" if saved else ""
            less = less or " (the same)"
        parts.insert(0, f"{share(cost.loss)} of the detail lost{less}")
    st.markdown(f"- {name}: {', '.join(parts)}.")


@handled(PANEL)
def _begin() -> None:
    plan: Plan = state.plan()
    table, people = running.inputs(plan)
    levels = {n: lines for n, lines in state.levels().items() if n in plan.hierarchies}
    st.session_state[_MADE_OF] = results.now()
    jobs.start(
        model_cost.JOB,
        "Trying the privacy models",
        model_cost.costs(plan, table, levels, people, running.earlier(plan)),
        page="pages/4_Run.py",
        needs=(plan.algorithm.name,),
    )


def _settle() -> None:
    """Take what the work came to, once."""
    job = jobs.collect(model_cost.JOB)
    if job is None:
        return
    if job.state == "done":
        st.session_state[_FOUND] = (st.session_state.get(_MADE_OF), job.value)
    elif isinstance(job.error, AnonError):
        show_error(job.error, where=PANEL)
