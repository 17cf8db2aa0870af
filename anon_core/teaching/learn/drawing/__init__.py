"""Pictures of lessons as HTML and SVG: one renderer for the page, the sheet and the static file.

Nothing is drawn by a script, so that a picture can be printed, read aloud and kept as it is. All
text is escaped in one place, `marks.element`.
"""

from __future__ import annotations

from markupsafe import Markup

from anon_core.teaching.learn.drawing.graphs import lattice, links, tree
from anon_core.teaching.learn.drawing.marks import View, element, style
from anon_core.teaching.learn.drawing.plots import bars, plane
from anon_core.teaching.learn.drawing.table import table
from anon_core.teaching.learn.lesson import Pseudocode
from anon_core.teaching.learn.pictures import Bars, Lattice, Links, Picture, Plane, Table

__all__ = ["View", "draw", "numbered", "style"]


def draw(picture: Picture, view: View | None = None) -> Markup:
    """Return a picture as HTML: a figure with its title, and its note below."""
    view = view or View()
    note = element("p", picture.note, class_="note") if picture.note else Markup("")
    return element(
        "figure",
        element("figcaption", picture.title),
        element("div", _drawn(picture, view), class_="wide"),
        note,
    )


def numbered(code: Pseudocode | None) -> Markup:
    """Return the lines of an algorithm as HTML, those marked that a step carries out."""
    if code is None:
        return Markup("")
    lines = [
        element("li", line, aria_current="step" if n in code.now else "")
        for n, line in enumerate(code.lines, 1)
    ]
    return element("ol", *lines, class_="code")


def _drawn(picture: Picture, view: View) -> Markup:
    if isinstance(picture, Table):
        return table(picture, view)
    if isinstance(picture, Lattice):
        return lattice(picture, view)
    if isinstance(picture, Plane):
        return plane(picture, view)
    if isinstance(picture, Bars):
        return bars(picture, view)
    if isinstance(picture, Links):
        return links(picture, view)
    return tree(picture, view)
