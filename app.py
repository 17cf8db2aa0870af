"""Start: choose a sample, load a table, or open a recipe on the table that is loaded."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from anon_core.base.errors import AnonError, BadInput, listing
from anon_core.data.reading import DataOptions
from anon_core.data.samples import SAMPLES, Sample
from anon_core.explain.text.phrases import size
from ui.components.clicks import clicked
from ui.components.guard import handled, panel, show_error
from ui.forms import read_options
from ui.panels import page_frame, session_panel
from ui.state import limits, loading, session_owner, state
from ui.state.sessions import archives, dropped_files, kept_sessions
from ui.words.escaping import first_sentence, plain

_STAYS = "The file stays on this computer; nothing is sent anywhere."
_READ_HERE = (
    "The file is sent to the host of this workbench and held in memory for this session alone."
)
_KEPT_HERE = (
    "The file is sent to the host of this workbench, and kept there, unencrypted, for you "
    "alone until you delete the session under Session in the sidebar."
)

#: How often files were opened: the uploader is a new one each time.
_TURN = "start/upload_turn"
#: Why what was dropped last is none of what is opened here.
_REFUSED = "start/refused"
#: Tables of which one is offered to be opened, where several were dropped.
_OFFERED = 6


def main() -> None:
    """Draw the page."""
    page_frame.page("Anonymity Workbench", "🛡️")
    st.write("Anonymize a table of people, and measure what an attacker still learns.")
    if state.dataset() is not None:
        with panel("The table that is loaded"):
            _present()
    if kept_sessions.listed():
        st.header("Continue a session", anchor=False)
        with panel("Continue a session"):
            session_panel.kept()
            session_panel.ask()
    st.header("Open", anchor=False)
    with panel("Open"):
        _open()
        if not kept_sessions.listed():
            session_panel.ask()
    st.header("Try a sample", anchor=False)
    with st.container(key="stack-samples"), panel("Try a sample"):
        _samples()


def _present() -> None:
    data = state.dataset()
    if data is None:
        return
    with st.container(border=True):
        st.markdown(
            f"**{plain(state.dataset_title())}** is loaded: "
            f"{size(data.rows, len(data.columns), ', ')}. {_ready()}",
            help=plain(state.attribution()) or None,
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            page_frame.next_step("pages/1_Data.py", "Look at the data")
            if state.roles().quasi:
                page_frame.next_step("pages/4_Run.py", "Go straight to Run")
            else:
                page_frame.next_step("pages/2_Roles.py", "Mark the columns")
            if state.can_undo_dataset():
                st.button(
                    "Restore the previous table",
                    key="start/undo_dataset",
                    icon=":material/undo:",
                    on_click=_bring_back,
                )


@handled("The table that is loaded")
def _bring_back() -> None:
    state.undo_dataset()


def _ready() -> str:
    quasi, levels = state.roles().quasi, state.levels()
    if not quasi:
        return "Its columns have no roles yet."
    given = sum(name in levels for name in quasi)
    return f"{len(quasi)} quasi-identifier{'s' * (len(quasi) > 1)}, {given} with a hierarchy."


def _samples() -> None:
    error: AnonError | None = st.session_state.pop("start/sample_error", None)
    if error is not None:
        show_error(error)
    for begin in range(0, len(SAMPLES), 3):
        for column, one in zip(st.columns(3), SAMPLES[begin : begin + 3], strict=False):
            with column.container(border=True, height="stretch", key=f"card-{one.name}"):
                _card(one)


def _card(one: Sample) -> None:
    first = one.models[0] if one.models else {"k": one.k}
    asked = ", ".join(f"{key} = {value}" for key, value in first.items() if key != "name")
    why = one.why_unavailable()
    about = [one.summary, one.shows, one.attribution]
    with st.container(gap=None):
        # A number stays with what it counts, on whichever line.
        asked = plain(asked).replace(" ", "\u00a0")
        st.markdown(f"**{plain(one.title)}** · {one.rows:,}\u00a0rows · {asked}")
        st.caption(plain(first_sentence(one.summary)))
        if why:
            st.caption(":material/cloud_off: Not on this computer", help=plain(why))
    st.button(
        "Use",
        key=f"start/sample/{one.name}",
        help="\n\n".join(plain(part) for part in about if part),
        disabled=bool(why),
        on_click=_use,
        args=(one.name,),
    )


@handled("Try a sample")
def _use(name: str) -> None:
    try:
        loading.load_sample(name)
    except AnonError as error:
        st.session_state["start/sample_error"] = error


def _open() -> None:
    """Draw the one place for files, and open what was dropped there."""
    turn = st.session_state.setdefault(_TURN, 0)
    chosen = st.file_uploader(
        "Drop a table, recipe, session or zip",
        accept_multiple_files=True,
        max_upload_size=limits.megabytes(),
        key=f"start/upload/{turn}",
        help=f"Accepted: {dropped_files.ACCEPTED}; at most {_most()} a file. A recipe or a session "
        f"is opened on its table, which may be loaded before, after or with it. "
        f"{_what_becomes_of_it()}",
    )
    for note in st.session_state.get("start/recipe_notes", ()):
        st.info(plain(note), icon=":material/info:")
    _offer_reading()
    refused: AnonError | None = st.session_state.pop(_REFUSED, None)
    try:
        found = dropped_files.files_by_kind(
            [loading.Opened(name=one.name, content=one.getvalue()) for one in chosen]
        )
    except AnonError as error:
        # Files that stay in the uploader would be refused again with those that are chosen next.
        st.session_state[_REFUSED] = error
        _done()
    if refused is not None:
        show_error(refused, where="Nothing was opened")
    if found.sessions:
        first, *more = found.sessions
        _session(first, [*more, *found.recipes, *found.others])
    elif found.recipes:
        _recipe(found)
    elif len(found.others) > 1:
        named = listing(one.name for one in found.others)
        show_error(
            BadInput(
                f"{named} are several tables, and one is opened at a time.",
                remedy="Open one of them, or drop the recipe that names the others as well.",
            ),
            where="Nothing was opened",
        )
        with st.container(horizontal=True, key="start/several"):
            for place, one in enumerate(found.others[:_OFFERED]):
                if clicked(f"Open {plain(one.name)}", key=f"start/one/{place}", width="content"):
                    _table(one)
    else:
        _table(found.others[0] if found.others else None)


def _table(opened: loading.Opened | None) -> None:
    try:
        label = "How a table is read"
        with st.expander(label, expanded=_asks(opened), type="compact"):
            wanted = read_options.reading_form("start", _for_another_file(), opened)()
        if opened is None:
            return
        if wanted is None:
            st.info("The workbook has several sheets: choose the one with the table above.")
            return
        with st.spinner("Reading"):
            loading.load_file(opened, wanted)
    except AnonError as error:
        show_error(error, where="Nothing was loaded")
        if state.dataset() is not None:
            st.caption("Your current table and settings are unchanged.")
        return
    _done()


def _done() -> NoReturn:
    """Let the uploader's own copy go, and draw what is open now."""
    st.session_state[_TURN] += 1
    st.rerun()


