"""What identifies in a table, on Roles: sets of columns, and the kinds of Safe Harbor."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from anon_core.base.context import Context, now
from anon_core.base.errors import listing
from anon_core.data.identifying_sets import SEPARATES, Found, identifying_sets
from anon_core.data.roles.safe_harbor import FREE, free_texts, safe_harbor
from anon_core.data.table import Dataset
from ui.state import state
from ui.words.escaping import plain

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
        sets, harbor = st.tabs(["Smallest sets", "Safe Harbor"])
        with sets:
            _sets(_found(data))
        with harbor:
            _safe_harbor(data)


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


def _safe_harbor(data: Dataset) -> None:
    """Draw the 18 kinds with what is found of each."""
    year = datetime.now(UTC).year
    kinds, free = state.once(
        "safe harbor",
        (data.fingerprint, year),
        lambda: (safe_harbor(data, year=year), free_texts(data)),
    )
    st.caption(
        "The kinds of identifiers that HIPAA's Safe Harbor names (45 CFR 164.514(b)(2)), and the "
        "columns that hold some. It is a list, not a judgement. Ages are counted up to "
        f"{year}; small ZIP areas are those of the census of 2000."
    )
    st.dataframe(
        {
            "Kind": [f"{kind.letter} {kind.title}" for kind in kinds],
            "State": [kind.state for kind in kinds],
            "Columns": [
                ", ".join(f"{c.column} ({c.share:.0%}, by {c.by})" for c in kind.columns)
                for kind in kinds
            ],
        },
        hide_index=True,
        key="roles/safe-harbor",
        column_config={
            "Kind": st.column_config.TextColumn(width=230),
            "State": st.column_config.TextColumn(width=110),
            "Columns": st.column_config.TextColumn(
                width=300,
                help="The share of the column's different values that are such identifiers.",
            ),
        },
    )
    if free:
        st.caption(f"{FREE}: {plain(listing(free))}.")
    st.caption("For a release, run `python -m anon_core safe-harbor --data release.csv`.")
