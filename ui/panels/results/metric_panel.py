"""The panel of metrics: a line for each, with A, what is chosen, and what changed."""

from __future__ import annotations

from anon_core.explain.text.tiles import loss_metric
from ui.charts.chart_frame import Palette, Series, figure, kept
from ui.charts.metric_plots import metric_bullets
from ui.panels import panel_head
from ui.panels.results import linked_charts
from ui.state import selection


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run; its loss is in the strip already."""
    told, base = (loss_metric(run.facts.result),), linked_charts.baseline()
    if selection.now(run.facts) is None:
        chart = kept(metric_bullets, [run], colours, told, base)
    else:
        chart = metric_bullets([run], colours, told, base, linked_charts.lost(run.facts))
    signs = [("■", run.colour, "now")]
    if base is not None:
        signs.append(("┃", colours.sensitive, "A"))
    if selection.now(run.facts) is not None:
        signs.append(("◆", colours.ink, "chosen"))
    panel_head.draw("Metrics", of="Metrics", chart=chart, key="metrics", signs=signs)
    figure(chart, key="metrics")
