"""Other releases: a network, several views of one table, a table that is published again."""

from __future__ import annotations

from ui.components.guard import panel
from ui.panels import other_releases, page_frame


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Other releases", "🕸️"):
        return
    with panel(other_releases.PANEL):
        other_releases.draw()


main()
