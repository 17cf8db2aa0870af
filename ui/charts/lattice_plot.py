"""A search's lattice, drawn: nodes by height with what became of them, or heights as bars."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.explain.text.phrases import rows
from anon_core.methods.lattice.lattice_picture import FATES, Fate, LatticePicture, Pictured
from anon_core.methods.lattice.nodes import MOST_LISTED
from anon_core.release.problem import Problem
from ui.charts.chart_frame import Chart, Palette, finish, label, write_all

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

#: Names of what became of a node, where the search lists what it looked at.
WORDS: dict[Fate, str] = {
    "satisfied": "satisfied",
    "failed": "failed",
    "must hold": "pruned: must hold",
    "must fail": "pruned: must fail",
    "not looked at": "pruned: not looked at",
}
_SYMBOLS: dict[Fate, str] = {
    "satisfied": "circle",
    "failed": "x",
    "must hold": "circle-open",
    "must fail": "x-thin-open",
    "not looked at": "diamond-open",
}
_PATTERNS: dict[Fate, str] = {
    "satisfied": "",
    "failed": "x",
    "must hold": ".",
    "must fail": "/",
    "not looked at": "",
}
#: Nodes next to each other that still have room for their levels.
_LABELLED = 9
_MOST_TEXT = 24


def level_words(problem: Problem, column: str, level: int) -> str:
    """Return a level of a column with an example of what it says."""
    hierarchy = problem.hierarchies[column]
    if level == 0:
        return f"exact (level 0 of {hierarchy.height})"
    labels = [text for text in hierarchy.labels[level] if text]
    if not labels:
        example = "(missing)"
    elif len(labels) == 1:
        example = labels[0]
    else:
        example = f"{labels[len(labels) // 2]}, …"
    return f"{example} (level {level} of {hierarchy.height})"


def node_name(picture: LatticePicture, node: Pictured) -> str:
    """Return a node's levels in one line."""
    named = zip(picture.columns, node.levels, strict=True)
    return " · ".join(f"{column} {level}" for column, level in named)


def node_numbers(picture: LatticePicture, node: Pictured, metric: str) -> list[str]:
    """Return what is known of a node, a line each; `metric` is the title of its cost."""
    found = [f"height {node.height}"]
    if node.removed is not None:
        found.append(f"{rows(node.removed)} suppressed, at most {picture.budget:,} may be")
    if node.classes is not None:
        found.append(f"{node.classes:,} {'class stays' if node.classes == 1 else 'classes stay'}")
    if node.cost is not None:
        found.append(f"{metric} {node.cost:.6g}")
    if node.removed is None and node.classes is None:
        found.append("not counted")
    return found


def standing(picture: LatticePicture, node: Pictured) -> str:
    """Return in words what became of a node."""
    here = "satisfies the privacy models" if node.holds else "breaks a privacy model"
    fates: dict[Fate, str] = {
        "satisfied": "satisfies the privacy models; searched",
        "failed": "breaks a privacy model; searched",
        "must hold": "pruned: a node below it holds, so it must",
        "must fail": "pruned: a node above it fails, so it must",
        "not looked at": "pruned: the search had no need to look at it"
        + ("" if node.holds is None else f"; it {here}"),
    }
    words = (
        fates[node.fate] if picture.recorded else ("not counted" if node.holds is None else here)
    )
    minimal = "; minimal: nothing below it holds" if node.minimal else ""
    if node.locally_minimal and not node.minimal:
        minimal = "; locally minimal: the lowest that holds on a path from the bottom"
    return ("chosen; " if node.chosen else "") + words + minimal


