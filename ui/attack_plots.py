"""Charts of attacks: what an attacker gets right, against guessing and against the raw table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anon_core.registry import family
from anon_core.results import AttackResult
from ui.charts import Chart, Palette, Series, columns, finish, labels

if TYPE_CHECKING:
    import plotly.graph_objects as go


def name_of(result: AttackResult) -> str:
    """Return an attack's name for people, with the sensitive column where it has one."""
    title = family("attack")[result.attack].title
    short = title.removesuffix(" re-identification")
    return f"{short}: {result.column}" if result.column else short


def attack_dots(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return rate, worst case, guessing and raw copy of every attack on one axis."""
    import pandas as pd
    import plotly.graph_objects as go

    keys = list(dict.fromkeys((a.attack, a.column) for r in runs for a in r.facts.attacks))[::-1]
    named = {(a.attack, a.column): name_of(a) for r in runs for a in r.facts.attacks}
    text = dict(zip(keys, labels([named[k] for k in keys], 26), strict=True))
    figure = columns(len(runs))
    rows: list[dict[str, Any]] = []
    for place, run in enumerate(runs, start=1):
        found = {(a.attack, a.column): a for a in run.facts.attacks}
        here = [(text[k], found[k]) for k in keys if k in found]
        names = [n for n, _ in here]

        def marks(
            values: Sequence[float], title: str, marker: Mapping[str, Any], col: int, on: list[str]
        ) -> None:
            figure.add_trace(
                go.Scatter(
                    x=values,
                    y=on,
                    mode="markers",
                    name=title,
                    legendgroup=title,
                    showlegend=col == 1,
                    marker=marker,
                    hovertemplate=f"{title}: %{{x:.4%}}<extra></extra>",
                ),
                row=1,
                col=col,
            )

        for name, a in here:
            ends = [a.baseline, a.rate, a.raw, a.worst]
            figure.add_trace(
                go.Scatter(
                    x=[min(ends), max(ends)],
                    y=[name, name],
                    mode="lines",
                    line={"color": colours.grid, "width": 2},
                    hoverinfo="skip",
                    showlegend=False,
                ),
                row=1,
                col=place,
            )
        quiet = {"color": colours.original, "size": 12}
        marks([a.raw for _, a in here], "raw copy", quiet | {"symbol": "x"}, place, names)
        marks(
            [a.worst for _, a in here],
            "worst-placed person",
            {"color": run.colour, "symbol": "diamond-open", "size": 13, "line": {"width": 2}},
            place,
            names,
        )
        marks(
            [a.rate for _, a in here],
            "this release",
            {"color": run.colour, "symbol": run.symbol, "size": 12},
            place,
            names,
        )
        marks(
            [a.baseline for _, a in here],
            "guessing",
            quiet | {"symbol": "circle-open", "line": {"width": 2}},
            place,
            names,
        )
        for key in keys:
            if key not in found:
                _undefined(figure, text[key], place, colours)
        figure.update_xaxes(
            range=[-0.03, 1.05],
            tickformat=".0%",
            tickvals=[0, 0.25, 0.5, 0.75, 1],
            title_text="share of people the attacker gets right",
            row=1,
            col=place,
        )
        rows += [_row(a, run if len(runs) > 1 else None) for _, a in reversed(here)]
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(text.values()))
    finish(figure, colours, height=110 + 44 * len(keys), runs=runs, legend=True)
    if len(runs) > 1:
        figure.update_layout(legend={"y": -0.32, "yanchor": "top"}, margin={"t": 30})
    return Chart(
        title="What an attacker gets right",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="Compare the release with guessing (nothing learned from it) and with a raw copy "
        "(nothing protected). The diamond is the person who is placed worst.",
        formats=dict.fromkeys(("rate", "worst", "guessing", "raw copy", "threshold"), "percent"),
    )


def risk_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people are exposed beyond the threshold, attack by attack."""
    import pandas as pd
    import plotly.graph_objects as go

    figure = columns(len(runs))
    rows: list[dict[str, Any]] = []
    keys = list(dict.fromkeys((a.attack, a.column) for r in runs for a in r.facts.attacks))[::-1]
    named = {(a.attack, a.column): name_of(a) for r in runs for a in r.facts.attacks}
    text = dict(zip(keys, labels([named[k] for k in keys], 26), strict=True))
    for place, run in enumerate(runs, start=1):
        found = {(a.attack, a.column): a for a in run.facts.attacks}
        attacks = [found[k] for k in keys if k in found]
        for key in keys:
            if key not in found:
                _undefined(figure, text[key], place, colours)
        share = [a.at_risk / max(a.attempted, 1) for a in attacks]
        figure.add_trace(
            go.Bar(
                x=share,
                y=[text[k] for k in keys if k in found],
                orientation="h",
                marker_color=run.colour,
                text=[
                    f"{a.at_risk:,} ({s:.1%})" if len(runs) == 1 else f"{s:.1%}"
                    for a, s in zip(attacks, share, strict=True)
                ],
                textposition="outside",
                textfont={"color": colours.ink},
                cliponaxis=False,
                customdata=[f"{a.at_risk:,} of {a.attempted:,} people" for a in attacks],
                hovertemplate="%{y}: %{customdata}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            range=[0, 1.75],
            tickformat=".0%",
            tickvals=[0, 0.5, 1],
            title_text="share of people",
            row=1,
            col=place,
        )
        rows += [
            ({"run": run.letter} if len(runs) > 1 else {})
            | {"attack": name_of(a), "people at risk": a.at_risk, "of": a.attempted, "share": s}
            for a, s in zip(attacks[::-1], share[::-1], strict=True)
        ]
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(text.values()))
    finish(figure, colours, height=100 + 32 * len(keys), runs=runs)
    return Chart(
        title="People at risk",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="People whose chance of being picked exceeds your threshold; marketer: everyone, if "
        "the share of right links does; homogeneity: people whose value is certain; membership: "
        "people proven to be in the table, or not decided in time.",
        formats={"share": "percent"},
    )


def _undefined(figure: go.Figure, name: str, place: int, colours: Palette) -> None:
    """Say that an attack was not run on what a run publishes, where others have their marks."""
    figure.add_annotation(
        x=0,
        y=name,
        text="not run: see Results",
        showarrow=False,
        xanchor="left",
        font={"color": colours.muted, "size": 12},
        row=1,
        col=place,
    )


def _row(attack: AttackResult, run: Series | None) -> dict[str, object]:
    row: dict[str, object] = {"run": run.letter} if run is not None else {}
    return row | {
        "attack": name_of(attack),
        "attempted": attack.attempted,
        "eligible": attack.eligible,
        "succeeded": attack.succeeded,
        "rate": attack.rate,
        "worst": attack.worst,
        "guessing": attack.baseline,
        "raw copy": attack.raw,
        "at risk": attack.at_risk,
        "threshold": attack.threshold,
        "estimated": attack.estimated,
    }
