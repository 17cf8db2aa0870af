"""Charts whose bars and cells are classes that can be chosen: what is chosen stands out in each.

They are drawn from counts by bin, never from rows, so that a table of a million rows is as small
in the browser as one of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..session.result_view import Facts
from .chart_frame import FONT, Palette
from .size_bins import binned, size_edges

if TYPE_CHECKING:
    import pandas as pd

#: Upper ends of the bins of a share; what is 0 and what is 1 have bins of their own.
_ENDS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1 - 1e-12)
_SHARES = ("0", "to 1%", "to 5%", "to 10%", "to 20%", "to 50%", "below 1", "1")
#: The name of the selection that a click makes.
PICK = "pick"
_PICKS = {"name": PICK, "select": {"type": "point", "fields": ["what", "bin"], "toggle": False}}


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """What is told of every class, in bins.

    Attributes
    ----------
    name : str
    bins : tuple of str
        From the lowest to the highest.
    place : int64 array of shape (classes,)
        The bin of each class; -1 has none.
    """

    name: str
    bins: tuple[str, ...]
    place: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkedChart:
    """A chart with its words and its numbers, as `Chart`; the figure is what Vega-Lite draws.

    It is written down as it is sent: made and checked by Altair, each took 50 ms at every draw.
    """

    title: str
    figure: dict[str, Any]
    numbers: pd.DataFrame
    note: str = ""
    formats: dict[str, str] = field(default_factory=dict[str, str])


def size_spread(facts: Facts) -> Spread:
    """Return the classes by what hides a person in them: rows, or distinct people."""
    edges = size_edges([facts.least], int(facts.hiding.max(initial=1)))
    labels = tuple(binned(facts.hiding, edges).iloc[:, 0])
    place = np.searchsorted(np.array(edges), facts.hiding, side="right") - 1
    return Spread(name=f"size of the {facts.noun[0]}", bins=labels, place=place.astype(np.int64))


def share_spread(name: str, values: npt.NDArray[np.float64]) -> Spread:
    """Return the classes by a share or a chance, 0 to 1."""
    place = np.searchsorted(np.array(_ENDS), values, side="left").astype(np.int64)
    return Spread(name=name, bins=_SHARES, place=np.where(np.isfinite(values), place, -1))


def counts(facts: Facts, spreads: Sequence[Spread], chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return a row for each bin of each spread: its classes, its people, and the chosen of both."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for spread in spreads:
        here = spread.place >= 0
        place, bins = spread.place[here], len(spread.bins)
        mine, people = chosen[here], facts.hiding[here]
        parts.append(
            pd.DataFrame(
                {
                    "what": spread.name,
                    "bin": list(spread.bins),
                    facts.noun[1]: np.bincount(place, minlength=bins),
                    "people": np.bincount(place, people, bins).astype(np.int64),
                    f"chosen {facts.noun[1]}": np.bincount(place[mine], minlength=bins),
                    "chosen people": np.bincount(place[mine], people[mine], bins).astype(np.int64),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def picked(spreads: Sequence[Spread], what: str, label: str) -> tuple[npt.NDArray[np.int64], str]:
    """Return the classes of a bin that was clicked, and what they are in words."""
    for spread in spreads:
        if spread.name == what and label in spread.bins:
            at = spread.bins.index(label)
            return np.flatnonzero(spread.place == at).astype(np.int64), f"{what}: {label}"
    return np.empty(0, dtype=np.int64), ""


def bars(
    facts: Facts, spread: Spread, chosen: npt.NDArray[np.bool_], colours: Palette, colour: str
) -> LinkedChart:
    """Return the people of every bin of one spread as bars, the chosen ones among them."""
    frame = counts(facts, [spread], chosen)
    many, counted = facts.noun[1], facts.result.counted
    frame["faded"] = bool(chosen.any())
    order = list(spread.bins)
    scale = {"domain": order}  # layers that sort each by itself would lose the order
    height = {"domain": [0, 1.18 * max(int(frame["people"].max()), 1)], "nice": False}
    across = {
        "field": "bin",
        "type": "nominal",
        "sort": None,
        "scale": scale,
        "title": f"{counted} in the {facts.noun[0]}",
    }
    told = [
        {"field": "bin", "type": "nominal", "title": counted},
        *_amounts("people", many, "chosen people"),
    ]

    def bar(field: str, **look: Any) -> dict[str, Any]:
        up = {"field": field, "type": "quantitative", "title": "people", "scale": height}
        return {
            "mark": {"type": "bar", "color": colour, **look},
            "encoding": {"x": across, "y": up, "tooltip": told},
        }

    # The same marks whether something is chosen or not: a browser then changes the counts alone.
    everyone = bar("people", cursor="pointer")
    everyone["encoding"] = everyone["encoding"] | {
        "opacity": {"condition": {"test": "datum.faded", "value": 0.3}, "value": 1}
    }
    layers = [everyone | {"params": [_PICKS]}, bar("chosen people")]
    if facts.least > 1:
        edge = next((b for b in order if _first(b) == facts.least), None)
        if edge is not None:
            said = {"values": [{"edge": edge, "said": _asked(facts)}]}
            at = {"field": "edge", "type": "nominal", "sort": None, "scale": scale}
            at |= {"bandPosition": 0}
            rule = {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 2}
            text = {"type": "text", "align": "left", "dx": 5, "dy": 6, "baseline": "top"}
            layers += [
                {
                    "data": said,
                    "mark": rule | {"color": colours.warning},
                    "encoding": {"x": at},
                },
                {
                    "data": said,
                    "mark": text | {"color": colours.warning, "fontSize": 13},
                    "encoding": {
                        "x": at,
                        "y": {"value": 0},
                        "text": {"field": "said", "type": "nominal"},
                    },
                },
            ]
    meaning = (
        f"A {facts.noun[0]} is a set of rows with "
        + ("one published number, among which links are cut." if facts.permuted else "")
        + ("" if facts.permuted else "identical quasi-identifiers.")
    )
    asked = (
        "If the promise holds, nobody is left of the dashed line."
        if facts.least > 1
        else "The promises name no least size."
    )
    return LinkedChart(
        title=f"People by the size of their {facts.noun[0]}",
        figure=_dressed(frame, layers, 270, colours),
        numbers=frame.drop(columns=["what", "faded"]).rename(
            columns={"bin": f"{facts.result.counted} in the {facts.noun[0]}"}
        ),
        note=f"{meaning} {asked}",
    )


def strips(
    facts: Facts,
    spreads: Sequence[Spread],
    chosen: npt.NDArray[np.bool_],
    colours: Palette,
    *,
    title: str,
    axis: str,
) -> LinkedChart:
    """Return a line for every spread and a cell for every bin: how many people stand there.

    Cells in which chosen people stand carry a mark, the larger the more of them they are.
    """
    frame = counts(facts, spreads, chosen)
    total = max(int(facts.hiding.sum()), 1)
    frame["share"] = frame["people"] / total
    frame["chosen share"] = frame["chosen people"] / max(int(facts.hiding[chosen].sum()), 1)
    encoding = {
        "x": {
            "field": "bin",
            "type": "nominal",
            "sort": None,
            "scale": {"domain": list(spreads[0].bins)},
            "title": axis,
        },
        "y": {
            "field": "what",
            "type": "nominal",
            "sort": None,
            "scale": {"domain": [s.name for s in spreads]},
            "title": None,
            "axis": {"labelLimit": 170},
        },
        "tooltip": [
            {"field": "what", "type": "nominal", "title": " "},
            {"field": "bin", "type": "nominal", "title": axis},
            *_amounts("people", facts.noun[1], "chosen people"),
        ],
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"type": "sqrt", "domain": [0, 1], "range": list(colours.scale)},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "cursor": "pointer", "stroke": colours.grid, "strokeWidth": 1},
            "encoding": encoding | {"color": shade},
            "params": [_PICKS],
        }
    ]
    large = {
        "field": "chosen share",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": [30, 160]},
    }
    # Where nothing is chosen the marks are an image of nothing; the numbers say it to who listens.
    dot = {"type": "circle", "color": colours.warning, "opacity": 1, "aria": False}
    layers.append(
        {
            "transform": [{"filter": "datum['chosen people'] > 0"}],
            "mark": dot | {"stroke": colours.paper, "strokeWidth": 1},
            "encoding": encoding | {"size": large},
        }
    )
    return LinkedChart(
        title=title,
        figure=_dressed(frame, layers, 24 * len(spreads) + 80, colours),
        numbers=frame.rename(columns={"share": "share of people"}),
        note="Stronger cells hold more people. Click one to choose them"
        + ("; dots mark where the chosen ones stand." if chosen.any() else "."),
        formats={"share of people": "percent", "chosen share": "percent"},
    )


def _first(label: str) -> int:
    """Return where a bin of sizes begins."""
    return int(label.split("–")[0].replace(",", ""))


def _asked(facts: Facts) -> str:
    return f"{facts.least_name} = {facts.least}"


def _amounts(*fields: str) -> list[dict[str, Any]]:
    """Return what is told of a bar or cell that is pointed at: whole numbers."""
    return [{"field": name, "type": "quantitative", "format": ","} for name in fields]


def _dressed(
    frame: pd.DataFrame, layers: list[dict[str, Any]], height: int, colours: Palette
) -> dict[str, Any]:
    """Return layers on one table as a chart in the house's look."""
    return {
        "data": {"values": frame.to_dict("records")},
        "layer": layers,
        "height": height,
        "config": {
            "background": "transparent",
            "font": FONT,
            "padding": 4,
            "view": {"stroke": None},
            "axis": {
                "labelColor": colours.ink,
                "titleColor": colours.muted,
                "gridColor": colours.grid,
                "domainColor": colours.grid,
                "tickColor": colours.grid,
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
            },
            "axisX": {"labelAngle": -45, "grid": False},
        },
    }
