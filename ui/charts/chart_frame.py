"""How every chart looks, and how one is shown: the figure, its note, its numbers one click away."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

import streamlit as st

from ui.charts import theme
from ui.state.result_view import Facts
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

FONT = "Source Sans, system-ui, sans-serif"
_C = TypeVar("_C")
#: A sign, its colour, and what it represents.
Sign = tuple[str, str, str]
#: Charts a session keeps; a page of Compare shows about ten.
_MOST_KEPT = 60
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": False,
    "scrollZoom": False,
    "responsive": True,
}


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colours a chart is drawn in.

    Attributes
    ----------
    ink, muted, paper, grid : str
        Text, quiet text, background, lines.
    original : str
        What the raw table is drawn in.
    quasi, sensitive, warning : str
        Colours of the two roles, and of a threshold.
    scale : tuple of str
        Five steps from nothing to much, for areas.
    """

    ink: str
    muted: str
    paper: str
    grid: str
    original: str
    quasi: str
    sensitive: str
    warning: str
    scale: tuple[str, ...]


def palette() -> Palette:
    """Return the palette of the theme that is shown now."""
    if not theme.dark():
        return light_palette()
    return Palette(
        ink=theme.ink(),
        muted=theme.muted(),
        paper=theme.paper(),
        grid=theme.grid(),
        original=theme.original_colour(),
        quasi=theme.role_colour("quasi"),
        sensitive=theme.role_colour("sensitive"),
        warning="#FF8A65",
        scale=("#1E2A36", "#23435C", "#2A5F86", "#3A86BC", "#7CC5EF"),
    )


