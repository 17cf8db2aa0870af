"""Which few columns distinguish rows: a table on Roles, made once it is opened."""

from __future__ import annotations

import streamlit as st

from anon_core.base.context import Context, now
from anon_core.data.identifying_sets import SEPARATES, Found, identifying_sets
from anon_core.data.table import Dataset
from ui.state import state

#: Seconds that are spent on it, and sets that are shown.
_SECONDS, _SHOWN = 4.0, 200


def draw(data: Dataset) -> None:
    """Draw the button, and the sets once it is opened."""
    inside = st.popover(
        "Columns that identify", type="tertiary", key="roles/identifying", on_change="rerun"
    )
    if not inside.open:
        return
    with inside:
        _sets(_found(data))


def _found(data: Dataset) -> Found:
    person = state.roles().unit
    return state.once(
        "identifying sets",
        (data.fingerprint, person),
        lambda: identifying_sets(data, person=person, context=Context(deadline=now() + _SECONDS)),
    )


def _sets(found: Found) -> None:
    st.caption(
        f"The smallest sets of columns that distinguish at least {SEPARATES:.0%} of all pairs of "
        f"{found.counted}. The more {found.counted} are unique by a set, the more often an "
        "attacker who knows its columns finds the right one."
    )
    if found.sets:
        pairs, alone = "Pairs distinguished", f"Unique {found.counted}"
        different = "Different combinations"
        shown = found.sets[:_SHOWN]
        st.dataframe(
            {
                "Columns": [", ".join(one.columns) for one in shown],
                pairs: [(one.separation or 0) * 100 for one in shown],
                different: [one.distinction * 100 for one in shown],
                alone: [one.uniques for one in shown],
                "Adds nothing": [", ".join(one.adds_nothing) for one in shown],
            },
            hide_index=True,
            key="roles/identifying-sets",
            column_config={
                pairs: st.column_config.NumberColumn(format="%.1f%%"),
                different: st.column_config.NumberColumn(
                    format="%.1f%%", help=f"As a share of all {found.counted}."
                ),
                alone: st.column_config.NumberColumn(format="localized"),
                "Adds nothing": st.column_config.TextColumn(
                    help="Other columns that distinguish nothing beyond the set."
                ),
            },
        )
    else:
        st.markdown("No set distinguishes so many.")
    more = f" The first {_SHOWN} are shown." if len(found.sets) > _SHOWN else ""
    st.caption(
        f"{found.looked:,} sets were looked at; every set of up to {found.size} columns is "
        f"known.{more}"
    )
