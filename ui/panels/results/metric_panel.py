"""The panel of metrics: a line for each, with the baseline, what is chosen, and what changed."""

from __future__ import annotations

from typing import Any

from anon_core.explain.text.tiles import loss_metric
from ui.charts.chart_frame import Chart, Palette, Series, figure, kept, place_of
from ui.charts.metric_plots import metric_bullets
from ui.panels.panel_head import Line
from ui.panels.results import linked_charts
from ui.state import selection


def line(run: Series, colours: Palette) -> Line:
    """Return what is above the metrics of a run."""
    signs = [("■", run.colour, "now")]
    if linked_charts.baseline() is not None:
        signs.append(("┃", colours.sensitive, "baseline"))
    if selection.now(run.facts) is not None:
        signs.append(("◆", colours.ink, "chosen"))
    return Line(title="Metrics", signs=signs, chart=lambda: _chart(run, colours))


def draw(run: Series, colours: Palette) -> None:
    """Draw the panel of one run."""
    figure(_chart(run, colours), key="metrics", placed=True)


def block(run: Series, colours: Palette) -> dict[str, Any]:
    """Return the key and look of the block that the panel is drawn in."""
    return place_of(_unmarked(run, colours).figure, key="metrics")


def _chart(run: Series, colours: Palette) -> Chart:
    """Return the metrics of a run; its loss is in the strip already."""
    if selection.now(run.facts) is None:
        return _unmarked(run, colours)
    metric, base = (loss_metric(run.facts.result),), linked_charts.baseline()
    return metric_bullets([run], colours, metric, base, linked_charts.lost(run.facts))


def _unmarked(run: Series, colours: Palette) -> Chart:
    metric = (loss_metric(run.facts.result),)
    return kept(metric_bullets, [run], colours, metric, linked_charts.baseline())