def light_palette() -> Palette:
    """Return the palette of the light theme, whatever is shown; reports are drawn in it."""
    return Palette(
        ink="#0F1720",
        muted="#4B5563",
        paper="#FFFFFF",
        grid="#D5DBE1",
        original="#4B5563",
        quasi="#0072B2",
        sensitive="#AA3377",
        warning="#B3261E",
        scale=("#EAF3F9", "#C3DEEE", "#8DC0DF", "#3F90C2", "#00507E"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One run as it is drawn.

    Attributes
    ----------
    letter : str
        Letter of the pinned run; empty for a run that is not pinned.
    title : str
    facts : Facts
    colour : str
    symbol : str
        Plotly's name of the marker.
    sign : str
        The same marker as a character.
    """

    letter: str
    title: str
    facts: Facts
    colour: str
    symbol: str = "circle"
    sign: str = "●"

    @property
    def heading(self) -> str:
        """What is above the run's column."""
        return f"{self.sign} {self.letter}".strip() if self.letter else ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """A figure with its words and its numbers.

    Attributes
    ----------
    title : str
        Plain text; what draws it keeps names in it from being markup.
    figure : plotly.graph_objects.Figure or ui.charts.vega.Vega
    numbers : pandas.DataFrame
        What is drawn, as a table.
    note : str
        How to read it, one sentence.
    formats : mapping of str to str
        Printf or Streamlit formats of columns of `numbers`.
    signs : tuple of (str, str, str)
        A sign, its colour, and what it represents, where the chart itself does not say it.
    """

    title: str
    figure: Any
    numbers: pd.DataFrame
    note: str = ""
    formats: Mapping[str, str] = field(default_factory=dict[str, str])
    signs: tuple[Sign, ...] = ()


class Stretching(Protocol):
    """What Vega-Lite draws; see `ui.charts.vega`."""

    @property
    def height(self) -> int: ...
    @property
    def stretches(self) -> bool: ...
    @property
    def picked(self) -> str: ...

    def whole(self) -> dict[str, Any]:
        """Return the form with its data."""
        ...


class Numbered(Protocol):
    """What has a title and the numbers that are drawn, as a table."""

    @property
    def title(self) -> str: ...
    @property
    def numbers(self) -> pd.DataFrame: ...
    @property
    def formats(self) -> Mapping[str, str]: ...


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` letters.

    Examples
    --------
    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def label(text: str, most: int = 0) -> str:
    """Return a name or value for a figure: nothing in it is read as markup.

    Examples
    --------
    >>> label("<b>x</b>"), label("abcdef", 4)
    ('&lt;b&gt;x&lt;/b&gt;', 'abc…')
    """
    return html.escape(shortened(text, most) if most else text, quote=False)


def apart(texts: Sequence[str], most: int) -> list[str]:
    """Return shortened texts that stay distinct, so that no two categories fall together."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for text in texts:
        short = shortened(text, most)
        seen[short] = seen.get(short, 0) + 1
        found.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return found


def labels(texts: Sequence[str], most: int) -> list[str]:
    """Return shortened labels for a figure that stay distinct."""
    return [label(text) for text in apart(texts, most)]


def columns(count: int, **more: Any) -> go.Figure:
    """Return an empty figure with `count` plots side by side that share their axes."""
    from plotly.subplots import make_subplots

    gap = 0.04 if count > 1 else 0.0
    return make_subplots(rows=1, cols=count, shared_yaxes=True, horizontal_spacing=gap, **more)


def write_all(figure: go.Figure, texts: Sequence[Mapping[str, Any]]) -> None:
    """Write texts into the plot at once: one by one each copies all before it."""
    there = {"xref": "x", "yref": "y", "showarrow": False}
    layout = cast(Any, figure).layout
    layout.annotations = (*layout.annotations, *({**there, **text} for text in texts))


def finish(
    figure: go.Figure,
    colours: Palette,
    *,
    height: int,
    runs: Sequence[Series] = (),
    legend: bool = False,
) -> go.Figure:
    """Give a figure the house's look; several runs get their letters as headings."""
    figure.update_layout(
        height=height + (24 if len(runs) > 1 else 0),
        margin={"l": 8, "r": 12, "t": 30 if legend or len(runs) > 1 else 10, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": colours.ink},
        showlegend=legend,
        legend={
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "bottom",
            "font": {"size": 12, "color": colours.ink},
        },
        hoverlabel={
            "bgcolor": colours.paper,
            "bordercolor": colours.grid,
            "font": {"family": FONT, "size": 13, "color": colours.ink},
            "align": "left",
        },
        bargap=0.25,
        dragmode=False,
    )
    axis: dict[str, Any] = {
        "minexponent": 6,  # a postcode is no 80.1k
        "gridcolor": colours.grid,
        "linecolor": colours.grid,
        "zerolinecolor": colours.grid,
        "tickfont": {"color": colours.ink, "size": 12},
        "title_font": {"color": colours.muted, "size": 12},
        "automargin": True,
        "fixedrange": True,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    if len(runs) > 1:
        _head(figure, runs)
    return figure


def readable(colour: str) -> str:
    """Return the text colour, dark or white, that can be read better on `colour`."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#0F1720" if (light + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"


def _head(figure: go.Figure, runs: Sequence[Series]) -> None:
    count = len(runs)
    gap = 0.04
    width = (1 - gap * (count - 1)) / count
    for place, run in enumerate(runs):
        figure.add_annotation(
            text=f"<b>{run.heading}</b>",
            x=place * (width + gap),
            y=1.0,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"color": run.colour, "size": 15},
        )


def kept(make: Callable[..., _C], runs: Sequence[Series], colours: Palette, *more: Any) -> _C:
    """Return a chart of these runs, from the session where it was drawn before.

    `make` is called with the runs, the palette and whatever else distinguishes the charts.
    """
    store: dict[Any, _C] = st.session_state.setdefault("charts", {})
    key = (make.__qualname__, _identity(tuple(runs)), colours, _identity(more))
    if key not in store:
        while len(store) >= _MOST_KEPT:
            store.pop(next(iter(store)))
        store[key] = make(runs, colours, *more)
    return store[key]


def _identity(one: Any) -> Any:
    """Return what distinguishes charts of this: numbers instead of runs, which are large."""
    if isinstance(one, Facts):
        return one.number
    if isinstance(one, Series):
        return one.facts.number, one.letter, one.colour
    if isinstance(one, tuple):
        return tuple(map(_identity, cast("tuple[Any, ...]", one)))
    return one


def show(
    chart: Chart, *, key: str, on_pick: Callable[[], None] | None = None, noted: bool = True
) -> None:
    """Draw a chart on the page: title, figure, how to read it, and its numbers in a popover.

    Where points may be chosen, `on_pick` is called after a click; `picked` then shows the point.
    How to read it is with its numbers, too; `noted` says whether it is below the figure as well.
    """
    with st.container(key=f"chart-{key}"):
        head(chart, key=key)
        figure(chart, key=key, on_pick=on_pick)
        if chart.note and noted:
            st.caption(plain(chart.note))


def figure(
    chart: Chart, *, key: str, on_pick: Callable[[], None] | None = None, placed: bool = False
) -> None:
    """Draw a chart's figure alone; see `vega`."""
    if hasattr(chart.figure, "whole"):
        drawn = cast(Stretching, chart.figure)
        vega(drawn, title=chart.title, key=key, on_pick=on_pick, placed=placed)
        return
    st.plotly_chart(
        chart.figure,
        key=f"plot-{key}",
        theme=None,
        config=_CONFIG,
        alt=chart.title,
        on_select=on_pick or "ignore",
        selection_mode="points",
    )


def vega(
    drawn: Stretching,
    *,
    title: str,
    key: str,
    on_pick: Callable[[], None] | None = None,
    placed: bool = False,
) -> None:
    """Draw a chart of Vega-Lite; one that stretches fills its place down to its least height.

    Where it is `placed`, the block around it is already as `place_of` says.
    """
    with nullcontext() if placed else st.container(**place_of(drawn, key=key)):
        st.vega_lite_chart(
            None,
            drawn.whole(),
            key=f"plot-{key}",
            width="stretch",
            height="stretch" if drawn.stretches else drawn.height,
            theme=None,
            on_select=on_pick or "ignore",
            selection_mode=drawn.picked if on_pick else None,
            alt=title,
        )


def place_of(drawn: Stretching, *, key: str) -> dict[str, Any]:
    """Return the key and look of the block around a chart of Vega-Lite."""
    return place(drawn.height if drawn.stretches else "content", key=key)


def place(height: int | Literal["content"], *, key: str) -> dict[str, Any]:
    """Return the key and look of the block around a chart that is at least so high."""
    return {"key": f"vega-{key}", "height": height, "border": False}


def selected(widget: str, name: str) -> list[Mapping[str, Any]]:
    """Return the rows that a click in a chart of Vega-Lite selected, by its widget's key."""
    event = cast(Mapping[str, Any], st.session_state.get(widget) or {})
    return cast(list[Mapping[str, Any]], event.get("selection", {}).get(name) or [])


def chosen_of(key: str, name: str, field: str) -> list[str]:
    """Return the values of a field that a click in a chart of Vega-Lite selected."""
    rows = selected(f"plot-{key}", name)
    return [str(row[field]) for row in rows if field in row]


def head(chart: Numbered, *, key: str) -> None:
    """Draw a chart's title, and next to it its numbers once someone asks for them."""
    with st.container(key=f"head-{key}", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(chart.title)}**")
        legend(getattr(chart, "signs", ()))
        numbers(lambda: chart, key=key)


def legend(signs: Sequence[Sign]) -> None:
    """Draw what signs of a chart represent, in one line."""
    entries = " ".join(
        f"<span style='white-space: nowrap'><b style='color: {colour}'>{html.escape(sign)}</b> "
        f"{html.escape(text)}</span>"
        for sign, colour, text in signs
    )
    st.html(f"<div class='aw-legend'>{entries}</div>", width="stretch")


def signs_of(runs: Sequence[Series]) -> tuple[Sign, ...]:
    """Return the signs of several runs; one alone needs none."""
    return tuple((r.sign, r.colour, r.letter) for r in runs) if len(runs) > 1 else ()


def numbers(of: Callable[[], Numbered], *, key: str) -> None:
    """Draw what opens the numbers of a chart as a table; only then is the chart asked for."""

    @st.fragment
    def drawn() -> None:
        place = st.popover("Numbers", type="tertiary", key=f"numbers-{key}", on_change="rerun")
        if place.open:
            chart = of()
            with place:
                table(chart.numbers, key=f"table-{key}", formats=chart.formats, width="content")
                if note := getattr(chart, "note", ""):
                    st.caption(plain(note))

    drawn()


def picked(key: str) -> Any:
    """Return what the chosen point of a chart carries as its data; None without one."""
    event = cast(Mapping[str, Any], st.session_state.get(f"plot-{key}") or {})
    points = cast(list[Mapping[str, Any]], event.get("selection", {}).get("points", []))
    data = next((p["customdata"] for p in points if p.get("customdata") is not None), None)
    return data[0] if isinstance(data, list | tuple) else data


def table(
    frame: pd.DataFrame,
    *,
    key: str,
    formats: Mapping[str, str] | None = None,
    width: Literal["stretch", "content"] = "stretch",
    wide: str = "",
    right: Sequence[str] = (),
) -> None:
    """Draw a table of figures; `wide` gets room for words, `right` are figures given as texts."""
    many = 40
    config: dict[str, Any] = {
        name: st.column_config.NumberColumn(format=form) for name, form in (formats or {}).items()
    }
    config |= {name: st.column_config.TextColumn(alignment="right") for name in right}
    if wide:
        config[wide] = st.column_config.TextColumn(width=340)
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        width=width,
        height="content" if len(frame) <= many else "auto",
        column_config=config,
        placeholder="–",
    )
