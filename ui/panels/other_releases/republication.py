"""A table that is published again, with m-invariance."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.data.reading.any_format import read_table
from anon_core.data.table import Dataset
from anon_core.methods.bucketized.m_invariance import Kept, Published, Republication
from ui.components.downloads import download
from ui.components.guard import handled
from ui.panels.other_releases import TABLES
from ui.state import state
from ui.state.kept_fields import last_number, remembered

_STATE, _LAST = "other/state", "other/last"
_MONTHS = {
    "First month": "id,age,ill\np1,30,flu\np2,31,asthma\np3,50,flu\np4,52,gastritis\n",
    "Second month": "id,age,ill\np1,30,flu\np3,50,flu\np4,52,gastritis\np5,33,asthma\n"
    "p6,60,asthma\np7,61,flu\np8,35,gastritis\n",
}


def draw() -> None:
    """Draw the tab."""
    with st.container(key="form-republication"):
        form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it if persons come and go and sensitive values stay the same. Never use "
            "it if they change."
        )
        file = st.file_uploader("The table as it is now", type=TABLES, key="other/now")
        content, name = (file.getvalue(), file.name) if file else (b"", "")
        if not file:
            name = st.radio("Example", list(_MONTHS), **remembered("other/month"))
            content = _MONTHS[name].encode()
        table = state.once("other/again", (content, name), lambda: read_table(content, name=name))
        columns = list(table.names)
        last = len(columns) - 1
        left, right = st.columns(2)
        person = left.selectbox("Person", columns, **remembered("other/again/person"))
        sensitive = right.selectbox(
            "Sensitive", columns, last, **remembered("other/again/sensitive")
        )
        rest = [n for n in columns if n not in (person, sensitive)]
        quasi = st.multiselect(
            "Others know",
            rest,
            rest,
            **remembered(f"other/again/{'/'.join(rest)}"),
        )
        m = int(
            st.number_input(
                "m", 2, 20, last_number("other/m", 2), **remembered("other/m"), help=_M_HELP
            )
        )
        with st.expander("State of the releases before"):
            kept = st.file_uploader(
                "state.json of the last release",
                type=["json"],
                key="other/kept",
                help="Without a file, the state on this page is used.",
            )
        text = kept.getvalue().decode("utf-8", "replace") if kept else ""
        with st.container(horizontal=True):
            st.button(
                "Publish",
                type="primary",
                key="other/publish",
                on_click=_publish,
                args=(table, (person, sensitive, tuple(quasi), m), text),
            )
            st.button(
                "Start over",
                key="other/forget",
                on_click=_forget,
                disabled=_LAST not in st.session_state,
            )
    with drawn:
        _release(st.session_state.get(_LAST))


_M_HELP = "The fewest different values in a group."


@handled("The same table again")
def _publish(table: Dataset, terms: tuple[str, str, tuple[str, ...], int], text: str) -> None:
    person, sensitive, quasi, m = terms
    asked = Republication(person=person, sensitive=sensitive, quasi=quasi, m=m)
    held: Kept | None = st.session_state.get(_STATE)
    before = asked.kept(text or (held.as_json() if held else ""), "The state")
    names = [person, sensitive, *quasi]
    if len({*names}) < len(names):
        raise BadInput("A column is named twice.", remedy="Choose different columns.")
    rows = [dict(zip(names, row, strict=True)) for row in table.lines(names)]
    made = asked.publish(rows, before)
    st.session_state[_STATE] = made.state
    st.session_state[_LAST] = made, len(rows), sum(r[person] in before.signatures for r in rows)


@handled("The same table again")
def _forget() -> None:
    st.session_state.pop(_STATE, None)
    st.session_state.pop(_LAST, None)


def _release(last: tuple[Published, int, int] | None) -> None:
    if last is None:
        st.caption(
            "Publish the first month, then the second: a person who stays is among the "
            "same values each time, with a counterfeit row if needed."
        )
        return
    made, persons, returned = last
    with st.container(horizontal=True):
        st.metric("Release", made.state.releases)
        st.metric("Persons", f"{persons:,}")
        st.metric("Published before", f"{returned:,}")
        st.metric("Counterfeit rows", f"{made.rows - persons:,}")
        st.metric("Surest guess, over all releases", f"{made.surest:.1%}")
    release = read_table(made.files["release.csv"].encode(), name="release.csv")
    st.dataframe(release.frame(), hide_index=True, height=280)
    with st.container(horizontal=True):
        for name, text in made.files.items():
            download(name, text, file=name, mime="text/csv", key=f"other/again/{name}")
        download(
            "state.json (private)",
            made.state.as_json(),
            file="state.json",
            mime="application/json",
            key="other/again/state",
            help="Everyone's values. Without this file the next release breaks the earlier ones.",
        )
    st.caption(
        "Recomputed: group sizes, different values, persons, covers, values as in releases before, "
        "counterfeits. A person whose value changes is not covered."
    )
