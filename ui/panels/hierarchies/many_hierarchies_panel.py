"""Hierarchies for many columns at once: proposed, or from files that are named after them."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import listing
from anon_core.explain.advice.table_facts import lacking
from ui.components.guard import handled
from ui.panels.hierarchies import hierarchy_proposals
from ui.state import loading, many_hierarchies, state
from ui.words.escaping import plain

PANEL = "Several columns"
#: Lines that are shown at once; more are scrolled.
_MOST_LINES = 8


def draw(columns: tuple[str, ...]) -> None:
    """Draw both ways, and what became of the last one."""
    data = state.typed_dataset()
    bare = () if data is None else lacking(data, columns, state.levels())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Propose for all columns",
            key="hierarchies/propose_all",
            icon=":material/auto_fix_high:",
            disabled=not bare,
            on_click=_propose,
            args=(bare,),
            help="Each column without a hierarchy gets the proposal that suits it best, with the "
            "reason. Columns that have one keep it."
            if bare
            else "Every column that has values to group has a hierarchy.",
        )
        turn = st.session_state.setdefault("hierarchies/many_turn", 0)
        with st.popover("Import files", icon=":material/upload:", key=f"hierarchies/many/{turn}"):
            _upload(turn)
    lines = many_hierarchies.said()
    if not lines:
        return
    taken = sum(line.height > 0 for line in lines)
    left = len(lines) - taken
    st.caption(
        f"{taken:,} {'hierarchy' if taken == 1 else 'hierarchies'} taken over"
        + (f", {left:,} not." if left else ".")
    )
    with st.container(height="content" if len(lines) <= _MOST_LINES else 300, border=True):
        st.markdown("  \n".join(_words(line) for line in lines))
    with st.container(horizontal=True):
        if many_hierarchies.can_undo():
            st.button(
                "Undo all of it",
                key="hierarchies/undo_many",
                icon=":material/undo:",
                on_click=handled(PANEL)(many_hierarchies.undo),
                help="Every column has its previous hierarchy again.",
            )
        st.button(
            "Hide this list",
            key="hierarchies/put_away",
            on_click=handled(PANEL)(many_hierarchies.keep),
        )


def offer(columns: tuple[str, ...]) -> None:
    """Say which columns have no hierarchy, and draw one click that proposes one for each."""
    data = state.typed_dataset()
    bare = () if data is None else lacking(data, columns, state.levels())
    if not bare:
        return
    have = "have" if len(bare) > 1 else "has"
    st.caption(
        plain(
            f"{listing(bare, 4)} {have} no hierarchy yet, so most techniques can only keep or "
            "suppress each value."
        )
    )
    st.button(
        "Propose hierarchies",
        key="run/propose_all",
        icon=":material/auto_fix_high:",
        on_click=_propose,
        args=(bare,),
        help="Each of these columns gets the proposal that suits it best. Hierarchies lists them "
        "with the reasons, and takes them back.",
    )


def _words(line: many_hierarchies.Line) -> str:
    source = plain(hierarchy_proposals.NAMES.get(line.source, line.source))
    if not line.height:
        named = f"**{plain(line.column)}**, " if line.column else ""
        return f":material/close: {named}{source}: not taken over. {plain(line.why)}"
    levels = f"{line.height} level{'s' if line.height > 1 else ''}"
    return f":material/check: **{plain(line.column)}**: {source}, {levels}. {plain(line.why)}"


def _upload(turn: int) -> None:
    st.markdown(
        "Choose all files of a folder, such as those of ARX. A file belongs to the column it is "
        "named after: `age.csv`, `age_hierarchy.csv` or `adult_hierarchy_age.csv`."
    )
    chosen = st.file_uploader(
        "Hierarchy files",
        type=["csv", "txt", "json"],
        accept_multiple_files=True,
        key=f"hierarchies/upload_many/{turn}",
        max_upload_size=64,
    )
    if not chosen:
        return
    many_hierarchies.load([loading.Opened(name=one.name, content=one.getvalue()) for one in chosen])
    st.session_state["hierarchies/many_turn"] = turn + 1
    st.rerun(scope="fragment")


@handled(PANEL)
def _propose(columns: tuple[str, ...]) -> None:
    many_hierarchies.propose(columns)
