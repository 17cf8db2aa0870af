"""What is released besides one table: a network, several views, a table that is published again."""

from __future__ import annotations

import secrets
from collections import Counter

import streamlit as st

from anon_core.base.context import Context, now
from anon_core.base.errors import BadInput
from anon_core.data.reading.any_format import read_table
from anon_core.data.table import Dataset
from anon_core.methods.bucketized.m_invariance import Kept, Published, Republication
from anon_core.methods.consistent_tables.views import Candidates, Projection, candidates
from anon_core.methods.other_data import networks
from anon_core.methods.other_data.networks import Network, PublishedNetwork
from ui.charts import network_plot
from ui.charts.chart_frame import palette, show
from ui.components.downloads import download
from ui.components.guard import handled, panel
from ui.state import state
from ui.words.escaping import plain

PANEL = "Other releases"
#: Seconds that views are compared.
_SECONDS = 20.0
_MADE, _STATE, _LAST = "other/network", "other/state", "other/last"
_TABLES = ["csv", "parquet", "xlsx", "txt", "gz"]
_VIEWS = {
    "AB": "A,B\n0,0\n0,0\n0,1\n1,0\n",
    "BC": "B,C\n0,0\n0,1\n1,0\n0,0\n",
    "AC": "A,C\n0,0\n0,1\n0,0\n1,0\n",
}
_MONTHS = {
    "First month": "id,age,ill\np1,30,flu\np2,31,asthma\np3,50,flu\np4,52,gastritis\n",
    "Second month": "id,age,ill\np1,30,flu\np3,50,flu\np4,52,gastritis\np5,33,asthma\n"
    "p6,60,asthma\np7,61,flu\np8,35,gastritis\n",
}


def draw() -> None:
    """Draw the three of them, a tab each."""
    network, views, again = st.tabs(["A network", "Several views", "The same table again"])
    with network, panel("A network"):
        _network()
    with views, panel("Several views"):
        _views()
    with again, panel("The same table again"):
        _again()


# ---- a network -------------------------------------------------------------------------------


def _network() -> None:
    form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it where a number of ties is all that others know; never where they know who "
            "someone's acquaintances are."
        )
        file = st.file_uploader(
            "Edge list: a tie in each line",
            type=_TABLES,
            key="other/edges",
            help="Two columns with a header. Without a file, Zachary's karate club is shown.",
        )
        content, name = (file.getvalue(), file.name) if file else (b"", "")
        lines, given = state.once("other/edges", (content, name), lambda: _edges(content, name))
        k = int(
            st.number_input("k", min_value=2, max_value=50, value=2, key="other/k", help=_K_HELP)
        )
        st.button(
            "Hide degrees",
            type="primary",
            key="other/hide",
            on_click=_hide,
            args=(given, lines, k),
        )
        held: tuple[object, PublishedNetwork] | None = st.session_state.get(_MADE)
        made = held[1] if held is not None and held[0] == (given, k) else None
        if made is not None:
            with st.container(horizontal=True):
                download("Edges", made.text, file="edges.csv", mime="text/csv", key="other/out")
                download(
                    "Names (private)",
                    "name,number\n" + "".join(f"{n},{v}\n" for n, v in made.names.items()),
                    file="names.csv",
                    mime="text/csv",
                    key="other/names",
                    help="Who has which number. It undoes the release.",
                )
    with drawn:
        _figures(given, made)


_K_HELP = "Each number of ties is that of at least k people; new vertices do not count."


def karate_club() -> list[tuple[str, str]]:
    """Return the ties of Zachary's karate club (1977)."""
    import networkx

    return [(f"p{a + 1}", f"p{b + 1}") for a, b in networkx.karate_club_graph().edges()]


def _edges(content: bytes, name: str) -> tuple[list[tuple[str, str]], Network]:
    """Return the ties of a file, or of the karate club without one, and the network of them."""
    lines = _lines(read_table(content, name=name)) if content else karate_club()
    return lines, networks.read_edges(lines)


def _lines(table: Dataset) -> list[tuple[str, str]]:
    if len(table.columns) < 2:
        raise BadInput(
            "An edge list has two columns; this table has one.",
            remedy="Use a table with a header and a tie in each line.",
        )
    found = table.lines(table.names[:2])
    gone = sum(not all(line) for line in found)
    if gone or not found:
        raise BadInput(
            f"Lines without both ends: {gone:,} of {len(found):,}.",
            remedy="Name both ends of every tie, and at least one tie.",
        )
    return [(one, other) for one, other in found]


@handled("A network")
def _hide(given: Network, lines: list[tuple[str, str]], k: int) -> None:
    made = networks.publish(given, lines, k, secrets.SystemRandom().shuffle)
    st.session_state[_MADE] = (given, k), made


