"""Boxes instead of places, drawn: who is hidden, who is exposed, whose request expired."""

from __future__ import annotations

from anon_core.methods.other_data.cloaks import Asked, Cloaked
from anon_core.methods.other_data.places import Box, senders
from ui.charts.chart_frame import Chart, Palette, finish, label

#: People who are drawn at most.
MOST = 500


def places_chart(asked: Asked, made: Cloaked, k: int, colours: Palette, *, title: str) -> Chart:
    """Return a picture of one technique's boxes.

    Parameters
    ----------
    k : int
        Of everyone, where the table gives no one a k.
    """
    import pandas as pd
    import plotly.graph_objects as go

    wanted = asked.k_of(k)
    sent = senders(made.boxes)
    few = {box for box, people in sent.items() if any(len(people) < wanted[n] for n in people)}
    figure = go.Figure()
    for exposed in (False, True):
        own = [box for box in sent if (box in few) == exposed]
        colour = colours.warning if exposed else colours.quasi
        if own:
            figure.add_trace(
                go.Scatter(
                    x=[x for box in own for x in (*_corners(box, 0), None)],
                    y=[y for box in own for y in (*_corners(box, 1), None)],
                    mode="lines",
                    name="fewer than k could have sent it" if exposed else "k could have sent it",
                    line={"color": colour, "width": 1.5, "dash": "dash" if exposed else "solid"},
                    opacity=0.8,
                    hoverinfo="skip",
                )
            )
    kind = {n: "exposed" if box in few else "hidden" for n, box in made.boxes.items()}
    looks = {
        "hidden": ("circle", colours.quasi, 7),
        "exposed": ("diamond", colours.warning, 11),
        "expired": ("x", colours.muted, 8),
    }
    for name, (symbol, colour, size) in looks.items():
        people = [n for n in asked.texts if kind.get(n, "expired") == name]
        if people:
            figure.add_trace(
                go.Scatter(
                    x=[float(asked.texts[n][0]) for n in people],
                    y=[float(asked.texts[n][1]) for n in people],
                    mode="markers",
                    name=name,
                    marker={"symbol": symbol, "color": colour, "size": size},
                    text=[_said(n, made, sent) for n in people],
                    hovertemplate="%{text}<extra></extra>",
                )
            )
    finish(figure, colours, height=400, legend=True)
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    numbers = pd.DataFrame(
        [[*map(float, box), len(people), box in few] for box, people in sent.items()],
        columns=["left", "lower", "right", "upper", "possible senders", "exposed"],
    )
    return Chart(title=title, figure=figure, numbers=numbers)


def _corners(box: Box, axis: int) -> list[float]:
    low, high = float(box[axis]), float(box[axis + 2])
    return [low, high, high, low, low] if axis == 0 else [low, low, high, high, low]


def _said(name: str, made: Cloaked, sent: dict[Box, list[str]]) -> str:
    own = label(name, 30)
    if name not in made.boxes:
        return f"{own}: the request expired"
    return f"{own}: {len(sent[made.boxes[name]])} could have sent the box"
