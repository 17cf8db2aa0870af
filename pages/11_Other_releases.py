"""Other releases: a network, several views, a table that is published again, places."""

from __future__ import annotations

from ui.components.guard import panel
from ui.panels import page_frame
from ui.panels.other_releases import tabs


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Other releases", "🕸️"):
        return
    with panel(tabs.PANEL):
        tabs.draw()


main()
