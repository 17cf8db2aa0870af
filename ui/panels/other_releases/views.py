"""Several views of one table, and what they leave open together."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from anon_core.base.context import Context, now
from anon_core.data.reading.any_format import read_table
from anon_core.methods.consistent_tables.views import Candidates, Projection, candidates
from ui.panels.other_releases import TABLES
from ui.state import state
from ui.state.kept_fields import remembered

#: Seconds that views are compared.
_SECONDS = 20.0
_VIEWS = {
    "AB": "A,B\n0,0\n0,0\n0,1\n1,0\n",
    "BC": "B,C\n0,0\n0,1\n1,0\n0,0\n",
    "AC": "A,C\n0,0\n0,1\n0,0\n1,0\n",
}


def draw() -> None:
    """Draw the tab."""
    with st.container(key="form-views"):
        form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it before you publish another projection of a table. It cannot repair "
            "what is already published."
        )
        files = st.file_uploader(
            "Views of one table",
            type=TABLES,
            accept_multiple_files=True,
            key="other/views",
            help="Each file has one row for every row of the table. Without files, an example "
            "is shown.",
        )
        given = [(f.name, f.getvalue()) for f in files or ()]
        given = given or [(name, text.encode()) for name, text in _VIEWS.items()]
        tables = state.once(
            "other/tables", given, lambda: [(n, read_table(text, name=n)) for n, text in given]
        )
        shown = st.multiselect(
            "Published", [name for name, _ in tables], default=[n for n, _ in tables],
            **remembered(f"other/shown/{len(tables)}"),
        )  # fmt: skip
        tables = [one for one in tables if one[0] in shown]
        names = list(dict.fromkeys(n for _, table in tables for n in table.names))
        if len(names) < 2:
            st.caption("Choose a view.")
            return
        person = st.selectbox("Person column", names, **remembered("other/person"))
        rest = [n for n in names if n != person]
        about = st.selectbox(
            "Column to protect",
            rest,
            len(rest) - 1,
            **remembered("other/about"),
        )

    def found() -> Candidates:
        views = [
            Projection(name=name, columns=table.names, rows=Counter(table.lines(table.names)))
            for name, table in tables
        ]
        return candidates(views, person, about, Context(deadline=now() + _SECONDS))

    with drawn:
        _open(state.once("other/candidates", (given, shown, person, about), found))


def _open(found: Candidates) -> None:
    upto = "" if found.most == found.least else f" to {found.most}"
    left = sum(map(len, found.open.values()))
    with st.container(horizontal=True):
        st.metric("k over the join", f"{found.least}{upto}")
        st.metric("Persons", f"{len(found.possible):,}")
        st.metric("Values not decided in time", f"{left:,}")
    sizes = Counter(map(len, found.possible.values()))
    st.dataframe(
        {
            "Possible values": sorted(sizes),
            "Persons": [sizes[n] for n in sorted(sizes)],
        },
        hide_index=True,
        width="content",
    )
    if found.one_table:
        st.warning("Only one table fits these views: everything is disclosed.")
    st.caption(
        "A value is possible for a person if some table that fits all views gives it "
        "to them. Pairs of views are not enough: leave out one of the example's three, "
        "and two tables fit."
    )
