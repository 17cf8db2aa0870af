"""Charts that Vega-Lite draws: a form that seldom changes, and data that change with every run.

A form is made by Altair once for each theme and kept, because making and checking one takes longer
than a run. Whatever changes goes into the data: a changed form is drawn again in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ui.charts.chart_frame import FONT, Palette

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa

#: Pixels of letters in a chart, and of quieter ones.
LETTERS, SMALL = 12, 11


@dataclass(frozen=True, kw_only=True, eq=False)
class Vega:
    """A chart as Vega-Lite draws it.

    Attributes
    ----------
    spec : mapping
        The form, without data.
    data : mapping of str to pyarrow.Table
        By the names that the form has for them; Arrow is what a browser gets.
    height : int
        Pixels; the least of them where it stretches.
    stretches : bool
        Whether it fills the height of its place.
    picked : str
        Name of the selection that a click makes; empty where nothing can be chosen.
    """

    spec: Mapping[str, Any]
    data: Mapping[str, pa.Table]
    height: int
    stretches: bool = False
    picked: str = ""

    def whole(self) -> dict[str, Any]:
        """Return the form with its data."""
        return {**self.spec, "datasets": dict(self.data)}


@cache
def _look_up_once() -> None:
    """Have Altair 6 list its classes once: it does so for each value that a chart encodes."""
    from altair.utils import schemapi
    from altair.vegalite.v6.schema.core import VegaLiteSchema

    listed: Any = schemapi._FromDict(VegaLiteSchema._default_wrapper_classes())  # pyright: ignore

    def once(_: object) -> Any:
        return listed

    cast(Any, schemapi)._FromDict = once


def named(name: str) -> alt.Chart:
    """Return an empty chart of data that come later, under a name."""
    import altair as alt

    _look_up_once()
    return alt.Chart(alt.NamedData(name=name))


def form(
    chart: alt.LayerChart | alt.FacetChart,
    colours: Palette,
    *,
    right: int = 4,
) -> dict[str, Any]:
    """Return the form of a chart of one view, in the house's look and without its data.

    Only layers that encode a description are read to who hears the page.

    Parameters
    ----------
    chart : altair.LayerChart
    colours : Palette
    right : int
        Pixels next to the last tick.
    """
    plain = chart.properties(background="transparent")
    spec: dict[str, Any] = plain.to_dict(validate=False)
    shared = spec.pop("data", None)  # layers of the same data have it once
    for layer in spec["layer"]:
        layer.setdefault("data", shared)
        # Marks that say nothing of their own are no more than ink to those who hear a page.
        mark = layer["mark"] if isinstance(layer["mark"], dict) else {"type": layer["mark"]}
        layer["mark"] = {**mark, "aria": "description" in layer["encoding"]}
    spec["datasets"] = {}
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    spec["padding"] = {"left": 4, "right": right, "top": 4, "bottom": 4}
    spec["usermeta"] = {"embedOptions": {"renderer": "svg"}}
    quiet = {"labelColor": colours.muted, "titleColor": colours.muted, "gridColor": colours.grid}
    spec["config"] = {
        "font": FONT,
        "view": {"stroke": None},
        "text": {"color": colours.ink, "fontSize": LETTERS},
        "axis": {
            **quiet,
            "labelFontSize": SMALL,
            "titleFontSize": SMALL,
            "titleFontWeight": "normal",
            "domain": False,
            "ticks": False,
        },
    }
    return spec
