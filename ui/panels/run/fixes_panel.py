"""What an error on Run is mended with: a change of the plan in one click, or the page for it."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from anon_core.base.errors import (
    AnonError,
    BadHierarchy,
    BadInput,
    BadPlan,
    Infeasible,
    InputChanged,
    NotFound,
)
from anon_core.explain.advice.fixes import Change, changes
from anon_core.explain.text.plan_words import not_defined
from anon_core.recipe.plan import Plan
from ui.components.guard import handled
from ui.state import state
from ui.state.work import running, what_if
from ui.state.work.advice_trials import is_sampled, tried_on
from ui.words.escaping import plain

#: As many as are offered.
_MOST = 3
#: Kind of an error → the page where it is mended, and what is done there.
_PAGES: tuple[tuple[tuple[type[AnonError], ...], str, str], ...] = (
    ((BadHierarchy, InputChanged), "pages/3_Hierarchies.py", "Mend the hierarchy"),
    ((BadInput,), "pages/1_Data.py", "Look at the data"),
)


def of_plan(error: AnonError | None = None) -> None:
    """Offer changes after which the present choices make a plan that can be carried out."""
    found = making_a_plan(error, keeps_technique=True)
    _draw(found, key="plan")
    _page(error, found)


def making_a_plan(
    error: AnonError | None = None, *, keeps_technique: bool = False
) -> tuple[Change, ...]:
    """Return changes after which the present choices make a plan that can be carried out.

    Parameters
    ----------
    error : AnonError, optional
        What they were refused with.
    keeps_technique : bool
        Whether changes of the technique come last: it is what someone has just chosen.
    """
    of = (state.fingerprint(), str(error), keeps_technique)
    return state.once("fixes/plan", of, lambda: tuple(_makes_a_plan(error, keeps_technique)))


def of_run(error: AnonError) -> None:
    """Offer the changes that released something when they were tried after the run was refused."""
    found = running.helps()
    _draw(found, key="run")
    if found:
        each = "It was" if len(found) == 1 else "Each of these was"
        st.caption(
            f"{each} tried on {tried_on()}, and releases something{' there' * is_sampled()}."
        )
        for change in found:
            if change.about == "size" and change.note:  # the refusal may name another bound
                st.caption(plain(f"{change.label}: {change.note[:1].lower()}{change.note[1:]}"))
    _page(error, found)


def _makes_a_plan(error: AnonError | None, keeps_technique: bool) -> Iterable[Change]:
    recipe = state.recipe()
    found: list[Change] = []
    offered: Iterable[Change] = changes(recipe, error)
    if keeps_technique:
        offered = sorted(offered, key=lambda change: "algorithm" in change.tables)
    for change in offered:
        try:
            plan = Plan.from_mapping({**recipe, **change.tables})
        except AnonError:
            continue
        if not not_defined(plan):
            found.append(change)
        if len(found) == _MOST:
            break
    return found


def _draw(found: Iterable[Change], *, key: str) -> None:
    with st.container(horizontal=True):
        for place, change in enumerate(found):
            st.button(
                plain(change.label),
                key=f"fix-{key}-{place}",
                icon=":material/build:",
                on_click=handled("The run")(what_if.mend),
                args=(change,),
                help=f"{change.note} Changes the plan; Undo takes it back. Then run.".strip(),
            )


def _page(error: AnonError | None, found: Iterable[Change]) -> None:
    if isinstance(error, Infeasible | NotFound) and not tuple(found):
        st.caption("No single change that was tried releases something. Ask for less, or:")
        st.page_link(
            "pages/3_Hierarchies.py",
            label="Give columns a hierarchy",
            icon=":material/arrow_forward:",
        )
        return
    for kinds, page, label in _PAGES:
        if isinstance(error, kinds):
            st.page_link(page, label=label, icon=":material/arrow_forward:")
            return
    if isinstance(error, BadPlan) and not tuple(found):
        st.page_link("pages/2_Roles.py", label="Look at the roles", icon=":material/arrow_forward:")
