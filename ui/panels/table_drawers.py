"""Below a protected table: methods side by side, an earlier table, and a box that is queried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from anon_core.data.table import Dataset
from anon_core.tables.publication import Side
from anon_core.tables.recipe import METHODS, Method
from anon_core.tables.suppressed import Judged
from anon_core.tables.system import shown
from ui.components.guard import handled, show_error
from ui.forms.table_form import COUNT, Chosen, methods_for
from ui.state import table_work
from ui.state.kept_fields import last_number, remembered
from ui.state.work import jobs
from ui.words.escaping import plain

PANEL = "Tables"


def draw(data: Dataset, judged: Judged, chosen: Chosen) -> None:
    """Draw the drawers."""
    with st.expander("Protections side by side", icon=":material/compare_arrows:"):
        _compare(data, judged, chosen)
    with st.expander("With an earlier table", icon=":material/difference:"):
        _with_earlier(data, judged, chosen)
    with st.expander("A query box, and how it breaks", icon=":material/quiz:"):
        _box(data)


def _compare(data: Dataset, judged: Judged, chosen: Chosen) -> None:
    offered = methods_for(chosen.recipe.layout.value)
    methods = st.multiselect(
        "Methods",
        offered,
        default=offered,
        format_func=lambda m: METHODS[m],
        **remembered(f"tables/sides/{bool(chosen.recipe.layout.value)}"),
        help="Each method protects this table with the settings of the form.",
    )
    st.button(
        "Compare",
        key="tables/compare",
        icon=":material/compare_arrows:",
        disabled=not methods,
        on_click=_begin,
        args=(data, judged, chosen, methods),
    )
    jobs.watch(table_work.COMPARE)
    if (error := table_work.error(table_work.COMPARE, data, chosen.recipe)) is not None:
        show_error(error)
    found = table_work.compared(data, chosen.recipe, methods)
    if found is None:
        return
    st.dataframe(
        pd.DataFrame([_line(one, len(judged.findings)) for one in found]),
        hide_index=True,
        key="tables/sides-table",
    )
    for one in found:
        if one.error is not None:
            st.caption(f"{METHODS[one.method]}: {plain(one.error.message)}")
    st.caption(
        "Lost: suppressed values and changes, as a share of all values. Too close: sensitive cells "
        "that a reader who knows the method proves more closely than their level. Who knows how "
        "cells were chosen may learn more."
    )


def _line(one: Side, sensitive: int) -> dict[str, Any]:
    if one.error is not None:
        return {"method": METHODS[one.method], "too close": "no safe table"}
    close = "not worked out"
    if one.close is not None:
        close = f"{one.close:,} of {one.audited:,}"
        if one.audited != sensitive:
            close += f" audited in time, {sensitive:,} in all"
    return {
        "method": METHODS[one.method],
        "suppressed": one.hidden,
        "changed": one.changed,
        "lost": "" if one.loss is None else f"{float(one.loss):.2%}",
        "totals add up": "yes" if one.additive else "no",
        "too close": close,
        "narrowest interval": "" if one.narrowest is None else shown(one.narrowest),
        "recomputed": f"{one.recomputed} check{'s' * (one.recomputed > 1)}"
        if one.recomputed
        else "no",
        "seconds": f"{one.seconds:.1f}",
    }


@handled(PANEL)
def _begin(data: Dataset, judged: Judged, chosen: Chosen, methods: Sequence[Method]) -> None:
    table_work.compare(data, judged, chosen.levels, methods)


def _with_earlier(data: Dataset, judged: Judged, chosen: Chosen) -> None:
    finished = table_work.finished(data, chosen.recipe)
    out = finished is not None and finished.published.pattern is not None
    st.markdown(
        "Tables that are safe alone can reveal more together: the difference between a "
        "cell of one and a cell of the other is as good as published."
    )
    with st.container(horizontal=True):
        st.button(
            "This table is published",
            key="tables/out",
            disabled=not out,
            help="Protect it by suppression first. Later tables are then checked with it.",
            on_click=handled(PANEL)(table_work.put_out),
            args=(finished, chosen.levels),
        )
        earlier = table_work.earlier()
        if earlier is None:
            return
        st.button("Forget it", key="tables/forget", on_click=handled(PANEL)(table_work.forget))
    columns = ", ".join(plain(name) for name in earlier.judged.recipe.layout.columns)
    st.markdown(
        f"Published: **{columns}**, {len(earlier.judged.table.values):,} cells, "
        f"{len(earlier.suppressed):,} of them suppressed."
    )
    if earlier.judged.recipe.layout == judged.recipe.layout:
        st.caption("Choose other columns or levels to look at another table with it.")
        return
    both = table_work.together(earlier, judged)
    hidden = frozenset[int]()
    if finished is not None:
        hidden = finished.published.suppressed
    rests = both.rests(hidden)
    reasoned = [one for one in rests if one.reason]
    st.markdown(
        "Subtracting printed cells of one table from those of the other gives "
        f"{len(rests):,} differences; **{len(reasoned):,}** of them are sensitive."
    )
    if reasoned:
        frame = pd.DataFrame(
            {
                "cell": [one.larger for one in reasoned],
                "less": [one.smaller for one in reasoned],
                "leaves": [judged.table.text(one.value) for one in reasoned],
                "why": [one.reason for one in reasoned],
            }
        )
        st.dataframe(frame, hide_index=True, height=min(280, 38 + 35 * len(reasoned)))
    st.button(
        "Protect this table together with it",
        key="tables/together",
        type="primary",
        icon=":material/shield:",
        on_click=_protect_together,
        args=(data, judged, chosen),
    )


@handled(PANEL)
def _protect_together(data: Dataset, judged: Judged, chosen: Chosen) -> None:
    table_work.start(data, judged, chosen.levels, together=True)


def _box(data: Dataset) -> None:
    """Draw a query box with a minimum set size, what it answers, and the tracker that breaks it."""
    st.markdown(
        "The box answers counts and sums over sets that are neither small nor large. "
        "Ask about a person: A, and B if you like. A tracker then finds what the box "
        "refuses to answer."
    )
    numbers = [
        c.name
        for c in data.columns
        if c.kind == "number"
        and not c.missing
        and all(text.strip().isdecimal() for text in c.values)
    ]
    left, middle, right = st.columns(3)
    least = left.number_input(
        "Records at least",
        2,
        1_000,
        last_number("tables/box/least", 5),
        **remembered("tables/box/least"),
    )
    value = middle.selectbox(
        "Asked for", [COUNT, *numbers], **remembered("tables/box/value"),
        format_func=lambda name: name if name == COUNT else f"Sum of {name}",
    )  # fmt: skip
    audits = right.toggle(
        "Audit answers", **remembered("tables/box/audits"),
        help="Refuses a query whose answer would single a record out, with all answers before.",
    )  # fmt: skip
    name = data.names[0]
    first = st.text_input("A", **remembered("tables/box/a"), placeholder=f"\"{name}\" = '…'")
    second = st.text_input(
        "and B", **remembered("tables/box/b"), placeholder="empty, or another condition"
    )
    if not first.strip():
        return
    summed = "" if value == COUNT else value
    found = table_work.asked(data, least, summed, audits, first, second)
    if found.answer is not None:
        st.success(f"Answered: {shown(found.answer)}.", icon=":material/check:")
        return
    st.error(plain(found.refused), icon=":material/block:")
    tried = found.attempt
    if tried is None:
        st.info(
            "No tracker is known for this size; other combinations may still work. Only an "
            "audit of all answers, or noise with a budget, protects.",
            icon=":material/info:",
        )
        return
    st.markdown(
        f"**{tried.kind}** · "
        + " · ".join(f"{letter}: {plain(words)}" for letter, words in tried.legend.items())
    )
    st.dataframe(
        pd.DataFrame(
            {
                "step": range(1, len(tried.steps) + 1),
                "asked": [step.words for step in tried.steps],
                "answer": [
                    "refused" if step.answer is None else shown(step.answer) for step in tried.steps
                ],
            }
        ),
        hide_index=True,
        key="tables/box/steps",
    )
    if tried.answer is None:
        st.success("The audit stops the tracker.", icon=":material/check:")
    else:
        st.warning(
            f"So the refused answer is **{shown(tried.answer)}**.", icon=":material/lock_open:"
        )
    st.caption("A refusal reveals something, too: the set is small, or it is large.")
