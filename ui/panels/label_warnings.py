"""Labels that are not true of their values: said beside the builder, and mended with one click."""

from __future__ import annotations

import streamlit as st

from anon_core.data.column import Column
from anon_core.hierarchy.claims import FalseLabel

from ..components.guard import handled
from ..session import drafts
from ..words.explain import plain

#: More are counted rather than shown.
_MOST = 4


def draw(column: Column) -> None:
    """Say which labels a run will refuse, and offer a true one for each."""
    found = drafts.untrue(column)
    for place, one in enumerate(found[:_MOST]):
        with st.container(border=True, key=f"false-label-{place}"):
            st.markdown(f":material/warning: {_told(one)}")
            st.button(
                plain(f"Rename to “{one.instead}”"),
                key=f"hierarchies/mend/{column.name}/{place}",
                icon=":material/edit:",
                on_click=handled("Builder")(drafts.rename),
                args=(column, one.level, one.label, one.instead),
                help="Gives the group a label that is true of all its values; can be undone.",
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
            help="Gives each of these groups a label that is true of all its values, such as the "
            "range it spans; groups stay as they are, and one undo brings the old labels back.",
        )


def _told(one: FalseLabel) -> str:
    count, values = len(one.outside), f"{one.members:,} values"
    what = f"{count:,} of its {values} {'is' if count == 1 else 'are'} not"
    return plain(
        f"“{one.label}” on level {one.level} says what {what}. A release would publish what is "
        "false, so a run refuses it: rename the group, or move the values out."
    )
