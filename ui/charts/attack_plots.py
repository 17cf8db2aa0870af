"""Charts of attacks: what an attacker gets right, against guessing and against the raw table."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anon_core.base.registry import family
from anon_core.release.attack_result import AttackResult
from anon_core.words.phrases import share
from anon_core.words.tiles import proven

from .chart_frame import (
    Chart,
    Palette,
    Series,
    columns,
    finish,
    in_the_middle,
    label,
    two_lines,
    write_all,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go


#: An attack, and the sensitive column it is on, if any.
Key = tuple[str, str]
_WRAP = 38
_WIDE = 24  # letters in a line of an attack's name
_BELOW = 60  # pixels from the axis to a legend below it
_AXIS = (-0.03, 1.05)  # of shares, with room for marks at both ends


def title_of(attack: str, column: str = "") -> str:
    """Return an attack's name for people, with the sensitive column where it has one."""
    short = family("attack")[attack].title.removesuffix(" re-identification")
    return f"{short}: {column}" if column else short


def name_of(result: AttackResult) -> str:
    """Return the name of a result's attack for people."""
    return title_of(result.attack, result.column)


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """The lines of a chart of attacks, from the bottom, and their labels.

    Attacks that no run could be attacked with have no line, but stand among the numbers.
    """

    text: Mapping[Key, str]
    untried: Sequence[str]  # attacks that no run was attacked with
    colours: Palette
    wrapped: bool  # one run has room for the reason

    def absent(self, figure: go.Figure, run: Series, place: int) -> list[dict[str, object]]:
        """Say on the line of each attack that was not run why; return it as rows of numbers."""
        found = {(a.attack, a.column): a for a in run.facts.attacks}
        rows: list[dict[str, object]] = []
        texts: list[dict[str, object]] = []
        for key, name in reversed(list(self.text.items())):
            own = found.get(key)
            if own is not None and not own.idle:
                continue
            # Where nobody could be attacked a mark at 0 would look like protection.
            what = "not run" if own is None else "nobody to attack"
            why = run.facts.not_run.get(key[0], "It has no result in this run.")
            why = why if own is None else own.sentence
            lines = textwrap.wrap(f"{what}: {why}", _WRAP) if self.wrapped else [what]
            texts.append(
                {
                    "x": 0,
                    "y": name,
                    "text": "<br>".join(label(line) for line in lines),
                    "hovertext": "<br>".join(label(line) for line in textwrap.wrap(why, 60)),
                    "xanchor": "left",
                    "align": "left",
                    "font": {"color": self.colours.muted, "size": 11 if self.wrapped else 12},
                    "bgcolor": self.colours.paper,  # no line of the grid runs through words
                }
            )
            rows.append({"attack": title_of(*key), what: why})
        write_all(figure, texts, place)
        whys = {n: run.facts.not_run[n] for n in self.untried if n in run.facts.not_run}
        return rows + [{"attack": title_of(n), "not run": why} for n, why in whys.items()]


def _lines(runs: Sequence[Series], colours: Palette, *, wrapped: bool) -> _Lines:
    keys: dict[Key, None] = dict.fromkeys(
        (a.attack, a.column) for r in runs for a in r.facts.attacks
    )
    upwards = list(keys)[::-1]
    names = two_lines([title_of(*key) for key in upwards], _WIDE)
    return _Lines(
        text=dict(zip(upwards, names, strict=True)),
        untried=untried(runs),
        colours=colours,
        wrapped=wrapped and len(runs) == 1,
    )


def untried(runs: Sequence[Series]) -> list[str]:
    """Return the names of the attacks that none of the runs was attacked with."""
    ran = {a.attack for r in runs for a in r.facts.attacks}
    return list(dict.fromkeys(n for r in runs for n in r.facts.not_run if n not in ran))


