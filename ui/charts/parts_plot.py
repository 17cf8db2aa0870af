"""The parts of a release over two columns: rows as points, what each part covers as a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anon_core.explain.text.phrases import rows
from anon_core.methods.partition.parts_picture import Axis, Box, PartsPicture
from anon_core.release.problem import Problem
from ui.charts.chart_frame import Chart, Palette, finish, label, labels
from ui.state.result_view import shown

if TYPE_CHECKING:
    import pandas as pd

#: Diameter in pixels of the point with most rows.
_LARGEST = 22
_MOST_TEXT = 18
#: Rectangles above which lines are thinner.
_MANY = 150


def parts_chart(
    problem: Problem, picture: PartsPicture, noun: tuple[str, str], colours: Palette
) -> Chart:
    """Return the cuts over two columns; `noun` is what parts are called, one and many."""
    import plotly.graph_objects as go

    across, up = picture.across, picture.up
    figure = go.Figure()
    most = max((n for _, _, n in picture.points), default=1)
    largest = min(_LARGEST, 6 * most**0.5)
    figure.add_trace(
        go.Scatter(
            x=[x for x, _, _ in picture.points],
            y=[y for _, y, _ in picture.points],
            mode="markers",
            name="rows",
            customdata=[rows(n) for _, _, n in picture.points],
            hovertemplate="%{customdata} here<extra></extra>",
            marker={
                "color": colours.original,
                "opacity": 0.55,
                "size": [max(4.0, largest * (n / most) ** 0.5) for _, _, n in picture.points],
                "line": {"width": 0},
            },
        )
    )
    x: list[float | None] = []
    y: list[float | None] = []
    for box in picture.boxes:
        left, right = _sides(across, box.across)
        low, high = _sides(up, box.up)
        x += [left, right, right, left, left, None]
        y += [low, low, high, high, low, None]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            name=f"what {noun[1]} cover",
            line={"color": colours.quasi, "width": 1.5 if len(picture.boxes) <= _MANY else 1},
            opacity=1 if len(picture.boxes) <= _MANY else 0.6,
            hoverinfo="skip",
        )
    )
    # Numbers of a rectangle are read at its middle.
    figure.add_trace(
        go.Scatter(
            x=[sum(_sides(across, box.across)) / 2 for box in picture.boxes],
            y=[sum(_sides(up, box.up)) / 2 for box in picture.boxes],
            mode="markers",
            marker={"color": colours.quasi, "symbol": "square", "size": 12, "opacity": 0},
            hovertext=[_hover(problem, picture, box, noun) for box in picture.boxes],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(**_axis(across, [box.across for box in picture.boxes]))
    figure.update_yaxes(**_axis(up, [box.up for box in picture.boxes]))
    finish(figure, colours, height=460, legend=True)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(showgrid=False, zeroline=False)
    return Chart(
        title=f"“{across.column}” and “{up.column}”: what {noun[1]} cover",
        figure=figure,
        numbers=_numbers(problem, picture, noun),
        note=_note(picture, noun),
    )


def _note(picture: PartsPicture, noun: tuple[str, str]) -> str:
    said = [
        f"A rectangle is what {noun[1]} cover of these two columns. If other columns "
        "are cut as well, rectangles overlap unless you show one slice. Larger points "
        "hold more rows."
    ]
    if picture.all_boxes > len(picture.boxes):
        said.append(
            f"Of {picture.all_boxes:,} rectangles, the {len(picture.boxes):,} with most rows are "
            "drawn."
        )
    if picture.gathered:
        said.append("Neighbouring values share a point, since there are very many.")
    return " ".join(said)


def _sides(axis: Axis, span: tuple[int, int]) -> tuple[float, float]:
    return axis.edges[span[0]], axis.edges[span[1] + 1]


def _axis(axis: Axis, spans: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the look of an axis; values of the hierarchy that nothing covers stay outside."""
    sides = [_sides(axis, span) for span in spans] or [(axis.edges[0], axis.edges[-1])]
    first, last = min(low for low, _ in sides), max(high for _, high in sides)
    margin = (last - first) * 0.01
    found: dict[str, Any] = {
        "title_text": label(axis.column, 40),
        "range": [first - margin, last + margin],
        # Else a slanted text at the end of an axis is left out for the margin it needs.
        "ticklabeloverflow": "allow",
    }
    if axis.ticks:
        found |= {
            "tickmode": "array",
            "tickvals": [place for place, _ in axis.ticks],
            "ticktext": labels([shown(text) for _, text in axis.ticks], _MOST_TEXT),
        }
    return found


def _hover(problem: Problem, picture: PartsPicture, box: Box, noun: tuple[str, str]) -> str:
    spans = ((picture.across.column, box.across), (picture.up.column, box.up))
    lines = [
        f"<b>{label(name, _MOST_TEXT)}</b> {' to '.join(label(t, _MOST_TEXT) for t in texts)}"
        for name, span in spans
        if (texts := dict.fromkeys(_texts(problem, name, span)))
    ]
    many = noun[0] if box.parts == 1 else noun[1]
    return "<br>".join([*lines, f"{rows(box.rows)} in {box.parts:,} {many}"])


def _texts(problem: Problem, name: str, span: tuple[int, int]) -> tuple[str, str]:
    leaves = problem.hierarchies[name].leaves
    return shown(leaves[span[0]]), shown(leaves[span[1]])


def _numbers(problem: Problem, picture: PartsPicture, noun: tuple[str, str]) -> pd.DataFrame:
    import pandas as pd

    found: list[dict[str, object]] = []
    for box in picture.boxes:
        row: dict[str, object] = {}
        for name, span in ((picture.across.column, box.across), (picture.up.column, box.up)):
            row[f"{name}: from"], row[f"{name}: to"] = _texts(problem, name, span)
        found.append({**row, f"number of {noun[1]}": box.parts, "number of rows": box.rows})
    return pd.DataFrame(found)
