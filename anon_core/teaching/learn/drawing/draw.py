"""Draw a picture, whichever it is."""

from __future__ import annotations

from markupsafe import Markup

from anon_core.teaching.learn.drawing.bars import bars
from anon_core.teaching.learn.drawing.lattice import lattice
from anon_core.teaching.learn.drawing.links import links
from anon_core.teaching.learn.drawing.marks import View, element
from anon_core.teaching.learn.drawing.plane import plane
from anon_core.teaching.learn.drawing.table import table
from anon_core.teaching.learn.drawing.tree import tree
from anon_core.teaching.learn.pictures import Bars, Lattice, Links, Picture, Plane, Table

__all__ = ["View", "draw"]


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
