"""Tables: counts and sums instead of rows, protected, and proven before they go out."""

from __future__ import annotations

from ui.components.guard import panel
from ui.export import bundle
from ui.panels import page_frame, protected_table


def main() -> None:
    """Draw the page."""
    if not page_frame.page("Tables", "▦", needs="dataset"):
        return
    with panel(protected_table.PANEL):
        protected_table.draw(packed=bundle.table_archive)


main()
