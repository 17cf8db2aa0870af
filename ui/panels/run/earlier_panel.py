"""An earlier release laid next to the last result: loaded here, and attacked together with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.pipeline.measure.extra_attacks import against_earlier
from anon_core.recipe.earlier_release import EarlierFile
from anon_core.release.attack_result import AttackResult
from ui.charts.attack_plots import name_of
from ui.charts.chart_frame import Palette, Series
from ui.components.guard import handled, show_error
from ui.forms import earlier_form
from ui.panels.results.drawers import details_panel
from ui.state import population_tables, results, state
from ui.state.work import jobs
from ui.state.work.on_request import ATTACKING
from ui.words.escaping import plain, what_is_this

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result


def draw(run: Series, colours: Palette) -> None:
    """Draw the choice of an earlier release, and what both tell together."""
    result = run.facts.result
    failed = ATTACKING.error()
    if failed is not None:
        show_error(failed)
    jobs.watch(ATTACKING.job)
    st.caption(
        "Two releases can each satisfy a privacy model and break it together. Load an "
        "earlier release of the same people to see the values and rows that only both "
        "reveal."
    )
    chosen = earlier_form.earlier({"earlier": result.plan.earlier.as_mapping()}, where="results")
    st.button(
        "Compare it with this release",
        key="compare-earlier",
        type="primary",
        disabled=not chosen or ATTACKING.is_running(),
        on_click=handled("Two releases")(_begin),
        args=(result, chosen),
    )
    if chosen and chosen != result.plan.earlier.as_mapping():
        st.caption("Not in the figures yet: run again.")
    known = cast(dict[str, type[Attack]], family("attack"))
    for attack in run.facts.attacks:
        if known[attack.attack].needs.earlier:
            _one(run, colours, attack, known[attack.attack])


def _one(run: Series, colours: Palette, attack: AttackResult, kind: type[Attack]) -> None:
    with st.container(gap=None):
        st.markdown(f"**{plain(name_of(attack))}** – {plain(attack.sentence)}")
        what_is_this(kind)
    details_panel.draw(run, colours, attack.details, f"earlier-{attack.attack}-{attack.column}")


def _begin(result: Result, chosen: Mapping[str, Any]) -> None:
    file = EarlierFile.from_mapping(chosen)
    held = population_tables.find(file.file)
    if held is None:
        return
    current = results.is_current()
    state.update_draft(earlier=dict(chosen))
    if current:  # the result takes it in, so nothing has to be run again
        st.session_state[state.MADE_OF] = results.now()
    ATTACKING.start(
        result,
        "Two releases",
        lambda context: against_earlier(result, file, held.table, context),
    )
