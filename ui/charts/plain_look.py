"""What charts of plain HTML share: their look, and how texts stand in them.

Such a chart is laid out by the browser alone. A chart that is drawn by a script costs that script's
time, and is drawn three times before it stands still; a page of six of them took two seconds.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: Corners of filled marks by shape; a circle has none.
_CORNERS = {
    "square": "10% 10%, 90% 10%, 90% 90%, 10% 90%",
    "diamond": "50% 0%, 100% 50%, 50% 100%, 0% 50%",
    "triangle-up": "50% 5%, 100% 92%, 0% 92%",
    "triangle-down": "0% 8%, 100% 8%, 50% 95%",
    "star": "50% 0%, 61% 35%, 98% 35%, 68% 57%, 79% 91%, 50% 70%, 21% 91%, 32% 57%, 2% 35%, "
    "39% 35%",
    "x": "22% 0%, 50% 28%, 78% 0%, 100% 22%, 72% 50%, 100% 78%, 78% 100%, 50% 72%, 22% 100%, "
    "0% 78%, 28% 50%, 0% 22%",
}
_SHAPES = "\n".join(
    f".aw-chart .{name} {{clip-path: polygon({corners});}}" for name, corners in _CORNERS.items()
)
CSS = f"""
.aw-chart {{font-size: .8125rem; line-height: 1.25; color: var(--ink); padding: .25rem 0;}}
.aw-chart [data-tip] {{cursor: default;}}
.aw-chart [data-tip]:is(:hover, :focus-visible) {{z-index: 5;}}
.aw-chart [data-tip]:is(:hover, :focus-visible)::after {{
  content: attr(data-tip); position: absolute; z-index: 6;
  left: 0; bottom: calc(100% + 4px); width: max-content; max-width: 20rem; white-space: pre-line;
  padding: .25rem .5rem; border: 1px solid var(--grid); border-radius: .25rem; text-align: left;
  background: var(--paper); color: var(--ink); font-size: .8125rem; font-weight: 400;
  pointer-events: none;}}
.aw-chart .aw-right[data-tip]:is(:hover, :focus-visible)::after {{left: auto; right: 0;}}
.aw-chart .aw-low[data-tip]:is(:hover, :focus-visible)::after {{
  bottom: auto; top: calc(100% + 4px);}}
.aw-legend {{display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding-bottom: .35rem;}}
.aw-legend span {{display: flex; align-items: center; gap: .35rem;}}
.aw-chart i {{display: block; width: 13px; height: 13px;}}
.aw-chart .circle {{border-radius: 50%;}}
.aw-chart .circle-open {{border-radius: 50%; border: 2px solid;}}
.aw-chart .diamond-open {{border: 2px solid; transform: rotate(45deg);}}
.aw-chart .line-ns-open {{border-left: 3px solid; width: 3px; margin: 0 5px;}}
.aw-chart .dashed {{height: 7px; background: repeating-linear-gradient(90deg,
  currentColor 0 2px, transparent 2px 4px);}}
{_SHAPES}
.aw-chart .diamond {{width: 17px; height: 17px;}} /* seen behind a circle */
.aw-rows {{display: grid; column-gap: .75rem;}}
.aw-head {{font-weight: 600; font-size: .9375rem; padding-bottom: .2rem;}}
.aw-name {{text-align: right; align-self: center; padding: .15rem 0; overflow-wrap: anywhere;}}
.aw-line {{position: relative; display: flex; align-items: center;
  background-image: var(--lines); background-size: 1px 100%; background-repeat: no-repeat;
  background-position: var(--places);}}
.aw-line > * {{position: absolute;}}
.aw-mark {{transform: translateX(-50%);}}
.aw-pick {{appearance: none; margin: 0; padding: 0; border: 0; background: none; font: inherit;
  color: inherit; text-align: left; cursor: pointer !important;}}
.aw-pick:hover {{box-shadow: 0 0 0 1px var(--muted);}}
.aw-pick[aria-pressed="true"] {{box-shadow: inset 0 0 0 2px var(--ink);}}
.aw-pick:focus-visible {{outline: 2px solid var(--ink); outline-offset: 1px; z-index: 4;}}
.aw-line > .aw-pick {{inset: 0; display: flex; align-items: center;}}
.aw-pick > .aw-bar, .aw-pick > .aw-said {{position: absolute;}}
.aw-faded {{opacity: .3;}}
.aw-chart .aw-dot {{border-radius: 50%; border: 1px solid var(--paper);}}
.aw-bar {{left: 0; top: 18%; bottom: 18%; min-width: 1px;}}
.aw-said {{padding-left: .3rem; right: 0;}}
.aw-line > .aw-words {{position: relative; color: var(--muted); background: var(--paper);
  font-size: .75rem; padding: .1rem .3rem .1rem 0;}}
