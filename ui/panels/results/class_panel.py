"""The panel of classes: tracks over one axis, the baseline behind them, and what is chosen."""

from __future__ import annotations

from typing import Any

from ui.charts.chart_frame import Palette, Series, place
from ui.charts.tracks import height
from ui.panels.panel_head import Line
from ui.panels.results import linked_charts
from ui.state import selection


def line(run: Series, colours: Palette) -> Line:
    """Return what is above the tracks of a run."""
    one, many = run.facts.noun
    count = len(run.facts.sizes)
    base = linked_charts.baseline()
    signs = [("■", run.colour, "now")]
    if base is not None:
        signs.append(("━", colours.sensitive, f"baseline ({len(base.sizes):,})"))
    if selection.now(run.facts) is not None:
        signs.append(("■", colours.ink, "chosen"))
    title = f"{count:,} {one if count == 1 else many}"
    return Line(title=title, signs=signs, chart=lambda: linked_charts.of_run(run, colours))


def drawn_from(run: Series, colours: Palette) -> object:
    """Return what the panel shows, which stays the same where a click is marked in it already."""
    return linked_charts.of_run(run, colours)


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run."""
    linked_charts.draw(run, colours, linked_charts.of_run(run, colours))


def block(_run: Series, _colours: Palette) -> dict[str, Any]:
    """Return the key and look of the block that the panel is drawn in."""
    return place(height(linked_charts.more()), key=linked_charts.KEY)
