"""Charts of what a release lost: every metric from 0 to 1, and column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.release.results import Measure

from ..session.result_view import Facts
from . import theme
from .cells_chart import Cell, Cells, Grid
from .chart_frame import Chart, Palette, Series, heading_of, readable
from .rows_chart import Bar, Item, Plot, Rows, Span, Words

#: Columns of numbers beside each other that have room for all their letters.
_ROOMY = 6
#: Half the width of the line that marks another run's value, on the axis from 0 to 1.
_TICK = 0.006


def title_of(metric: str) -> str:
    """Return a metric's name for people."""
    return family("metric")[metric].title


def amount(value: float) -> str:
    """Return a metric's own value, large ones without digits after the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def unit_of(metric: str, facts: Facts) -> str:
    """Return what one unit of a metric's own value is in a run."""
    kind = _metric(metric)
    if kind.unit == "share":
        return "on a scale from 0 to 1"
    if kind.size_parameter and not any(m.size_asked for m in facts.result.plan.models):
        return kind.unit.replace("× k ", "")  # no k was asked for, so it counts single rows
    return kind.unit


def _in_its_unit(metric: str, measure: Measure, facts: Facts) -> str:
    """Return a metric's value as it is told once: with its unit, unless that is 0 to 1."""
    share = _metric(metric).unit == "share"
    return f"{measure.share:.3f}" if share else f"{amount(measure.value)} {unit_of(metric, facts)}"


def metric_names(runs: Sequence[Series]) -> list[str]:
    """Return the metrics in the order they are told: what cut links cost first, if any are cut.

    Where none are cut, the groups lose what their cells do, and that is told once.
    """
    names = list(dict.fromkeys(n for r in runs for n in r.facts.result.measures))
    if not any(r.facts.permuted for r in runs):
        return [n for n in names if _metric(n).headline != "groups"]
    return sorted(names, key=lambda n: not _metric(n).counts_links)


def _metric(name: str) -> type[Metric]:
    return cast(type[Metric], family("metric")[name])


def what_is_lost(runs: Sequence[Series]) -> str:
    """Return how metrics of cells are to be read where links are cut; empty where none are."""
    cut = [r.facts.permuted for r in runs]
    if any(r.facts.permuted and r.facts.result.plan.algorithm.coarsens for r in runs):
        return (
            "Where links are cut, loss and NCP count coarsened cells only, not the links; query "
            "error and the loss of the groups count both."
        )
    if not any(cut):
        return ""
    asked = {n for r in runs for n in r.facts.result.measures}
    seen = any(_metric(n).counts_links and _metric(n).headline != "groups" for n in asked)
    if all(cut):
        tail = "query error and the loss of the groups" if seen else "the loss of the groups"
        return f"Cells are exact, so loss and NCP are 0; what is lost is the links – see {tail}."
    return (
        "Where links are cut, cells are exact and loss and NCP are 0: they do not tell these runs "
        "apart. "
        + ("Query error and the loss of the groups are" if seen else "The loss of the groups is")
        + " on a scale that they share."
    )


def metric_bars(
    runs: Sequence[Series],
    colours: Palette,
    without: tuple[str, ...] = (),
    base: Facts | None = None,
) -> Chart:
    """Return every metric brought to 0–1; beside the bars of one run stand its own units.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    without : tuple of str
        Metrics that are told elsewhere.
    base : Facts or None
        Baseline A: its values are marked, and what changed since follows each value.
    """
    import pandas as pd

    names = [n for n in metric_names(runs) if n not in without]
    alone = len(runs) == 1
    plots: list[Plot] = []
    rows: list[dict[str, object]] = []
    for run in runs:
        measures = run.facts.result.measures
        lines: dict[str, list[Item]] = {}
        for name in names:
            m = measures.get(name)
            if m is None:
                lines[title_of(name)] = [Words(text="not measured")]
                continue
            unit = unit_of(name, run.facts)
            lines[title_of(name)] = [
                Bar(
                    to=m.share,
                    colour=run.colour,
                    text=_in_its_unit(name, m, run.facts) if alone else f"{m.share:.3f}",
                    tip=f"{title_of(name)}: {m.share:.4f} of 1\nown unit: {amount(m.value)} {unit}",
                    **_since(base, name, m),
                )
            ]
            before = None if base is None else base.result.measures.get(name)
            if before is not None and before.value != m.value:
                low, high = before.share - _TICK, before.share + _TICK
                told = f"A: {before.share:.4f} of 1"
                lines[title_of(name)] += [
                    Span(low=low, high=high, colour=colours.sensitive, width=22, tip=told)
                ]
            row: dict[str, object] = {"run": run.letter} if len(runs) > 1 else {}
            row |= {"metric": title_of(name), "0 to 1": m.share, "value": m.value, "unit": unit}
            rows.append(row)
            rows += [
                row | {"metric": f"{title_of(name)}: {other}", "0 to 1": None, "value": value}
                for other, value in m.also.items()
            ]
        plots.append(Plot(lines=lines, heading=heading_of(run, runs), colour=run.colour))
    return Chart(
        title="What was lost (shorter is better)",
        figure=Rows(
            names=tuple(title_of(n) for n in names),
            plots=tuple(plots),
            low=0,
            high=2.8 if base is not None else 1.9 if alone else 1.18,
            ticks={0: "0", 0.5: "0.5", 1: "1"},
            axis="0 unchanged · 1 everything suppressed",
        ),
        numbers=pd.DataFrame(rows),
        note="Lower is better in every metric. A suppressed row has lost everything."
        + (" The upright line marks A." if base is not None else ""),
        formats={"0 to 1": "%.4f", "value": "localized"},
    )


