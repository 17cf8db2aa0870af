"""Questions that arise on a result, each answered by one computed sentence and its figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from anon_core.explain.answers import Answer
from anon_core.explain.answers.choice_of_k import plan_threshold, sizes_of, which_k
from anon_core.explain.answers.differences import what_changed
from anon_core.explain.answers.hidden_column import hidden_column, hidden_columns
from anon_core.explain.answers.known_columns import known_columns
from anon_core.explain.answers.larger_classes import larger_than_asked
from anon_core.explain.answers.optimality import is_optimal
from anon_core.explain.answers.person import about_person, values_of
from anon_core.explain.answers.suppressed_row import suppressed_row, suppressed_rows
from anon_core.pipeline.result import Result
from anon_core.release.outcome import figure
from ui.charts.chart_frame import palette, show, table
from ui.charts.details_plot import k_chart
from ui.components.guard import panel
from ui.state import results, selection, state
from ui.state.kept_fields import remembered
from ui.state.result_view import shown
from ui.words.escaping import plain

#: Suppressed rows that are offered by their number; further ones are typed.
_OFFERED = 1000
_ROW, _VALUES = "A row of the table", "A person typed in"


def draw(result: Result) -> None:
    """Draw the questions that this result raises, and the answer to the one that is chosen."""
    asked = _questions(result)
    with st.container(border=True, key="questions-panel"):
        question = st.pills(
            "Questions",
            list(asked),
            **remembered("question"),
            wrap=True,
            label_visibility="collapsed",
        )
        if question is None:
            st.caption("Choose one: it is answered with figures computed for it.")
            return
        with panel(question):
            asked[question]()


def _questions(result: Result) -> dict[str, Callable[[], None]]:
    """Return the questions that have an answer here, with what draws it."""
    found: dict[str, Callable[[], None]] = {}
    smallest = int(result.class_sizes.min()) if len(result.class_sizes) else 0
    asked = max((m.size_asked for m in result.plan.models), default=0)
    if asked and smallest > asked:
        name = f"Why {smallest:,} when I asked for {asked:,}?"
        found[name] = partial(_plain, "larger", result, lambda: larger_than_asked(result))
    found["Which k?"] = lambda: _which_k(result)
    if result.release.suppressed:
        found["Why is this row suppressed?"] = lambda: _suppressed(result)
    if hidden_columns(result):
        found["Why is this column *?"] = lambda: _hidden(result)
    before = results.before()
    if before is not None:
        found["What changed since the last run?"] = partial(
            _plain, "changed", (result, before), lambda: what_changed(before, result)
        )
    found["Is this optimal?"] = lambda: _answer(is_optimal(result), "is-it-optimal")
    if result.problem.quasi:
        found["What does someone learn who knows some columns?"] = lambda: _known(result)
        found["What is revealed about one person?"] = lambda: _person(result)
    return found


def _plain(name: str, of: object, make: Callable[[], Answer]) -> None:
    _answer(_once(name, of, make), name)


def _once(name: str, of: object, make: Callable[[], Answer]) -> Answer:
    """Return an answer, computed once for what it is about."""
    with st.spinner("Computing the answer"):
        return state.once(f"answer-{name}", of, make)


def _answer(answer: Answer, key: str) -> None:
    """Draw an answer: its sentence, its figures, what it leans on."""
    st.markdown(plain(answer.sentence))
    if answer.rows:
        import pandas as pd

        names = [str(name) for name in dict(answer.rows[0])]
        parts = [name for name in names if "share" in name or "chance" in name]
        figures = [
            name
            for name in names
            if name not in parts and any(isinstance(row.get(name), float) for row in answer.rows)
        ]
        # One form does not suit both the rows and the shares of a column of figures.
        frame = pd.DataFrame(
            [{n: _figure(v) if n in figures else v for n, v in row.items()} for row in answer.rows]
        )
        table(frame, key=f"answer-{key}", formats=dict.fromkeys(parts, "percent"), right=figures)
    if answer.note:
        st.caption(plain(answer.note))


def _figure(value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    return None if math.isnan(value) else figure(value)


def _which_k(result: Result) -> None:
    threshold = st.number_input(
        "Acceptable chance",
        min_value=0.0001,
        max_value=1.0,
        value=min(max(plan_threshold(result.plan), 0.0001), 1.0),
        step=0.01,
        format="%g",
        **remembered("which-k-threshold"),
        width=200,
    )
    answer = which_k(result, float(threshold))
    st.markdown(plain(answer.sentence))
    show(k_chart(sizes_of(result, float(threshold)), palette()), key="which-k")
    if answer.note:
        st.caption(plain(answer.note))


def _suppressed(result: Result) -> None:
    rows = state.once("suppressed-rows", result, lambda: suppressed_rows(result).tolist())
    if len(rows) <= _OFFERED:
        row = st.selectbox(
            "Row of the table",
            rows,
            format_func=lambda r: f"row {r + 1:,}",
            **remembered("suppressed-row"),
        )
    else:
        row = _row_number(result, "suppressed-number", rows[0])
    with st.container():
        values = ", ".join(
            f"{plain(n)} {plain(shown(v))}" for n, v in values_of(result, row).items()
        )
        st.caption(values)
    _answer(
        _once("suppressed", (result, row), lambda: suppressed_row(result, int(row))), "suppressed"
    )


def _hidden(result: Result) -> None:
    names = list(hidden_columns(result))
    column = names[0]
    if len(names) > 1:
        column = st.selectbox("Column", names, **remembered("hidden-column"))
    _answer(_once("hidden", (result, column), lambda: hidden_column(result, column)), "hidden")


def _known(result: Result) -> None:
    quasi, secret = list(result.problem.quasi), list(result.audience.secret)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        columns = st.multiselect(
            "Columns that are known", quasi, default=quasi[:2], **remembered("known")
        )
        sensitive = ""
        if secret:
            sensitive = st.selectbox(
                "What is asked for", secret, **remembered("known-sensitive"), width=240
            )
    if not columns:
        st.caption("Choose at least one column.")
        return
    of = (result, tuple(columns), sensitive)
    _answer(_once("known", of, lambda: known_columns(result, columns, sensitive)), "known")
    st.caption("Computed for every person in the table, using that person's exact values.")


def _person(result: Result) -> None:
    way = st.segmented_control(
        "Who", [_ROW, _VALUES], default=_ROW, required=True, **remembered("person-way")
    )
    quasi = list(result.problem.quasi)
    if way == _ROW:
        first = selection.row_of(result) or 0
        with st.container(horizontal=True, vertical_alignment="bottom"):
            row = _row_number(result, f"person-row-{selection.turn()}", first)
            columns = st.multiselect(
                "Columns that are known of them", quasi, default=quasi, **remembered("person-known")
            )
        values = values_of(result, row)
        known = {name: values[name] for name in quasi if name in columns}
        if not known:
            st.caption("Choose at least one column.")
            return
        st.caption(", ".join(f"{plain(n)} {plain(shown(v))}" for n, v in known.items()))
        of: tuple[object, ...] = (result, row, tuple(known))
        _answer(_once("person", of, lambda: about_person(result, known, row)), "person")
        return
    known = {}
    for name in st.multiselect("Columns", quasi, default=quasi[:1], **remembered("person-columns")):
        leaves = result.problem.hierarchies[name].leaves
        known[name] = st.selectbox(
            plain(name),
            leaves,
            format_func=shown,
            accept_new_options=True,
            **remembered(f"person-value-{name}"),
            width=300,
            help="To ask about a value that is not in the table, type it and press Enter.",
        )
    if known:
        of = (result, tuple(known.items()))
        _answer(_once("person", of, lambda: about_person(result, known)), "person")


def _row_number(result: Result, key: str, first: int) -> int:
    """Draw the choice of a row by its number, from 1; return it counted from 0."""
    number = st.number_input(
        "Row of the table",
        min_value=1,
        max_value=max(result.problem.rows, 1),
        value=first + 1,
        step=1,
        **remembered(key),
        width=200,
        help="In the table as it was searched: after rows with missing values were dropped and a "
        "sample was drawn, where that was asked for.",
    )
    return int(number) - 1
