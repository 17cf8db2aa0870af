"""A network of people, drawn small: who is unique by the number of ties, and new vertices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from anon_core.methods.other_data.networks import Network
from ui.charts.chart_frame import Chart, Palette, finish, label

#: Vertices that are drawn at most.
MOST = 300
Places = Mapping[int, tuple[float, float]]


def places(network: Network) -> Places:
    """Return where each vertex is drawn: the same network has the same places."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(network.names)))
    graph.add_edges_from(network.edges)
    return {v: (float(x), float(y)) for v, (x, y) in networkx.spring_layout(graph, seed=1).items()}


def network_chart(
    network: Network,
    people: int,
    at: Places,
    colours: Palette,
    classes: Sequence[Hashable] = (),
    *,
    title: str,
) -> Chart:
    """Return a picture of a network.

    Parameters
    ----------
    people : int
        The first so many vertices are people; new ones follow.
    at : mapping of int to (x, y)
        As `places` returns them, of this network or a larger one.
    classes : sequence of hashables, optional
        What others know of each vertex; its degree by default.
    """
    import pandas as pd
    import plotly.graph_objects as go

    degrees = network.degrees()
    often, alike = Counter(degrees), Counter(classes or degrees)
    kinds = [
        "new vertex" if v >= people else "unique" if alike[own] == 1 else "hidden"
        for v, own in enumerate(classes or degrees)
    ]
    figure = go.Figure()
    for new in (False, True):
        ends = [e for e in network.edges if (max(e) >= people) == new]
        figure.add_trace(
            go.Scatter(
                x=[x for a, b in ends for x in (at[a][0], at[b][0], None)],
                y=[y for a, b in ends for y in (at[a][1], at[b][1], None)],
                mode="lines",
                line={"color": colours.muted, "width": 1, "dash": "dot" if new else "solid"},
                opacity=0.6,
                hoverinfo="skip",
                showlegend=False,
            )
        )
    looks = {
        "hidden": ("circle", colours.quasi, 9),
        "unique": ("diamond", colours.warning, 13),
        "new vertex": ("square-open", colours.ink, 11),
    }
    for kind, (symbol, colour, size) in looks.items():
        own = [v for v, k in enumerate(kinds) if k == kind]
        if not own:
            continue
        figure.add_trace(
            go.Scatter(
                x=[at[v][0] for v in own],
                y=[at[v][1] for v in own],
                mode="markers",
                name=kind,
                marker={
                    "symbol": symbol,
                    "color": colour,
                    "size": size,
                    "line": {"width": 2 if kind == "new vertex" else 0, "color": colour},
                },
                text=[
                    f"{label(network.names[v], 30) or 'new vertex'}: {degrees[v]} ties" for v in own
                ],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    finish(figure, colours, height=350, legend=True)
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(xaxis=hidden, yaxis=hidden)
    numbers = pd.DataFrame(
        {
            "ties": sorted(often),
            "people": [sum(d == n for d in degrees[:people]) for n in sorted(often)],
            "new vertices": [sum(d == n for d in degrees[people:]) for n in sorted(often)],
        }
    )
    return Chart(title=title, figure=figure, numbers=numbers)
