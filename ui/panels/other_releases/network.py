"""A network whose numbers of ties, or labels of them, are hidden by new vertices."""

from __future__ import annotations

import secrets

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.data.reading.any_format import read_table
from anon_core.methods.other_data import complete_lines, networks, written
from anon_core.methods.other_data.networks import Network, PublishedNetwork
from ui.charts.chart_frame import palette, show
from ui.charts.other_data import network_plot
from ui.components.downloads import download
from ui.components.guard import handled
from ui.panels.other_releases import TABLES
from ui.state import state
from ui.state.kept_fields import last_number, remembered

_MADE = "other/network"


def draw() -> None:
    """Draw the tab."""
    with st.container(key="form-network"):
        form, drawn = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it if others know only how many ties someone has, or the labels of the "
            "ties. Never use it if they know who someone's acquaintances are."
        )
        file = st.file_uploader(
            "Edge list: a tie in each line",
            type=TABLES,
            key="other/edges",
            help="Two columns with a header.",
        )
        if file is None:
            st.caption("Until then, an example is shown: Zachary's karate club.")
        content, name = (file.getvalue(), file.name) if file else (b"", "")
        lines = state.once("other/edges", (content, name), lambda: _edges(content, name))
        label_of = _labels(own_file=bool(content))
        given, labels = state.once(
            "other/labelled", (lines, label_of), lambda: _labelled(lines, label_of)
        )
        k = int(
            st.number_input(
                "k",
                min_value=2,
                max_value=50,
                value=last_number("other/k", 2),
                **remembered("other/k"),
                help=_K_HELP,
            )
        )
        st.button(
            "Hide degrees",
            type="primary",
            key="other/hide",
            on_click=_hide,
            args=(given, lines, k, label_of),
        )
        held: tuple[object, PublishedNetwork] | None = st.session_state.get(_MADE)
        made = held[1] if held is not None and held[0] == (given, k, label_of) else None
        if made is not None:
            with st.container(horizontal=True):
                for name, text in made.files.items():
                    title = name.removesuffix(".csv").capitalize()
                    download(title, text, file=name, mime="text/csv", key=f"other/out/{name}")
                download(
                    "Names (private)",
                    written([("name", "number"), *made.names.items()]),
                    file="names.csv",
                    mime="text/csv",
                    key="other/names",
                    help="Who has which number. It undoes the release.",
                )
    with drawn:
        _figures(given, made, labels)


_K_HELP = "At least k people have each number of ties; added vertices do not count."


def karate_club() -> list[tuple[str, str]]:
    """Return the ties of Zachary's karate club (1977)."""
    import networkx

    return [(f"p{a + 1}", f"p{b + 1}") for a, b in networkx.karate_club_graph().edges()]


def _edges(content: bytes, name: str) -> list[tuple[str, str]]:
    """Return the ties of a file, or of the karate club without one."""
    return _pairs(content, name) if content else karate_club()


def _pairs(content: bytes, name: str) -> list[tuple[str, str]]:
    table = read_table(content, name=name)
    if len(table.columns) < 2 or not table.rows:
        raise BadInput(
            f"'{name}' has {len(table.columns)} columns and {table.rows:,} rows; two columns and a "
            "row are needed.",
            remedy="Use a table with a header, and a tie or a person's label in each line.",
        )
    lines = complete_lines(table, f"'{name}'", 2, remedy="Fill in every cell.")
    return [(one, other) for one, other in lines]


def _labels(*, own_file: bool) -> dict[str, str]:
    """Return everyone's label; none where others know a number of ties alone."""
    if not st.toggle("Others know labels, too", **remembered("other/labels"), help=_LABELS_HELP):
        return {}
    file = st.file_uploader(
        "Labels: a person and a label on each line",
        type=TABLES,
        key="other/labels/file",
        help="Two columns with a header, and a line for everyone."
        + ("" if own_file else " Without a file, the club that each joined later is shown."),
    )
    if file is None:
        if own_file:
            st.caption("Upload labels; until then only numbers of ties are hidden.")
        return {} if own_file else clubs()
    content, name = file.getvalue(), file.name
    return state.once(
        "other/labels",
        (content, name),
        lambda: networks.read_labels(_pairs(content, name), f"'{name}'"),
    )


_LABELS_HELP = (
    "For example occupations. A person's label is then hidden together with the "
    "labels of all acquaintances."
)


def clubs() -> dict[str, str]:
    """Return the club that each person of Zachary's joined when it broke up."""
    import networkx

    of = networkx.karate_club_graph().nodes(data="club")
    return {f"p{v + 1}": str(club) for v, club in of}


def _labelled(lines: list[tuple[str, str]], label_of: dict[str, str]) -> tuple[Network, list[str]]:
    """Return the network of ties, and the label of each person where there are labels."""
    given = networks.read_edges(lines, label_of)
    return given, networks.labels_of(given, label_of) if label_of else []


@handled("A network")
def _hide(given: Network, lines: list[tuple[str, str]], k: int, label_of: dict[str, str]) -> None:
    made = networks.publish(given, lines, k, secrets.SystemRandom().shuffle, label_of)
    st.session_state[_MADE] = (given, k, label_of), made


def _figures(given: Network, made: PublishedNetwork | None, labels: list[str]) -> None:
    people = len(given.names)
    before = state.once(
        "other/before",
        (given, labels),
        lambda: networks.degree_attack(networks.classes_of(given, labels), people),
    )
    after = None if made is None else made.after
    with st.container(horizontal=True):
        st.metric("People", f"{people:,}")
        st.metric("Ties", f"{len(given.edges):,}")
        st.metric(
            "Unique by labels of ties" if labels else "Unique by number of ties",
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
    _pictures(given, made, labels)
    dropped = (
        f"{given.loops:,} loops and {given.repeats:,} repeats were dropped. "
        if given.loops or given.repeats
        else ""
    )
    if made is None:
        if dropped:
            st.caption(dropped)
    elif len(made.grown.network.names) == people:
        st.caption(f"{dropped}Everyone was like k people already.")
    else:
        st.caption(
            f"{dropped}Every new edge has a new vertex at an end, so ties among people stay as "
            "they are. Where some are like a new vertex, the guess that one of them is new is "
            f"right with a chance of {float(made.guess):.1%}. Neighbourhoods are not hidden."
        )
    if made is not None and made.recognised:
        st.warning(
            f"{made.recognised:,} new vertices are recognised, since fewer than k are like them. "
            "Without these, people are less alike: join labels, or publish none."
        )


def _pictures(given: Network, made: PublishedNetwork | None, labels: list[str]) -> None:
    people, whole = len(given.names), given if made is None else made.grown.network
    if len(whole.names) > network_plot.MOST:
        st.caption(f"Networks of more than {network_plot.MOST} vertices are not drawn.")
        return
    at = state.once("other/drawn", whole, lambda: network_plot.places(whole))
    left, right = st.columns(2)
    classes = networks.classes_of(given, labels)
    with left:
        chart = network_plot.network_chart(given, people, at, palette(), classes, title="Before")
        show(chart, key="other-before")
    if made is not None:
        with right:
            chart = network_plot.network_chart(
                whole, people, at, palette(), made.classes, title="After"
            )
            show(chart, key="other-after")