def _figures(given: Network, made: PublishedNetwork | None) -> None:
    people = len(given.names)
    before = networks.degree_attack(given.degrees(), people)
    after = None if made is None else made.after
    with st.container(horizontal=True):
        st.metric("People", f"{people:,}")
        st.metric("Ties", f"{len(given.edges):,}")
        st.metric(
            "Unique by number of ties",
            f"{(after or before).unique:,}",
            None if after is None else f"{after.unique - before.unique:,}",
            delta_color="inverse",
        )
        st.metric(
            "Mean chance to find a person",
            f"{float((after or before).mean):.1%}",
            None if after is None else f"{float(after.mean - before.mean):.1%}",
            delta_color="inverse",
        )
        if made is not None:
            st.metric("New vertices", f"{len(made.grown.network.names) - people:,}")
    whole = given if made is None else made.grown.network
    if len(whole.names) > network_plot.MOST:
        st.caption(f"Networks of more than {network_plot.MOST} vertices are not drawn.")
    else:
        at = state.once("other/places", whole, lambda: network_plot.places(whole))
        left, right = st.columns(2)
        with left:
            chart = network_plot.network_chart(given, people, at, palette(), title="Before")
            show(chart, key="other-before")
        if made is not None:
            with right:
                chart = network_plot.network_chart(whole, people, at, palette(), title="After")
                show(chart, key="other-after")
    dropped = f"{given.loops:,} loops and {given.repeats:,} repeats were dropped. "
    if made is None:
        st.caption(dropped)
        return
    st.caption(
        f"{dropped}Every new edge has a new vertex at an end, so ties among people stay as they "
        f"are. All new vertices have {made.grown.common} ties: that a vertex with so many is new "
        f"is right with a chance of {float(made.guess):.1%}. Neighbourhoods are not hidden."
        if made.grown.common
        else f"{dropped}Every number of ties was that of k people already."
    )


# ---- several views ---------------------------------------------------------------------------


def _views() -> None:
    form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it before you publish another projection of a table; never to mend what is out."
        )
        files = st.file_uploader(
            "Views of one table",
            type=_TABLES,
            accept_multiple_files=True,
            key="other/views",
            help="Each has a row for every row of the table. Without files, an example is shown.",
        )
        given = [(f.name, f.getvalue()) for f in files or ()]
        given = given or [(name, text.encode()) for name, text in _VIEWS.items()]
        tables = state.once(
            "other/tables", given, lambda: [(n, read_table(text, name=n)) for n, text in given]
        )
        shown = st.multiselect(
            "Published", [name for name, _ in tables], default=[n for n, _ in tables],
            format_func=plain, key=f"other/shown/{len(tables)}",
        )  # fmt: skip
        tables = [one for one in tables if one[0] in shown]
        names = list(dict.fromkeys(n for _, table in tables for n in table.names))
        if len(names) < 2:
            st.caption("Choose a view.")
            return
        person = st.selectbox("Who it is about", names, format_func=plain, key="other/person")
        rest = [n for n in names if n != person]
        about = st.selectbox(
            "What is to stay open", rest, len(rest) - 1, format_func=plain, key="other/about"
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
        "A value is possible for a person if some table that fits all views gives it to her. Pairs "
        "of views are not enough: leave one of the example's three out, and two tables fit."
    )


# ---- the same table again --------------------------------------------------------------------


def _again() -> None:
    form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it where persons come and go and sensitive values stay; never where they change."
        )
        file = st.file_uploader("The table as it is now", type=_TABLES, key="other/now")
        content, name = (file.getvalue(), file.name) if file else (b"", "")
        if not file:
            name = st.radio("Example", list(_MONTHS), key="other/month")
            content = _MONTHS[name].encode()
        table = state.once("other/again", (content, name), lambda: read_table(content, name=name))
        columns = list(table.names)
        last = len(columns) - 1
        left, right = st.columns(2)
        person = left.selectbox("Person", columns, format_func=plain, key="other/again/person")
        sensitive = right.selectbox(
            "Sensitive", columns, last, format_func=plain, key="other/again/sensitive"
        )
        rest = [n for n in columns if n not in (person, sensitive)]
        quasi = st.multiselect(
            "Others know", rest, rest, format_func=plain, key=f"other/again/{'/'.join(rest)}"
        )
        m = int(st.number_input("m", 2, 20, 2, key="other/m", help=_M_HELP))
        with st.expander("State of the releases before"):
            kept = st.file_uploader(
                "state.json of the last release",
                type=["json"],
                key="other/kept",
                help="Without it, that of this page is used.",
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


_M_HELP = "Different values in each group, at least."


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
            "Publish the first month, then the second: a person who stays is among the same values "
            "each time, if need be by a counterfeit row."
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
            help="Everyone's values. Without it the next release breaks the earlier ones.",
        )
    st.caption(
        "Recomputed: group sizes, different values, persons, covers, values as in releases before, "
        "counterfeits. A person whose value changes is not covered."
    )
