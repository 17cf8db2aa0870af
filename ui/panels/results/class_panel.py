"""The panel of classes: tracks over one axis, A behind them, and what is chosen."""

from __future__ import annotations

from ui.charts.chart_frame import Palette, Series
from ui.panels import panel_head
from ui.panels.results import linked_charts
from ui.state import selection


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run."""
    chart = linked_charts.of_run(run, colours)
    one, many = run.facts.noun
    count = len(run.facts.sizes)
    base = linked_charts.baseline()
    signs = [("■", run.colour, "now")]
    if base is not None:
        signs.append(("━", colours.sensitive, f"A ({len(base.sizes):,})"))
    if selection.now(run.facts) is not None:
        signs.append(("■", colours.ink, "chosen"))
    title = f"{count:,} {one if count == 1 else many}"
    panel_head.draw(title, of="Classes", chart=chart, key="classes-chart", signs=signs)
    linked_charts.draw(run, colours, chart)