.aw-ticks {{position: relative; height: 1.2rem; margin-top: .15rem; font-size: .75rem;}}
.aw-ticks span {{position: absolute; transform: translateX(-50%);}}
.aw-axis {{text-align: center; color: var(--muted); font-size: .75rem;}}
.aw-cells {{display: grid; gap: 2px;}}
.aw-cell {{position: relative; display: flex; align-items: center; justify-content: center;
  min-height: 1.2rem;}}
.aw-top {{display: flex; align-items: end; justify-content: center; text-align: center;
  font-size: .75rem; padding: .1rem; overflow-wrap: anywhere;}}
.aw-steep span {{writing-mode: vertical-rl; transform: rotate(180deg); text-align: left;
  max-height: 11rem;}}
.aw-areas {{position: relative;}}
.aw-area {{position: absolute; border: .5px solid var(--paper);}}
.aw-area span {{display: flex; width: 100%; height: 100%; overflow: hidden; align-items: start;
  padding: 2px 4px; font-size: .75rem; line-height: 1.15; white-space: pre-line;}}
"""


class Look(Protocol):
    """The colours of text, quiet text, background and lines in a chart; a palette has them."""

    @property
    def ink(self) -> str: ...
    @property
    def muted(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def grid(self) -> str: ...


class PlainChart(Protocol):
    """What is drawn as plain HTML."""

    def html(self, title: str, look: Look) -> str:
        """Return the chart as HTML, with its title for those who hear it."""
        ...


def written(text: str) -> str:
    """Return a text of one or several lines as HTML: nothing in it is read as markup.

    Examples
    --------
    >>> written("a < b\\nc")
    'a &lt; b<br>c'
    """
    return html.escape(text).replace("\n", "<br>")


def tip(text: str, *, right: bool = False, low: bool = False) -> tuple[str, str]:
    """Return the classes and the attribute of what tells `text` when it is pointed at.

    At the right the words stand to the left of it, and near the upper edge below it.
    """
    if not text:
        return "", ""
    classes = f"{' aw-right' if right else ''}{' aw-low' if low else ''}"
    return classes, f' data-tip="{html.escape(text)}"'


@dataclass(frozen=True, kw_only=True)
class Pick:
    """What a click on a bar or cell chooses.

    Attributes
    ----------
    place : str
        Tells it from all others of the page; `components.picking` hands it on.
    first : bool
        Whether the tabulator leads to it: from there arrows lead to the others of the chart.
    pressed : bool
        Whether it is what is chosen.
    """

    place: str
    first: bool = False
    pressed: bool = False

    def opened(self, classes: str, told: str, tip: str, style: str = "") -> str:
        """Return the start of its button, whose words are those it tells when pointed at."""
        return (
            f'<button type="button" class="aw-pick {classes}"{told} '
            f'data-pick="{html.escape(self.place)}" tabindex="{0 if self.first else -1}" '
            f'aria-pressed="{"true" if self.pressed else "false"}" '
            f'aria-label="{html.escape(tip)}" style="{style}">'
        )


def percent(value: float) -> str:
    """Return a place on an axis, 0 to 1, as CSS has it."""
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + "%"


def framed(
    body: str, *, title: str, look: Look, legend: Sequence[tuple[str, str, str]] = ()
) -> str:
    """Return a chart's HTML with its name for those who hear it, and its legend.

    Parameters
    ----------
    body : str
        HTML.
    title : str
    look : Look
    legend : sequence of (str, str, str)
        Shape, colour and text of what is told apart.
    """
    told = "".join(f"<span>{sign(s, c)}{written(text)}</span>" for s, c, text in legend)
    head = f'<div class="aw-legend">{told}</div>' if told else ""
    return (
        f'<div class="aw-chart" role="figure" aria-label="{html.escape(title)}" '
        f'style="--ink:{look.ink};--muted:{look.muted};--paper:{look.paper};--grid:{look.grid}">'
        f"{head}{body}</div>"
    )


def sign(shape: str, colour: str) -> str:
    """Return a mark of a shape; hollow ones and lines are drawn in their colour of text."""
    drawn = "color" if shape.endswith("-open") or shape == "dashed" else "background-color"
    return f'<i class="{shape}" style="{drawn}:{colour}"></i>'
