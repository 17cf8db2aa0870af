"""Hierarchies that are proposed for a column, each with its reason and a look at it."""

from __future__ import annotations

import streamlit as st

from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from anon_core.data.hierarchy import Proposal
from anon_core.data.hierarchy.propose.proposals import Withheld, offer
from anon_core.data.table import Dataset
from ui.components.guard import handled, panel
from ui.state import drafts, state
from ui.state.kept_fields import remembered
from ui.words.escaping import plain

#: Rows of the preview.
_SHOWN = 40
#: Names of the builders for a person.
NAMES = {
    "calendar": "Calendar",
    "weeks": "Weeks",
    "clock": "Times of day",
    "quantiles": "Equal rows",
    "round numbers": "Round numbers",
    "mask": "Mask the code",
    "icd": "ICD-10",
    "library": "From the library",
    "words": "Shared words",
    "prefix": "Shared beginnings",
    "order": "In order",
    "segments": "Segments of the code",
    "postcode": "Postcode areas",
    "frequency": "By frequency",
    "flat": "Value or *",
}

_MENU = "hierarchies/propose"


def menu(data: Dataset, column: Column) -> None:
    """Draw the button that offers proposals; nothing is taken over until a person says so."""
    menu = st.popover("Propose", icon=":material/auto_fix_high:", key=_MENU, on_change="rerun")
    if menu.open:  # proposals of a large column take their time
        with menu, panel("Proposals"):
            _offer(data, column)


def _offer(data: Dataset, column: Column) -> None:
    of = (data.fingerprint, column.name, column.kind)
    offered = state.once("proposals", of, lambda: offer(column))
    found = offered.proposals
    place = st.radio(
        "Proposals, the best one first",
        range(len(found)),
        format_func=lambda i: _name(found[i]),
        captions=[plain(one.reason) for one in found],
        **remembered(f"hierarchies/proposal/{column.name}"),
    )
    chosen = found[place]
    _preview(chosen)
    st.button(
        "Use this proposal",
        key="hierarchies/take",
        type="primary",
        on_click=_take,
        args=(column, chosen),
        help="Opens the proposal in the builder, where you can edit or undo it.",
    )
    for one in offered.withheld:
        st.caption(_why_not(one))


def _why_not(one: Withheld) -> str:
    return plain(f"Not offered – {NAMES.get(one.builder, one.builder)}: {one.reason}")


def _name(one: Proposal) -> str:
    levels = f"{one.height} level{'s' if one.height > 1 else ''}"
    return plain(f"{NAMES.get(one.builder, one.builder.capitalize())} · {levels}")


def _preview(one: Proposal) -> None:
    step = max(1, len(one.rows) // _SHOWN)
    rows = one.rows[::step][:_SHOWN]
    st.dataframe(
        {
            "Value" if level == 0 else f"Level {level}": [row[level] for row in rows]
            for level in range(one.height + 1)
        },
        hide_index=True,
        height=250,
    )
    some = f"{len(rows)} of {len(one.rows):,} values are shown. " if step > 1 else ""
    lacking = len(one.unplaced)
    verb = "is" if lacking == 1 else "are each"
    apart = f"{in_figures(lacking, 'value')} {verb} in a group of its own." if lacking else ""
    if some or apart:
        st.caption(some + apart)


@handled("Hierarchy")
def _take(column: Column, chosen: Proposal) -> None:
    drafts.put(column, [list(row) for row in chosen.rows])
    st.session_state[_MENU] = False  # it would cover what it did
