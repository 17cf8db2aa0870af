"""A decided recipe on another table: what it carries out, its gates, and what has drifted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from anon_core.base.errors import AnonError, BadInput
from anon_core.explain.text.recipe_words import asked, gates, reused
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.measure.drift import Drift, drift, read_figures
from ui.components.guard import show_error
from ui.state import earlier_figures
from ui.words.escaping import plain

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result
    from anon_core.recipe.plan import Plan

_KINDS = {"figure": "", "new": "new", "gone": "gone", "rarer": "rarer", "more": "grew"}


def before(plan: Plan) -> None:
    """Say what a decided recipe will do, and take the figures of the earlier run."""
    reuse = reused(plan)
    lines = [*reuse, *(f"Gate: {asked(gate)}." for gate in plan.accept)]
    if lines:
        st.info("\n".join(f"- {plain(line)}" for line in lines), icon=":material/replay:")
    if not reuse:
        return
    file = st.file_uploader(
        "Figures of the earlier run (what `run --json` wrote, or the figures on Export)",
        type=["json"],
        key="earlier-figures",
        help="It holds only published texts and figures. The new result is compared with it.",
    )
    if file is not None:
        try:
            figures = _read(file.getvalue())
            read_figures(figures)  # what is none is refused here, and not after the run
            earlier_figures.keep(file.name, figures)
        except AnonError as error:
            show_error(error, where=file.name)
            return
    title = earlier_figures.title()
    if title:
        st.caption(f"Compared with: {plain(title)}.")


def _read(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "The file is not JSON.", remedy="Choose the file that 'run --json' wrote."
        ) from error


def after(result: Result) -> None:
    """Draw the gates that a result passed, and what differs from the earlier run."""
    conditions = gates(result.plan, result)
    if conditions:
        st.markdown("**Gates**")
        lines = [
            f"- {':material/check:' if ok else ':material/close:'} {plain(asked_for)}; "
            f"reached: {'not measured' if figure is None else f'{figure:.4g}'}"
            for asked_for, figure, ok in conditions
        ]
        st.markdown("\n".join(lines))
    then = earlier_figures.last()
    if then is None:
        return
    try:
        found = drift(then, figures_of(result), result)
    except AnonError as error:
        show_error(error, where=earlier_figures.title())
        return
    st.markdown("**Since the earlier run**")
    rows = [
        {
            "what": _what(one),
            "then": _shown(one.then, one.kind),
            "now": _shown(one.now, one.kind),
        }
        for one in found
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        key="drift",
        column_config={
            "what": st.column_config.Column(width=150),
            "then": st.column_config.Column(width=72),
            "now": st.column_config.Column(width=72),
        },
    )
    new = sum(one.texts for one in found if one.kind == "new")
    rare = sum(one.texts for one in found if one.kind == "rarer")
    gone = sum(one.texts for one in found if one.kind == "gone")
    st.caption(
        f"Published texts: {new} new, {gone} gone, {rare} half as frequent or less. Figures with "
        "their values then and now."
    )


def _what(one: Drift) -> str:
    if not one.texts:
        return one.what
    return f"{one.what}: {one.text or f'{one.texts} other texts'} ({_KINDS[one.kind]})"


def _shown(value: float | None, kind: str) -> str:
    if value is None:
        return "–"
    if kind == "figure":
        return f"{value:,.0f}" if value == round(value) or value >= 10_000 else f"{value:.4g}"
    return f"{value:.1%}"
