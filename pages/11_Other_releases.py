"""Other releases: a network, several views, a table that is published again, places."""

from __future__ import annotations

import streamlit as st

from ui.components.guard import panel
from ui.panels import page_frame
from ui.panels.other_releases import network, places, republication, views

#: The panel of each tab, by its name.
_TABS = {
    "A network": network,
    "Several views": views,
    "The same table again": republication,
    places.PANEL: places,
}


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Other releases", "🕸️"):
        return
    with panel("Other releases"):
        for (name, drawn), tab in zip(_TABS.items(), st.tabs(list(_TABS)), strict=True):
            with tab, panel(name):
                drawn.draw()


main()
