"""Charts of what a release lost: every metric from 0 to 1, and column by column."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import cast

from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.release.results import Measure

from ..session.result_view import Facts
from .chart_frame import (
    Chart,
    Palette,
    Series,
    columns,
    finish,
    in_the_middle,
    label,
    labels,
    readable,
    write_all,
)

#: Columns of numbers beside each other that have room for all their letters.
_ROOMY = 6
#: Letters of a metric's name on one line above its column of numbers.
_WRAP = 14


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


def metric_bars(runs: Sequence[Series], colours: Palette, without: tuple[str, ...] = ()) -> Chart:
    """Return every metric brought to 0–1; beside the bars of one run stand its own units.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    without : tuple of str
        Metrics that are told elsewhere.
    """
    import pandas as pd
    import plotly.graph_objects as go

    names = [n for n in metric_names(runs) if n not in without][::-1]
    alone = len(runs) == 1
    figure = columns(len(runs))
    rows: list[dict[str, object]] = []
    for place, run in enumerate(runs, start=1):
        measures = run.facts.result.measures
        here = [n for n in names if n in measures]
        found = [measures[n] for n in here]
        missing = [
            {
                "x": 0,
                "y": label(title_of(name)),
                "text": "not measured",
                "xanchor": "left",
                "font": {"color": colours.muted, "size": 12},
            }
            for name in names
            if name not in measures
        ]
        write_all(figure, missing, place)
        figure.add_trace(
            go.Bar(
                x=[m.share for m in found],
                y=[label(title_of(n)) for n in here],
                orientation="h",
                marker_color=run.colour,
                text=[
                    label(_in_its_unit(n, m, run.facts)) if alone else f"{m.share:.3f}"
                    for n, m in zip(here, found, strict=True)
                ],
                textposition="outside",
                textfont={"color": colours.ink},
                cliponaxis=False,
                customdata=[
                    f"{amount(m.value)} {label(unit_of(n, run.facts))}"
                    for n, m in zip(here, found, strict=True)
                ],
                hovertemplate="%{y}: %{x:.4f} of 1<br>own unit: %{customdata}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            range=[0, 1.9 if alone else 1.18],
            tickvals=[0, 0.5, 1],
            title_text=in_the_middle("0 unchanged · 1 everything suppressed", place, len(runs)),
            row=1,
            col=place,
        )
        for name, m in zip(here, found, strict=True):
            row: dict[str, object] = {"run": run.letter} if len(runs) > 1 else {}
            row |= {
                "metric": title_of(name),
                "0 to 1": m.share,
                "value": m.value,
                "unit": unit_of(name, run.facts),
            }
            rows.append(row)
            rows += [
                row | {"metric": f"{title_of(name)}: {other}", "0 to 1": None, "value": value}
                for other, value in m.also.items()
            ]
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=[label(title_of(n)) for n in names],
        showgrid=False,  # its lines would strike through the numbers beside the bars
    )
    finish(figure, colours, height=70 + 40 * len(names), runs=runs)
    return Chart(
        title="What was lost (shorter is better)",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="Lower is better in every metric. A suppressed row has lost everything.",
        formats={"0 to 1": "%.4f", "value": "localized"},
    )


def _short(value: float | None) -> str:
    """Return a share from 0 to 1 in as few letters as two digits take."""
    if value is None:
        return "–"
    return "1" if value >= 0.995 else "0" if value < 0.005 else f"{value:.2f}"[1:]


def column_heat(runs: Sequence[Series], colours: Palette) -> Chart | None:
    """Return the loss of every column; None where no metric tells columns apart."""
    import pandas as pd
    import plotly.graph_objects as go

    by_column = {n for r in runs for n, m in r.facts.result.measures.items() if m.per_column}
    names = [n for n in metric_names(runs) if n in by_column]
    if not names:
        return None
    shown = list(dict.fromkeys(c for r in runs for c in r.facts.result.problem.quasi))
    figure = columns(len(runs))
    rows: list[dict[str, object]] = []
    top = labels(shown, 22)
    # On one line a long name hangs over its neighbour, or all of them are slanted.
    across = ["<br>".join(map(label, textwrap.wrap(title_of(n), _WRAP))) for n in names]
    crowded = len(runs) * len(names) > _ROOMY
    for place, run in enumerate(runs, start=1):
        by_name = {n: m.per_column for n, m in run.facts.result.measures.items()}
        grid = [[by_name[n].get(c) if n in by_name else None for n in names] for c in shown]
        figure.add_trace(
            go.Heatmap(
                z=grid,
                x=across,
                y=top,
                zmin=0,
                zmax=1,
                colorscale=[(i / 4, c) for i, c in enumerate(colours.scale)],
                showscale=False,
                xgap=2,
                ygap=2,
                hovertemplate="%{y}, %{x}: %{z:.4f} of 1<extra></extra>",
            ),
            row=1,
            col=place,
        )
        texts = [
            {
                "x": j,
                "y": i,
                "text": _short(v) if crowded else "–" if v is None else f"{v:.2f}",
                "font": {
                    "color": readable(colours.scale[round(4 * min(max(v or 0.0, 0.0), 1.0))]),
                    "size": 10 if crowded else 12,
                },
            }
            for i, line in enumerate(grid)
            for j, v in enumerate(line)
        ]
        write_all(figure, texts, place)
        figure.update_xaxes(
            showgrid=False, side="top" if len(runs) == 1 else "bottom", row=1, col=place
        )
        for c, line in zip(shown, grid, strict=True):
            row: dict[str, object] = {"run": run.letter} if len(runs) > 1 else {}
            rows.append(
                row | {"column": c} | dict(zip([title_of(n) for n in names], line, strict=True))
            )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    # Slanted names of many metrics below each other's columns take more room than straight ones.
    finish(figure, colours, height=70 + 27 * len(shown) + 90 * crowded, runs=runs)
    return Chart(
        title="Where it was lost: column by column",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="0 is unchanged, 1 is everything suppressed in that column.",
        formats={title_of(n): "%.4f" for n in names},
    )
