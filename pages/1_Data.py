"""Data: what the table holds, column by column, and how it was read."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError, BadInput
from anon_core.data.profile import ColumnProfile, profile, rows_missing
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.explain.text.phrases import rows, share
from ui.charts import column_distribution
from ui.components.clicks import clicked
from ui.components.downloads import download, later
from ui.components.guard import handled, panel, show_error
from ui.forms import read_options
from ui.forms.row_filter_form import asks_of_total, row_filter_form
from ui.panels import notation_panel, page_frame
from ui.state import loading, state
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: Rows that the preview holds next to the table.
_MOST_SHOWN = 100_000
#: Rows that the literature draws for its private table.
_BENCHMARK = 2000


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Data", "🔎", needs="dataset"):
        return
    try:
        data = state.typed_dataset()
    except BadInput as error:
        show_error(error, where="A column cannot be read as its type")
        page_frame.undo_button(key="data/undo")
        return
    if data is None:
        return
    for note in data.notes:
        st.info(plain(note), icon=":material/info:")
    with panel("A row of totals"):
        asks_of_total(data)
    found = state.once("profile", data.fingerprint, lambda: profile(data))
    if notation_panel.questions(data):
        st.header("To decide", anchor=False)
        with panel("How columns are written"):
            notation_panel.draw(data)
    st.header("Columns", anchor=False)
    with panel("Columns"):
        _columns(found)
    with st.container(key="stack-column"):
        left, right = st.columns([3, 2], gap="large")
    with left:
        name = _choose(found)
        with panel("One column"):
            column_distribution.draw(data, name)
    with right:
        st.header(
            "Type",
            anchor=False,
            help="Numbers and dates form intervals. Ordered text, such as ZIP codes, forms ranges "
            "too; text forms sets.",
        )
        with panel("Type"):
            _kind(data, name)
        st.header(
            "Missing values",
            anchor=False,
            help="Rows with a missing value in a quasi-identifier or sensitive column. If you keep "
            "them, missing is a value of its own.",
        )
        with panel("Missing values"):
            _missing(data)
        with panel("Condition on rows"):
            row_filter_form(data)
        st.header("Sample", anchor=False)
        with panel("Sample"):
            _sample(data)
    st.header("Rows", anchor=False)
    with panel("Rows"):
        _rows(data)
    download(
        "Download (CSV, internal)",
        later(loading.table_csv, data),
        file="table.csv",
        mime="text/csv",
        icon=":material/download:",
        help="The private table as imported. Exported recipes and scripts read this file, or the "
        "original if they set date or decimal formats. Store it as securely as the original.",
        key="data/download",
    )
    with panel("How the file is read"):
        _reading()
    page_frame.next_step("pages/2_Roles.py", "Mark the columns")


def _columns(found: tuple[ColumnProfile, ...]) -> None:
    shown: dict[str, list[object]] = {
        "Column": [one.name for one in found],
        "Type": [KINDS[one.kind].title for one in found],
        "Distinct": [one.distinct for one in found],
        "Missing": [one.missing for one in found],
        "Most frequent": [one.top for one in found],
        "Its share": [one.top_share * 100 for one in found],
        "Unique values": [one.once_share * 100 for one in found],
    }
    if any(one.notes for one in found):
        shown["Notes"] = [" ".join(one.notes) for one in found]
    st.dataframe(
        shown,
        hide_index=True,
        height="content" if len(found) <= 16 else 600,
        column_config={
            "Type": st.column_config.TextColumn(width=110),
            "Distinct": st.column_config.NumberColumn(
                format="localized", help="Distinct values, excluding missing."
            ),
            "Missing": st.column_config.NumberColumn(
                format="localized", help="Rows without a value."
            ),
            "Most frequent": st.column_config.TextColumn(width=170),
            "Its share": st.column_config.NumberColumn(
                format="%.1f%%", help="Share of rows that have the most frequent value."
            ),
            "Unique values": st.column_config.ProgressColumn(
                format="%.1f%%",
                min_value=0,
                max_value=100,
                help="Share of rows with a unique value. Anyone who knows it can find the row.",
            ),
            "Notes": st.column_config.TextColumn(width="large"),
        },
    )


def _choose(found: tuple[ColumnProfile, ...]) -> str:
    st.header("One column", anchor=False)
    return st.selectbox(
        "Column",
        [one.name for one in found],
        **remembered("data/column"),
        label_visibility="collapsed",
    )


def _kind(data: Dataset, name: str) -> None:
    error: AnonError | None = st.session_state.pop("data/kind_error", None)
    present = data.column(name).kind
    key = f"data/kind/{name}"
    st.session_state[key] = present
    st.selectbox(
        f"Type of {plain(name)}",
        list(KINDS),
        format_func=lambda kind: KINDS[kind].title,
        key=key,
        on_change=_set_kind,
        args=(name, key),
        label_visibility="collapsed",
    )
    for note in data.column(name).notes:  # the table of columns cuts them off
        st.caption(plain(note))
    if error is not None:
        show_error(error, where="The type stays as it was")
    page_frame.undo_button(key="data/undo")


def _rows(data: Dataset) -> None:
    first = min(data.rows, _MOST_SHOWN)
    st.dataframe(
        state.once("frame", data.fingerprint, lambda: data.frame(first)),
        lazy=True,
        hide_index=True,
        height=320,
        placeholder="(missing)",
    )
    if first < data.rows:
        st.caption(f"The first {first:,} of {data.rows:,} rows.")


@handled("Type")
def _set_kind(name: str, key: str) -> None:
    kind: ColumnKind = st.session_state[key]
    try:
        loading.set_kind(name, kind)
    except BadInput as error:
        st.session_state["data/kind_error"] = error


def _missing(data: Dataset) -> None:
    roles = state.roles()
    named = (*roles.quasi, *roles.sensitive)
    count = rows_missing(data, named)
    if not named:
        many = rows_missing(data, data.names)
        some = f"{rows(many)} {'misses' if many == 1 else 'miss'} a value in some column."
        st.caption(
            f"{some if many else 'No value is missing.'} Only columns with a role count here; "
            "mark them on Roles."
        )
        return
    st.session_state["data/missing"] = state.draft()["data"].get("missing", "keep")
    st.radio(
        "Rows with a missing value in a quasi-identifier or sensitive column",
        ("keep", "drop"),
        format_func=lambda choice: (
            f"keep {data.rows:,} rows"
            if choice == "keep"
            else f"drop {count:,} ({share(count / data.rows)})"
        ),
        key="data/missing",
        on_change=_set_missing,
        disabled=count == 0 or bool(state.draft()["data"].get("benchmark")),
        label_visibility="collapsed",
    )
    if count == 0:
        st.caption("These columns have no missing values.")


@handled("Missing values")
def _set_missing() -> None:
    reading = state.draft()["data"] | {"missing": st.session_state["data/missing"]}
    state.update_draft(data=reading)


def _sample(data: Dataset) -> None:
    drawn = float(state.draft()["data"].get("sample", 1.0))
    st.session_state["data/sample"] = drawn * 100
    st.number_input(
        "Share (%)",
        min_value=0.01,
        max_value=100.0,
        step=2.5,
        format="%g",
        key="data/sample",
        on_change=_set_sample,
        disabled=bool(state.draft()["data"].get("benchmark")),
        help="Draws rows at random, after rows with missing values are dropped. Outsiders do not "
        "know who is in the sample, so their risk is computed over the whole table. "
        "100 publishes all rows.",
    )
    if drawn < 1:
        st.caption(f"At most {int(drawn * data.rows + 1e-9):,} of {data.rows:,} rows are drawn.")
    number = int(state.draft()["data"].get("benchmark", 0))
    if number:
        st.caption(
            f"Benchmark: {number:,} of the complete rows are private, all complete rows public."
        )
    st.button(
        "Publish all rows" if number else f"Benchmark: {_BENCHMARK:,} rows",
        key="data/benchmark",
        disabled=not number and data.rows <= _BENCHMARK,
        on_click=_set_benchmark,
        args=(0 if number else _BENCHMARK,),
        help="As in the literature's experiments: rows with missing values are dropped, "
        "attackers know all remaining rows, and a random subset is published.",
    )


@handled("Sample")
def _set_benchmark(number: int) -> None:
    reading = state.draft()["data"] | {"sample": 1.0, "benchmark": number}
    if number:
        reading["missing"] = "drop"
    state.update_draft(data=reading)


@handled("Sample")
def _set_sample() -> None:
    share_drawn = round(float(st.session_state["data/sample"]) / 100, 6)
    state.update_draft(data=state.draft()["data"] | {"sample": share_drawn})


def _reading() -> None:
    if state.sample_name():
        return
    with st.expander("How the file is read"):
        content = state.file()
        if content is None:
            st.write(
                "The file was too large to keep. To read it with other options, load it again on "
                "Start."
            )
            return
        file = loading.Opened(name=state.dataset_title(), content=content)
        wanted = read_options.reading_form(
            f"data/{state.dataset_title()}", state.draft()["data"], file
        )()
        if wanted is None:
            return
        if clicked("Read the file again", icon=":material/refresh:", key="data/read_again"):
            try:
                loading.read_again(wanted)
            except AnonError as error:
                show_error(error, where="The table stays as it was read")
                return
            st.rerun()


main()
