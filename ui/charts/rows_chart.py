"""Charts of rows: names at the left and, for every run, marks, bars and words on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .plain_look import Look, Pick, framed, percent, sign, tip, written


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A value as a mark of a shape; `tip` is told when it is pointed at."""

    at: float
    shape: str
    colour: str
    tip: str = ""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A line between two values, `width` pixels thick."""

    low: float
    high: float
    colour: str
    width: int = 1
    dashed: bool = False
    tip: str = ""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A value as a bar from the left end of the axis, with words behind it.

    Where a part of it is `chosen`, the rest is faded; its whole line is what is clicked. A `change`
    against another run follows the words, in a `tone` of its own; the words
    stand `behind` another value where that is beyond the bar's end.
    """

    to: float
    colour: str
    text: str = ""
    tip: str = ""
    pick: Pick | None = None
    chosen: float | None = None
    change: str = ""
    tone: str = ""
    behind: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Words:
    """What is said in place of a value."""

    text: str
    tip: str = ""


Item = Mark | Span | Bar | Words


@dataclass(frozen=True, kw_only=True)
class Plot:
    """The rows of one run: what stands in each, by its name, and the run's heading."""

    lines: Mapping[str, Sequence[Item]]
    heading: str = ""
    colour: str = ""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A chart of rows.

    Attributes
    ----------
    names : tuple of str
        From the top.
    plots : tuple of Plot
        Beside each other, on the same axis.
    low, high : float
        The axis' ends.
    ticks : mapping of float to str
    axis : str
        What the axis tells.
    legend : tuple of (str, str, str)
        Shape, colour and text.
    height : int
        Least pixels of a row.
    """

    names: tuple[str, ...]
    plots: tuple[Plot, ...]
    low: float
    high: float
    ticks: Mapping[float, str]
    axis: str
    legend: tuple[tuple[str, str, str], ...] = field(default=())
    height: int = 36

    def html(self, title: str, look: Look) -> str:
        """Return the chart as HTML."""
        count = len(self.plots)
        grid = f"grid-template-columns:fit-content(45%) repeat({count},minmax(0,1fr))"
        places = ",".join(f"{percent(self._place(at))} 0" for at in self.ticks)
        lines = ",".join(["linear-gradient(var(--grid),var(--grid))"] * len(self.ticks))
        cells: list[str] = []
        if any(plot.heading for plot in self.plots):
            cells.append("<div></div>")
            cells += [
                f'<div class="aw-head" style="color:{plot.colour}">{written(plot.heading)}</div>'
                for plot in self.plots
            ]
        for row, name in enumerate(self.names):
            cells.append(f'<div class="aw-name">{written(name)}</div>')
            for plot in self.plots:
                drawn = "".join(self._item(one, low=not row) for one in plot.lines.get(name, ()))
                cells.append(
                    f'<div class="aw-line" style="min-height:{self.height}px">{drawn}</div>'
                )
        ticks = "".join(
            f'<span style="left:{percent(self._place(at))}">{written(text)}</span>'
            for at, text in self.ticks.items()
        )
        cells.append("<div></div>")
        cells += [f'<div class="aw-ticks">{ticks}</div>'] * count
        cells.append(f'<div class="aw-axis" style="grid-column:2 / -1">{written(self.axis)}</div>')
        style = f"{grid};--lines:{lines};--places:{places}"
        body = f'<div class="aw-rows" style="{style}">{"".join(cells)}</div>'
        return framed(body, title=title, look=look, legend=self.legend)

    def _place(self, value: float) -> float:
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def _item(self, one: Item, *, low: bool) -> str:
        if isinstance(one, Words):
            more, told = tip(one.tip, low=low)
            left = percent(self._place(0))
            return (
                f'<span class="aw-words{more}"{told} style="margin-left:{left}">'
                f"{written(one.text)}</span>"
            )
        if isinstance(one, Mark):
            place = self._place(one.at)
            more, told = tip(one.tip, right=place > 0.5, low=low)
            return (
                f'<span class="aw-mark{more}"{told} style="left:{percent(place)}">'
                f"{sign(one.shape, one.colour)}</span>"
            )
        if isinstance(one, Bar):
            place = self._place(one.to)
            more, told = tip(one.tip, low=low)
            change = f' <b style="color:{one.tone}">{written(one.change)}</b>' if one.change else ""
            left = percent(self._place(max(one.to, one.behind)))
            said = f'<span class="aw-said" style="left:{left}">{written(one.text)}{change}</span>'
            if one.pick is None:
                return f"{_bar(place, one.colour, more, told)}{said}"
            drawn = _bar(place, one.colour, "" if one.chosen is None else " aw-faded")
            if one.chosen:
                drawn += _bar(self._place(one.chosen), one.colour)
            return f"{one.pick.opened(more, told, one.tip)}{drawn}{said}</button>"
        begin, end = self._place(one.low), self._place(one.high)
        more, told = tip(one.tip, right=begin > 0.5, low=low)
        style = f"left:{percent(begin)};width:{percent(end - begin)};"
        if one.dashed:
            return f'<span class="dashed{more}"{told} style="{style}color:{one.colour}"></span>'
        style += f"height:{one.width}px;background:{one.colour}"
        return f'<span class="{more.strip()}"{told} style="{style}"></span>'


def _bar(to: float, colour: str, more: str = "", told: str = "") -> str:
    style = f"width:{percent(to)};background:{colour}"
    return f'<span class="aw-bar{more}"{told} style="{style}"></span>'