def _what_becomes_of_it() -> str:
    if not session_owner.is_shared():
        return _STAYS
    return _READ_HERE if kept_sessions.folder() is None else _KEPT_HERE


def _for_another_file() -> dict[str, object]:
    """Return how the present table is read, without what is true of its file alone."""
    told = state.draft()["data"]
    return {key: told[key] for key in ("separator", "encoding", "missing_values") if key in told}


def _most() -> str:
    most = limits.megabytes()
    return f"{most // 1024} GiB" if most % 1024 == 0 else f"{most} MiB"


def _asks(opened: loading.Opened | None) -> bool:
    """Say whether a file cannot be read before a person has chosen something."""
    return opened is not None and bool(loading.sheets_of(opened))


def _recipe(found: dropped_files.Dropped) -> None:
    if len(found.recipes) != 1:
        st.warning("Choose one recipe (TOML), with its hierarchy files if it has any.")
        return
    (recipe,), others = found.recipes, found.others
    wanted: DataOptions | None = None
    try:
        if (table := archives.table_of(recipe, others)) is not None:
            loading.load_file(table, loading.reading_of(recipe))
        elif state.dataset() is None:
            st.info("Recipe loaded. Now load the table it belongs to.")
            return
        wanted = loading.recipe_reading(recipe)
        notes = loading.open_recipe(recipe, others)
    except AnonError as error:
        show_error(error, where="The recipe was not opened")
        st.caption("Roles, hierarchies and settings are unchanged.")
        if wanted is not None:
            st.caption("The recipe uses other import settings than this table was read with.")
            _read_again_button(wanted)
        return
    st.session_state["start/recipe_reading"] = (state.dataset(), wanted)
    st.session_state["start/recipe_notes"] = ("The recipe was opened and fits the table.", *notes)
    _done()


def _session(chosen: loading.Opened, others: list[loading.Opened]) -> None:
    try:
        session_panel.opened(chosen.content, others[0].content if others else None)
    except AnonError as error:
        show_error(error, where="The session was not opened")
        return
    _done()


def _offer_reading() -> None:
    """Offer to read the table as the recipe that was opened on it says."""
    error: AnonError | None = st.session_state.pop("start/reading_error", None)
    if error is not None:
        show_error(error, where="The table stays as it was read")
    of, wanted = st.session_state.get("start/recipe_reading", (None, None))
    if wanted is not None and of is state.dataset():
        _read_again_button(wanted)


def _read_again_button(wanted: DataOptions) -> None:
    st.button(
        "Re-import the table with the recipe's settings",
        key="start/read_again",
        icon=":material/refresh:",
        on_click=_read_again,
        args=(wanted,),
    )


@handled("Open")
def _read_again(wanted: DataOptions) -> None:
    try:
        loading.read_again(wanted)
    except AnonError as error:
        st.session_state["start/reading_error"] = error
        return
    st.session_state["start/recipe_notes"] = (
        "The table was re-imported with the recipe's settings.",
    )


main()