def attack_dots(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return rate, worst case, guessing and raw copy of every attack on one axis."""
    import pandas as pd
    import plotly.graph_objects as go

    lines = _lines(runs, colours, wrapped=True)
    text = lines.text
    figure = columns(len(runs))
    rows: list[dict[str, Any]] = []
    told_open = told_certain = False
    for place, run in enumerate(runs, start=1):
        found = {(a.attack, a.column): a for a in run.facts.attacks if not a.idle}
        here = [(text[k], found[k]) for k in text if k in found]
        names = [n for n, _ in here]

        def marks(
            values: Sequence[float],
            title: str,
            marker: Mapping[str, Any],
            col: int,
            on: list[str],
            *,
            listed: bool | None = None,
        ) -> None:
            figure.add_trace(
                go.Scatter(
                    x=values,
                    y=on,
                    mode="markers",
                    name=title,
                    legendgroup=title,
                    showlegend=col == 1 if listed is None else listed,
                    marker=marker,
                    hovertemplate=f"{title}: %{{x:.4%}}<extra></extra>",
                ),
                row=1,
                col=col,
            )

        for name, a in here:
            ends = [a.baseline, a.rate, a.raw, a.worst]
            # A thin line marks the row; rows that hold words in place of marks have none.
            for x, width in ((_AXIS, 1), ((min(ends), max(ends)), 2)):
                figure.add_trace(
                    go.Scatter(
                        x=list(x),
                        y=[name, name],
                        mode="lines",
                        line={"color": colours.grid, "width": width},
                        hoverinfo="skip",
                        showlegend=False,
                    ),
                    row=1,
                    col=place,
                )
        for name, a in here:
            if a.undecided and a.interval is not None:
                figure.add_trace(
                    go.Scatter(
                        x=list(a.interval),
                        y=[name, name],
                        mode="lines",
                        name="not decided in time; treated as exposed",
                        legendgroup="undecided",
                        showlegend=not told_open,
                        line={"color": run.colour, "width": 7, "dash": "2px,2px"},
                        hovertemplate=f"{a.open_words}<extra></extra>",
                    ),
                    row=1,
                    col=place,
                )
                told_open = True
        quiet = {"color": colours.original, "size": 12}
        marks([a.raw for _, a in here], "raw copy", quiet | {"symbol": "x"}, place, names)
        open_ = {"symbol": "diamond-open", "size": 13, "line": {"width": 2}}
        sure = [(n, a) for n, a in here if proven(a)]
        least = [(n, a) for n, a in here if not proven(a)]
        marks(
            [a.worst for _, a in least],
            "worst-placed person",
            {"color": run.colour} | open_,
            place,
            [n for n, _ in least],
        )
        if sure:  # whatever the run's colour is, it is no neutral outcome
            marks(
                [a.worst for _, a in sure],
                "certain for someone",
                {"color": colours.warning, "symbol": "diamond", "size": 13},
                place,
                [n for n, _ in sure],
                listed=not told_certain,
            )
            told_certain = True
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
        figure.update_xaxes(
            range=list(_AXIS),
            tickformat=".0%",
            tickvals=[0, 0.25, 0.5, 0.75, 1],
            title_text=in_the_middle("share of people the attacker gets right", place, len(runs)),
            row=1,
            col=place,
        )
        told = [_row(a) for _, a in reversed(here)] + lines.absent(figure, run, place)
        rows += [({"run": run.letter} if len(runs) > 1 else {}) | row for row in told]
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=list(text.values()), showgrid=False
    )
    tall = 54 if lines.wrapped and any(a.idle for r in runs for a in r.facts.attacks) else 44
    finish(figure, colours, height=110 + tall * len(text), runs=runs, legend=True)
    if len(runs) > 1:
        # Below the axis and its title, however many attacks there are.
        below = -_BELOW / (tall * len(text))
        figure.update_layout(legend={"y": below, "yanchor": "top"}, margin={"t": 30})
    return Chart(
        title="What an attacker gets right",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="Compare the release with guessing (nothing learned from it) and with a raw copy "
        "(nothing protected). The diamond is the person who is placed worst, full where the "
        "attacker is certain. Whoever was not decided in time is treated as exposed, and counts.",
        formats=dict.fromkeys(("rate", "worst", "guessing", "raw copy", "threshold"), "percent"),
    )


def risk_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people are exposed beyond the threshold, attack by attack."""
    import pandas as pd
    import plotly.graph_objects as go

    figure = columns(len(runs))
    rows: list[dict[str, Any]] = []
    lines = _lines(runs, colours, wrapped=False)
    text = lines.text
    for place, run in enumerate(runs, start=1):
        found = {(a.attack, a.column): a for a in run.facts.attacks if not a.idle}
        attacks = [found[k] for k in text if k in found]
        absent = lines.absent(figure, run, place)
        shares = [a.at_risk / max(a.attempted, 1) for a in attacks]
        figure.add_trace(
            go.Bar(
                x=shares,
                y=[name for k, name in text.items() if k in found],
                orientation="h",
                marker_color=run.colour,
                text=[
                    (f"{a.at_risk:,} ({share(s)})" if len(runs) == 1 else share(s))
                    + (f"<br>{a.undecided:,} not decided" if a.undecided else "")
                    for a, s in zip(attacks, shares, strict=True)
                ],
                textposition="outside",
                textfont={"color": colours.ink},
                cliponaxis=False,
                customdata=[
                    f"{a.at_risk:,} of {a.attempted:,} people"
                    + (f"; {a.open_words}" if a.undecided else "")
                    for a in attacks
                ],
                hovertemplate="%{y}: %{customdata}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            range=[0, 1.75],
            tickformat=".0%",
            tickvals=[0, 0.5, 1],
            title_text=in_the_middle("share of people", place, len(runs)),
            row=1,
            col=place,
        )
        told: list[dict[str, object]] = [
            {
                "attack": name_of(a),
                "people at risk": a.at_risk,
                "of": a.attempted,
                "share": s,
                "not decided": a.undecided,
            }
            for a, s in zip(attacks[::-1], shares[::-1], strict=True)
        ]
        rows += [({"run": run.letter} if len(runs) > 1 else {}) | row for row in told + absent]
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=list(text.values()), showgrid=False
    )
    finish(figure, colours, height=100 + 36 * len(text), runs=runs)
    return Chart(
        title="People at risk",
        figure=figure,
        numbers=pd.DataFrame(rows),
        note="People whose chance of being picked exceeds your threshold; marketer: everyone, if "
        "the share of right links does; homogeneity and attribute inference: people whose value is "
        "certain; fake tuples: people of groups that could hold no fake one; membership: people "
        "proven to be in the table, or not decided in time.",
        formats={"share": "percent"},
    )


def _row(attack: AttackResult) -> dict[str, object]:
    return {
        "attack": name_of(attack),
        "attempted": attack.attempted,
        "eligible": attack.eligible,
        "succeeded": attack.succeeded,
        "not decided": attack.undecided,
        "rate": attack.rate,
        "worst": attack.worst,
        "guessing": attack.baseline,
        "raw copy": attack.raw,
        "at risk": attack.at_risk,
        "threshold": attack.threshold,
        "estimated": attack.estimated,
        "upper bound": attack.upper_bound,
    }
