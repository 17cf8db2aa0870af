"""What every class reaches of a privacy model, with the line of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from anon_core.base.registry import family
from anon_core.contracts.model import GroupModel
from anon_core.release.outcome import Verdict
from ui.charts.chart_frame import Chart, Palette, Series, columns, finish

_BINS = 24


def verdicts_by_class(run: Series) -> list[int]:
    """Return the places of those verdicts of a run that tell something of each of its classes."""
    known = cast(dict[str, type[GroupModel]], family("model"))
    return [
        place
        for place, verdict in enumerate(run.facts.result.verdicts)
        if len(verdict.per_class) == len(run.facts.sizes)
        and len(verdict.per_class)
        and not known[verdict.model].scope.mechanism
    ]


def name_of(verdict: Verdict) -> str:
    """Return a verdict's privacy model, and the column it is of."""
    title = family("model")[verdict.model].title
    return f"{title}, {verdict.column}" if verdict.column else title


def verdict_chart(runs: Sequence[Series], colours: Palette, place: int) -> Chart:
    """Return how many classes of a run reach how much of a privacy model.

    Parameters
    ----------
    runs : sequence of Series
        One.
    colours : Palette
    place : int
        Of the verdict among those of the result.
    """
    import pandas as pd
    import plotly.graph_objects as go

    run = runs[0]
    verdict = run.facts.result.verdicts[place]
    one, many = run.facts.noun
    reached = verdict.per_class
    finite = reached[np.isfinite(reached)]
    ends = [*finite, *([verdict.bound] if np.isfinite(verdict.bound) else [])] or [0.0]
    low, high = float(min(ends)), float(max(ends))
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    counts, _ = np.histogram(finite, edges)
    figure = columns(1)
    figure.add_trace(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=np.diff(edges) * 0.92,
            customdata=[[f"{a:.4g} to {b:.4g}"] for a, b in pairwise(edges)],
            marker_color=run.colour,
            hovertemplate=f"%{{customdata[0]}}<br>%{{y:,}} {many}<extra></extra>",
        )
    )
    cell: dict[str, Any] = {"row": 1, "col": 1}
    figure.add_vline(
        x=verdict.bound, line={"color": colours.warning, "width": 2, "dash": "dash"}, **cell
    )
    figure.add_annotation(
        x=verdict.bound,
        y=1,
        yref="y domain",
        text=f"asked: {verdict.bound:g}",
        showarrow=False,
        xanchor="left" if verdict.bound < (low + high) / 2 else "right",
        yanchor="top",
        xshift=4 if verdict.bound < (low + high) / 2 else -4,
        font={"color": colours.warning, "size": 13},
        bgcolor=colours.paper,
    )
    figure.update_xaxes(title_text=f"reached by the {one}")
    figure.update_yaxes(title_text=many, range=[0, 1.18 * max(1, int(counts.max()))])
    finish(figure, colours, height=270)
    beyond = len(reached) - len(finite)
    said = [verdict.sentence]
    if beyond:
        said.append(f"{beyond:,} of {len(reached):,} {many} lie beyond every number.")
    return Chart(
        title=f"{name_of(verdict)}: what every {one} reaches",
        figure=figure,
        numbers=pd.DataFrame(
            {"from": edges[:-1], "to": edges[1:], many: counts},
        ),
        note=" ".join(said),
        formats={"from": "%.4g", "to": "%.4g"},
    )
