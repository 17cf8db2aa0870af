"""What is released other than one table, a tab each."""

from __future__ import annotations

import streamlit as st

from ui.components.guard import panel
from ui.panels.other_releases import network, places, republication, views

PANEL = "Other releases"
#: The file of each tab, by its name.
_TABS = {
    "A network": network,
    "Several views": views,
    "The same table again": republication,
    places.PANEL: places,
}


def draw() -> None:
    """Draw them all."""
    for (name, drawn), tab in zip(_TABS.items(), st.tabs(list(_TABS)), strict=True):
        with tab, panel(name):
            drawn.draw()