def _since(base: Facts | None, name: str, now: Measure) -> dict[str, Any]:
    """Return what a metric's bar says of its change against the baseline.

    The arrow follows the value that is shown; better and worse follow the share, less of which is
    better in every metric, also where more of the value is.
    """
    before = None if base is None else base.result.measures.get(name)
    if base is None or before is None:
        return {}
    told = f"{before.share:.3f}" if _metric(name).unit == "share" else amount(before.value)
    arrow = "=" if now.value == before.value else "▲" if now.value > before.value else "▼"
    worse = "" if now.share == before.share else "bad" if now.share > before.share else "good"
    tone = theme.verdict_colour(worse) if worse else theme.muted()
    changed = before.value != now.value
    return {
        "change": f"{arrow} A {told}",
        "tone": tone,
        "behind": before.share + _TICK if changed else 0.0,
    }


def _short(value: float | None) -> str:
    """Return a share from 0 to 1 in as few letters as two digits take."""
    if value is None:
        return "–"
    return "1" if value >= 0.995 else "0" if value < 0.005 else f"{value:.2f}"[1:]


def column_heat(runs: Sequence[Series], colours: Palette) -> Chart | None:
    """Return the loss of every column; None where no metric tells columns apart."""
    import pandas as pd

    by_column = {n for r in runs for n, m in r.facts.result.measures.items() if m.per_column}
    names = [n for n in metric_names(runs) if n in by_column]
    if not names:
        return None
    shown = list(dict.fromkeys(c for r in runs for c in r.facts.result.problem.quasi))
    grids: list[Grid] = []
    rows: list[dict[str, object]] = []
    crowded = len(runs) * len(names) > _ROOMY
    for run in runs:
        by_name = {n: m.per_column for n, m in run.facts.result.measures.items()}
        cells: list[list[Cell | None]] = []
        for column in shown:
            line = {n: by_name[n].get(column) if n in by_name else None for n in names}
            cells.append([_lost(v, column, n, colours, crowded) for n, v in line.items()])
            row: dict[str, object] = {"run": run.letter} if len(runs) > 1 else {}
            rows.append(row | {"column": column} | {title_of(n): v for n, v in line.items()})
        grids.append(Grid(cells=cells, heading=heading_of(run, runs), colour=run.colour))
    return Chart(
        title="Where it was lost: column by column",
        figure=Cells(
            names=tuple(shown),
            heads=tuple(title_of(n) for n in names),
            grids=tuple(grids),
            steep=crowded,
        ),
        numbers=pd.DataFrame(rows),
        note="0 is unchanged, 1 is everything suppressed in that column.",
        formats={title_of(n): "%.4f" for n in names},
    )


def _lost(value: float | None, column: str, metric: str, colours: Palette, crowded: bool) -> Cell:
    colour = colours.scale[round(4 * min(max(value or 0.0, 0.0), 1.0))]
    return Cell(
        colour=colour if value is not None else "transparent",
        ink=readable(colour) if value is not None else colours.ink,
        text=_short(value) if crowded else "–" if value is None else f"{value:.2f}",
        tip="" if value is None else f"{column}, {title_of(metric)}: {value:.4f} of 1",
    )
