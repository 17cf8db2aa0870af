"""What each level of a hierarchy does by itself, every other column left as it is."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.terms import LOSS, SCALE, SMALLEST_CLASS
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.profile import LevelEffect, level_effects
from anon_core.data.table import Dataset
from ui.charts.theme import grid, muted, role_colour
from ui.components.guard import show_error
from ui.state import loading, state


def draw(data: Dataset, column: str) -> None:
    """Draw the consequences of a column's levels, and the level table behind a click.

    Parameters
    ----------
    data : Dataset
        The rows that are published.
    """
    try:
        hierarchy = loading.hierarchy_of(column)
    except AnonError as error:
        show_error(error, where="The hierarchy no longer fits the column")
        return
    effects = state.once(
        "effects",
        (data.fingerprint, state.roles().quasi, column, state.level_fingerprint(column)),
        lambda: level_effects(data, state.roles().quasi, hierarchy),
    )
    st.markdown(
        "**Unique rows** by level",
        help="Share of rows with a unique combination if only this column is generalized. Numbers "
        "has classes, their smallest size and loss.",
    )
    st.html(_cards(data, effects))
    with st.expander("Numbers"):
        _effects(data, effects)
    table = st.expander("Level table", key="hierarchies/table", on_change="rerun")
    if table.open:
        with table:
            _table(hierarchy)


def _cards(data: Dataset, effects: tuple[LevelEffect, ...]) -> str:
    """Return a line a level: its groups, and the share of unique rows as a bar."""
    lines: list[str] = []
    for one in effects:
        name = "Values" if one.level == 0 else f"Level {one.level}"
        share = one.unique / data.rows * 100
        lines.append(
            f"<div class='aw-level'><b>{name}</b><span>{one.groups:,} "
            f"{'value' if one.level == 0 else 'group'}{'' if one.groups == 1 else 's'}</span>"
            f"<span>{share:.1f}%</span><i style='--share:{share:.2f}%'></i></div>"
        )
    colour = role_colour("quasi")
    return (
        "<style>.aw-level {display: grid; grid-template-columns: 1fr 1fr auto; gap: 0 .75rem;"
        "font-size: .8125rem; padding: .3rem 0; font-variant-numeric: tabular-nums}"
        f".aw-level span {{color: {muted()}}}"
        f".aw-level i {{grid-column: 1 / -1; height: 5px; background: {grid()}; margin-top: 3px}}"
        ".aw-level i::before {content: ''; display: block; height: 100%; width: var(--share);"
        f"background: {colour}}}</style>{''.join(lines)}"
    )


def _effects(data: Dataset, effects: tuple[LevelEffect, ...]) -> None:
    st.dataframe(
        {
            "Level": [one.level for one in effects],
            "Groups": [one.groups for one in effects],
            "Classes": [one.classes for one in effects],
            "Unique rows": [one.unique for one in effects],
            "Unique share": [one.unique / data.rows * 100 for one in effects],
            SMALLEST_CLASS: [one.smallest for one in effects],
            LOSS: [one.loss for one in effects],
        },
        hide_index=True,
        height="content" if len(effects) <= 14 else 520,
        column_config={
            "Groups": st.column_config.NumberColumn(
                format="localized", help="Groups that contain at least one row."
            ),
            "Classes": st.column_config.NumberColumn(
                format="localized", help="Distinct combinations of all quasi-identifiers."
            ),
            "Unique rows": st.column_config.NumberColumn(
                format="localized", help="Rows with a unique combination."
            ),
            "Unique share": st.column_config.NumberColumn(format="%.1f%%"),
            SMALLEST_CLASS: st.column_config.NumberColumn(
                format="localized", help="Rows of the smallest class: the k that holds."
            ),
            LOSS: st.column_config.NumberColumn(format="%.3f", help=f"Of this column: {SCALE}."),
        },
    )


def _table(hierarchy: Hierarchy) -> None:
    rows = hierarchy.rows()
    st.dataframe(
        {
            "Value" if level == 0 else f"Level {level}": [row[level] or "(missing)" for row in rows]
            for level in range(hierarchy.height + 1)
        },
        hide_index=True,
        height=480 if len(rows) > 13 else "content",
    )
