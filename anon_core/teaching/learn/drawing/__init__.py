"""Pictures of lessons as HTML and SVG: one renderer for the page, the sheet and the static file.

Nothing is drawn by a script, so that a picture can be printed, read aloud and kept as it is. All
text is escaped in one place, `marks.element`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from anon_core.teaching.learn.drawing.graphs import lattice, links, table, tree
from anon_core.teaching.learn.drawing.marks import View, element, style
from anon_core.teaching.learn.drawing.plots import bars, plane
from anon_core.teaching.learn.lesson import Pseudocode
from anon_core.teaching.learn.pictures import Bars, Lattice, Links, Picture, Plane, Table, parts

__all__ = ["View", "draw", "mentioned", "numbered", "style"]

#: Rows as sentences name them, with one number or more.
_ROWS = r"[Rr]ows? \d+(?:(?:, | and )\d+)*"
#: Labels that sentences use as common words or for numbers of anything.
_COMMON = re.compile(r"[a-z]*|\d+( rows?)?|.")


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


def mentioned(words: str, pictures: Iterable[Picture], names: Sequence[str] = ()) -> Markup:
    """Return a sentence as HTML in which whatever names a part of the pictures points to it.

    What points has the ids of these parts in `data-points`, as JSON. The longest name wins: "Rows 1
    and 2" is a group where a picture calls one so, and two rows otherwise.

    Parameters
    ----------
    words : str
    pictures : iterable of Picture
    names : sequence of str
        Who each row of the table is, in order.

    Examples
    --------
    >>> from anon_core.teaching.learn.pictures import Bar, Bars
    >>> bars = Bars(title="", unit="", bars=(Bar(id="a", label="R0 Z1", value=1, text="1"),))
    >>> print(mentioned("At R0 Z1 it holds.", [bars]))
    At <span data-points="[&#34;a&#34;]">R0 Z1</span> it holds.
    """
    named: dict[str, list[str]] = {}
    for part in (part for picture in pictures for part in parts(picture)):
        if not _COMMON.fullmatch(part.label):
            for name in (part.label, f"⟨{', '.join(part.label.split())}⟩"):  # a node either way
                named.setdefault(name, []).append(part.id)
        for person in part.people:
            if person < len(names):
                named.setdefault(names[person], []).append(part.id)
            named.setdefault(f"row {person + 1}", []).append(part.id)
    labels = sorted(map(re.escape, named), key=len, reverse=True)
    found = re.split(rf"(?<!\w)({'|'.join([*labels, _ROWS])})(?!\w)", words)
    return Markup("").join(
        _pointing(text, named) if place % 2 else text for place, text in enumerate(found)
    )


def _pointing(said: str, named: dict[str, list[str]]) -> Markup:
    """Return what names a part as an element that points to it; of several rows, each number."""
    if said in named:
        ids = [*dict.fromkeys(named[said])]
        return element("span", said, data_points=json.dumps(ids, ensure_ascii=False))
    return Markup("").join(
        _pointing(text, {text: named[f"row {text}"]}) if f"row {text}" in named else text
        for text in re.split(r"(\d+)", said)
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