def node_chart(
    problem: Problem, picture: LatticePicture, metric: str, at: int, colours: Palette
) -> Chart:
    """Return the nodes by height, the most general on top; the node at place `at` has a ring."""
    import plotly.graph_objects as go

    across = _places(picture)
    widest = max(
        sum(n.height == h for n in picture.nodes) for h in {n.height for n in picture.nodes}
    )
    size = 18 if widest <= _LABELLED else 12 if widest <= 24 else 8
    figure = go.Figure()
    _draw_links(figure, picture, across, colours)
    names = [_hover(problem, picture, node, metric) for node in picture.nodes]
    groups: dict[str, list[int]] = defaultdict(list)
    for place, node in enumerate(picture.nodes):
        groups["chosen" if node.chosen else _word(picture, node.fate)].append(place)
    tones = _tones(colours)
    marks = {_word(picture, fate): (_SYMBOLS[fate], tones[fate]) for fate in FATES}
    marks["chosen"] = ("star", colours.ink)
    for word in [w for w in dict.fromkeys([*marks]) if groups[w]]:
        symbol, tone = marks[word]
        own = groups[word]
        figure.add_trace(
            go.Scatter(
                x=[across[i] for i in own],
                y=[picture.nodes[i].height for i in own],
                mode="markers",
                name=word,
                customdata=own,
                hovertext=[names[i] for i in own],
                hovertemplate="%{hovertext}<extra></extra>",
                marker={
                    "symbol": symbol,
                    "color": tone,
                    "size": size * (1.5 if word == "chosen" else 1),
                    "opacity": 1,
                    "line": {"color": tone, "width": 2},
                },
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            )
        )
    for word, symbol, own in _lowest(picture):
        figure.add_trace(
            go.Scatter(
                x=[across[i] for i in own],
                y=[picture.nodes[i].height for i in own],
                mode="markers",
                name=word,
                hoverinfo="skip",
                marker={
                    "symbol": symbol,
                    "color": colours.ink,
                    "size": 1.9 * size,
                    "line": {"color": colours.ink, "width": 1.5},
                },
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[across[at]],
            y=[picture.nodes[at].height],
            mode="markers",
            name="selected",
            hoverinfo="skip",
            marker={
                "symbol": "circle-open",
                "color": colours.sensitive,
                "size": 2 * size,
                "line": {"color": colours.sensitive, "width": 3},
            },
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
    )
    if not picture.whole:
        _label_steps(figure, picture, across, size, colours)
    elif widest <= _LABELLED:
        _label_nodes(figure, picture, across, size, colours)
    heights = sorted({n.height for n in picture.nodes})
    # Slanted labels of neighbours reach out to the right and below.
    figure.update_xaxes(visible=False, range=[-0.06, 1.06 if picture.whole else 1.24])
    figure.update_yaxes(
        title_text="height",
        tickmode="array",
        tickvals=heights,
        range=[heights[0] - 0.6, heights[-1] + 0.6],
        zeroline=False,
        showgrid=False,
    )
    room = min(110 + 56 * len(heights), 700) if picture.whole else 110 + 110 * len(heights)
    finish(figure, colours, height=room, legend=True).update_layout(clickmode="event+select")
    order = ", ".join(picture.columns)
    return Chart(
        title="Every choice of levels"
        if picture.whole
        else "The chosen levels and their neighbours",
        figure=figure,
        numbers=_numbers(picture, metric),
        note=label(
            f"Each sign is a choice of levels ({order}); a line leads to the choice that raises "
            "one column by one level. Higher is more general. Click one to select it."
            + (
                " Squares mark minimal nodes, below which nothing holds; diamonds mark locally "
                "minimal ones, the lowest that hold on a path from the bottom."
                if _lowest(picture)
                else ""
            )
            + ("" if picture.whole else " A label names the column whose level differs.")
        ),
    )


def height_chart(picture: LatticePicture, colours: Palette) -> Chart:
    """Return what share of every height's nodes met which fate, as bars, with their number."""
    import pandas as pd
    import plotly.graph_objects as go

    figure = go.Figure()
    heights = list(range(len(picture.by_height)))
    tones = _tones(colours)
    totals = [sum(here.values()) for here in picture.by_height]
    for fate in FATES:
        counts = [here[fate] for here in picture.by_height]
        if not any(counts):
            continue
        figure.add_trace(
            go.Bar(
                x=[n / max(total, 1) for n, total in zip(counts, totals, strict=True)],
                y=heights,
                orientation="h",
                name=WORDS[fate],
                customdata=list(zip(counts, totals, strict=True)),
                marker={
                    "color": colours.grid if fate == "not looked at" else tones[fate],
                    "line": {"color": tones[fate], "width": 1},
                    # What was looked at is filled, what followed is hatched in its colour.
                    "pattern": {
                        "shape": _PATTERNS[fate],
                        "fillmode": "overlay" if fate == "failed" else "replace",
                        "fgcolor": colours.paper if fate == "failed" else tones[fate],
                        "size": 6,
                    },
                },
                hovertemplate="height %{y}<br>%{customdata[0]:,} of %{customdata[1]:,} "
                f"{WORDS[fate]}<extra></extra>",
            )
        )
    chosen = next(n for n in picture.nodes if n.chosen)
    figure.add_trace(
        go.Scatter(
            x=[1.04],
            y=[chosen.height],
            mode="markers",
            name="chosen height",
            marker={"symbol": "star", "color": colours.ink, "size": 14},
            hovertemplate=f"the chosen levels have height {chosen.height}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[1.08] * len(heights),
            y=heights,
            mode="text",
            text=[f"{total:,}" for total in totals],
            textposition="middle right",
            textfont={"color": colours.muted, "size": 11},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.update_xaxes(
        title_text="share of the height's choices of levels, and their number",
        tickformat=".0%",
        tickvals=[0, 0.25, 0.5, 0.75, 1],
        range=[0, 1.25],
    )
    figure.update_yaxes(
        title_text="height", dtick=1 if len(heights) <= 20 else 5, showgrid=False, zeroline=False
    )
    finish(figure, colours, height=min(100 + 22 * len(heights), 620), legend=True)
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    return Chart(
        title=f"The lattice by height: {picture.size:,} choices of levels",
        figure=figure,
        numbers=pd.DataFrame(
            [
                {"height": h, **{WORDS[fate]: here[fate] for fate in FATES}}
                for h, here in enumerate(picture.by_height)
            ]
        ),
        note=(
            "Pruned choices were not looked at: another choice decided them, or a bound "
            "showed that they cannot be better."
        )
        + _only_first(picture),
    )


def _only_first(picture: LatticePicture) -> str:
    looked = sum(here["satisfied"] + here["failed"] for here in picture.by_height)
    if looked < MOST_LISTED:
        return ""
    return f" Of those it looked at, only the first {MOST_LISTED:,} are known here."


def _places(picture: LatticePicture) -> list[float]:
    """Return where each node is from left (0) to right (1), its row centred."""
    by_height: dict[int, list[int]] = defaultdict(list)
    for place, node in enumerate(picture.nodes):
        by_height[node.height].append(place)
    widest = max(len(row) for row in by_height.values())
    found = [0.5] * len(picture.nodes)
    for row in by_height.values():
        for i, place in enumerate(row):
            found[place] = 0.5 + (i - (len(row) - 1) / 2) / max(widest - 1, 1)
    return found


def _tones(colours: Palette) -> dict[Fate, str]:
    return {
        "satisfied": colours.quasi,
        "failed": colours.warning,
        "must hold": colours.quasi,
        "must fail": colours.warning,
        "not looked at": colours.muted,
    }


def _word(picture: LatticePicture, fate: Fate) -> str:
    if picture.recorded or fate != "not looked at":
        return WORDS[fate]
    return "not counted"


def _mark(node: Pictured) -> str:
    if node.minimal:
        return ", minimal"
    return ", locally minimal" if node.locally_minimal else ""


def _lowest(picture: LatticePicture) -> list[tuple[str, str, list[int]]]:
    """Return the lowest nodes that hold, over the whole lattice and of single paths only."""
    minimal = [i for i, node in enumerate(picture.nodes) if node.minimal]
    local = [i for i, node in enumerate(picture.nodes) if node.locally_minimal and not node.minimal]
    found = [("minimal", "square-open", minimal), ("locally minimal", "diamond-open", local)]
    return [one for one in found if one[2]]


def _draw_links(
    figure: go.Figure, picture: LatticePicture, across: list[float], colours: Palette
) -> None:
    import plotly.graph_objects as go

    x: list[float | None] = []
    y: list[float | None] = []
    for low, high in picture.links:
        x += [across[low], across[high], None]
        y += [picture.nodes[low].height, picture.nodes[high].height, None]
    line = {"color": colours.grid, "width": 1}
    figure.add_trace(
        go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    )


def _label_nodes(
    figure: go.Figure, picture: LatticePicture, across: list[float], size: int, colours: Palette
) -> None:
    texts = [
        {
            "x": across[place],
            "y": node.height,
            "text": "·".join(str(level) for level in node.levels),
            "yshift": -size - (10 if node.chosen else 2),
            "font": {"color": colours.muted, "size": 11},
        }
        for place, node in enumerate(picture.nodes)
    ]
    write_all(figure, texts)


def _label_steps(
    figure: go.Figure, picture: LatticePicture, across: list[float], size: int, colours: Palette
) -> None:
    """Say at each neighbour of the chosen node which column is at another level there."""
    chosen = next(node for node in picture.nodes if node.chosen)
    texts: list[dict[str, object]] = []
    for place, node in enumerate(picture.nodes):
        steps = [
            f"{label(column, _MOST_TEXT)} {level}"
            for column, level, own in zip(picture.columns, node.levels, chosen.levels, strict=True)
            if level != own
        ]
        if steps:
            texts.append(
                {
                    "x": across[place],
                    "y": node.height,
                    "text": ", ".join(steps),
                    "textangle": 32,
                    "xanchor": "left",
                    "yanchor": "top",
                    "xshift": 2,
                    "yshift": -size // 2,
                    "font": {"color": colours.muted, "size": 11},
                }
            )
    write_all(figure, texts)


def _hover(problem: Problem, picture: LatticePicture, node: Pictured, metric: str) -> str:
    lines = [
        f"<b>{label(column, _MOST_TEXT)}</b> {label(level_words(problem, column, level), 48)}"
        for column, level in zip(picture.columns, node.levels, strict=True)
    ]
    parts = [*node_numbers(picture, node, metric), standing(picture, node)]
    return "<br>".join([*lines, *(label(line) for line in parts)])


def _numbers(picture: LatticePicture, metric: str) -> pd.DataFrame:
    import pandas as pd

    found: list[dict[str, Any]] = []
    for node in picture.nodes:
        levels = dict(zip(picture.columns, node.levels, strict=True))
        found.append(
            {
                **{f"level of {column}": level for column, level in levels.items()},
                "height": node.height,
                "outcome": ("chosen, " if node.chosen else "")
                + _word(picture, node.fate)
                + _mark(node),
                ROWS_SUPPRESSED: node.removed,
                "classes": node.classes,
                metric: node.cost,
            }
        )
    return pd.DataFrame(found)
