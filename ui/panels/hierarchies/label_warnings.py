"""Labels that are not true, or cannot be read: renamed with one click, or confirmed as names."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.data.column import Column
from anon_core.data.hierarchy.label_truth import FalseLabel
from ui.components.guard import handled
from ui.state import confirmations, drafts
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: More are counted rather than shown.
_MOST = 4


def draw(column: Column) -> None:
    """Show which labels a run will refuse, and offer a true one for each."""
    if reason := confirmations.reason_for_names(column.name):
        with st.container(horizontal=True, key="label-names"):
            st.caption(plain(f"Labels are confirmed as names and not checked: {reason}"))
            st.button(
                "Check them again",
                key=f"hierarchies/names/{column.name}/back",
                type="tertiary",
                on_click=handled("Builder")(confirmations.names_taken_back),
                args=(column.name,),
            )
        return
    found = drafts.untrue(column)
    for place, one in enumerate(found[:_MOST]):
        with st.container(border=True, key=f"false-label-{place}"):
            st.markdown(f":material/warning: {_words(one)}")
            st.button(
                plain(f"Rename to “{one.instead}”"),
                key=f"hierarchies/mend/{column.name}/{place}",
                icon=":material/edit:",
                on_click=handled("Builder")(drafts.rename),
                args=(column, one.level, one.label, one.instead),
                help="Gives the group a label that is true of all its values. You can undo it.",
            )
    if len(found) > _MOST:
        st.caption(f"{len(found) - _MOST:,} more labels are not true of all their values.")
    if len(found) > 1:
        st.button(
            f"Rename all {len(found):,}",
            key=f"hierarchies/mend/{column.name}/all",
            icon=":material/edit:",
            on_click=handled("Builder")(drafts.rename_untrue),
            args=(column,),
            help="Gives each of these groups a label that is true of all its values, such as "
            "the range it spans. Groups stay as they are; one undo brings the old labels "
            "back.",
        )

    unread = drafts.unread(column)
    if unread:
        st.markdown(f":material/help: {_unread(unread)}")
    if found or unread:
        _names(column)


def _names(column: Column) -> None:
    """Offer to confirm that labels are names, with the reason that the report prints."""
    key = f"hierarchies/names/{column.name}"
    with st.form(key, border=False):
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        left.text_input(
            "Labels are names, not ranges, because …",
            **remembered(f"{key}/reason"),
            placeholder="groups of the agency's own form",
            help="A run then publishes the labels as they are. The recipe and the report keep the "
            "reason.",
        )
        right.form_submit_button(
            "Confirm as names",
            icon=":material/label:",
            on_click=handled("Builder")(_confirm),
            args=(column.name, f"{key}/reason"),
        )


def _confirm(column: str, field: str) -> None:
    """Confirm with the reason that was typed.

    Raises
    ------
    BadInput
        If there is none.
    """
    reason = str(st.session_state.get(field, "")).strip()
    if not reason:
        raise BadInput(
            f"Labels of '{column}' are confirmed as names only with a reason.",
            remedy="Type why these labels claim nothing about the values under them.",
        )
    confirmations.confirm_names(column, reason)


def _unread(labels: Sequence[str]) -> str:
    several = f"{len(labels):,} labels such as “{labels[0]}” seem"
    what = several if len(labels) > 1 else f"Label “{labels[0]}” seems"
    return plain(
        f"{what} to state a number or a time, and no one can check it. Runs are blocked until you "
        "write ranges as 20-29, or confirm the labels as names."
    )


def _words(one: FalseLabel) -> str:
    return plain(
        f"Label “{one.label}” on level {one.level} is wrong for {len(one.outside):,} of its "
        f"{one.members:,} values. Runs are blocked until you rename the group, move these values "
        "out, or confirm the labels as names."
    )
