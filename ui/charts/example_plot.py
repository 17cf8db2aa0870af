"""Made-up groups side by side: some that keep a privacy model, some that break it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anon_core.contracts.example_groups import Example
from anon_core.contracts.model import GroupModel
from ui.charts.chart_frame import Chart, Palette, columns, finish, labels
from ui.state.result_view import shown

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 10
_SIGNS = {True: "✓ keeps it", False: "✗ breaks it"}


def example_chart(
    model: GroupModel,
    kept: Example | None,
    broken: Example | None,
    colours: Palette,
    concerned: Sequence[str] = (),
) -> Chart:
    """Return the groups as bars, with what each side comes to next to what is asked.

    Parameters
    ----------
    model : GroupModel
    kept, broken : Example or None
        One of them at least.
    colours : Palette
    concerned : sequence of str
        Sensitive columns that the privacy model is about; groups show values of the first.
    """
    sides = [one for one in (kept, broken) if one is not None]
    figure = columns(len(sides))
    if concerned:
        table, height = _values(figure, sides, colours, concerned[0])
    else:
        table, height = _sizes(figure, sides, colours)
    finish(figure, colours, height=height)
    figure.update_layout(margin={"t": 30}, bargap=0.35)
    for place, side in enumerate(sides, start=1):
        figure.add_annotation(
            text=f"<b>{_SIGNS[side.holds]}</b>",
            x=0,
            xref="x domain" if place == 1 else f"x{place} domain",
            y=1.0,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"color": colours.ink if side.holds else colours.warning, "size": 14},
        )
    return Chart(
        title=f"What {model.title} lets pass, and what not",
        figure=figure,
        numbers=table,
        note=" ".join(
            [
                *(f"{_SIGNS[side.holds].capitalize()}: {side.why}" for side in sides),
                "Illustrative classes, not from your table, evaluated with the model itself.",
            ]
        ),
    )


def _values(
    figure: Any, sides: Sequence[Example], colours: Palette, column: str
) -> tuple[pd.DataFrame, int]:
    import pandas as pd
    import plotly.graph_objects as go

    every = list(dict.fromkeys(value for side in sides for value, _ in side.values))
    rows = [dict(side.values) for side in sides]
    # What differs between the sides is shown before what is only common.
    few = sorted(every, key=lambda v: (_same(v, rows), -max(side.get(v, 0) for side in rows)))
    few = few[:_MOST_VALUES]
    drawn = [value for value in every if value in few]
    rest = len(every) - len(drawn)
    names = labels([shown(value) for value in drawn], 16)
    if rest:
        names.append(f"{rest} other {'value' if rest == 1 else 'values'}")
    frame = pd.DataFrame({column: names})
    for place, (side, own) in enumerate(zip(sides, rows, strict=True), start=1):
        counts = [own.get(value, 0) for value in drawn]
        if rest:
            counts.append(sum(own.values()) - sum(counts))
        frame[_SIGNS[side.holds]] = counts
        figure.add_trace(
            go.Bar(
                x=counts,
                y=names,
                orientation="h",
                text=[str(n) if n else "" for n in counts],
                textposition="outside",
                cliponaxis=False,
                marker=_marker([side.holds] * len(names), colours, colours.sensitive),
                hovertemplate="%{y}: %{x} rows<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(
            title_text=f"rows, of {side.sizes[0]:,}",
            range=[0, 1.18 * max(1, *counts)],
            row=1,
            col=place,
        )
    figure.update_yaxes(type="category", autorange="reversed")
    return frame, 100 + 24 * len(names)


def _same(value: str, rows: Sequence[Mapping[str, int]]) -> bool:
    return len({side.get(value, 0) for side in rows}) == 1


def _sizes(figure: Any, sides: Sequence[Example], colours: Palette) -> tuple[pd.DataFrame, int]:
    import pandas as pd
    import plotly.graph_objects as go

    tables: list[pd.DataFrame] = []
    highest = max(max(*side.sizes, *side.people, 1) for side in sides)
    for place, side in enumerate(sides, start=1):
        if side.people:
            names, counts = ["in the release", "in the public table"], [*side.sizes, *side.people]
            each, noun = [side.holds] * 2, "people"
        else:
            names = [f"class {number}" for number in range(1, len(side.sizes) + 1)]
            counts, noun = list(side.sizes), "rows"
            # Where no class breaks it by itself, all of them do together.
            each = list(side.each) if side.holds or not all(side.each) else [False] * len(names)
        tables.append(pd.DataFrame({"": _SIGNS[side.holds], "class": names, noun: counts}))
        figure.add_trace(
            go.Bar(
                x=names,
                y=counts,
                text=[f"{n:,}" for n in counts],
                textposition="outside",
                cliponaxis=False,
                marker=_marker(each, colours, colours.quasi),
                hovertemplate=f"%{{x}}: %{{y:,}} {noun}<extra></extra>",
            ),
            row=1,
            col=place,
        )
        figure.update_xaxes(type="category", row=1, col=place)
        figure.update_yaxes(title_text=noun if place == 1 else "", row=1, col=place)
    figure.update_yaxes(range=[0, 1.2 * highest])
    return pd.concat(tables, ignore_index=True), 210


def _marker(good: Sequence[bool], colours: Palette, colour: str) -> dict[str, Any]:
    """Return how bars are filled: what breaks the model is hatched in the warning colour."""
    return {
        "color": [colour if one else colours.warning for one in good],
        "pattern": {"shape": ["" if one else "/" for one in good], "solidity": 0.4},
    }
