"""Two tables with lines between their rows."""

from __future__ import annotations

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import View, element, svg, text
from anon_core.teaching.learn.drawing.table import table
from anon_core.teaching.learn.pictures import Links

#: Pixels of a row, and of the heads: the style sheet gives tables that are linked the same.
ROW, HEAD, _WIDE = 30, 32, 120


def links(shown: Links, view: View) -> Markup:
    """Return two tables and the lines between them."""
    places = [{row.id: n for n, row in enumerate(t.rows)} for t in (shown.left, shown.right)]
    high = HEAD + ROW * max(len(shown.left.rows), len(shown.right.rows))
    lines: list[Markup] = []
    for line in shown.lines:
        y = [
            HEAD + ROW * (place[end] + 0.5)
            for place, end in zip(places, (line.left, line.right), strict=True)
        ]
        drawn = element("line", x1=2, y1=y[0], x2=_WIDE - 2, y2=y[1])
        said = text(
            _WIDE / 2, (y[0] + y[1]) / 2 - 5, line.label, text_anchor="middle", class_="small"
        )
        own = "" if view.chosen < 0 or view.follows(line.people) else "faint"
        inside = (drawn, said if line.label else "")
        lines.append(element("g", *inside, class_=f"line tone-{line.tone} {own}".strip()))
    said = f"{shown.title}: {len(shown.lines)} lines between rows"
    return element(
        "div",
        element("div", element("p", shown.left.title, class_="small"), table(shown.left, view)),
        element(
            "div",
            element("p", "\u00a0", class_="small"),
            svg(_WIDE, high, said, *lines),
            class_="between",
        ),
        element("div", element("p", shown.right.title, class_="small"), table(shown.right, view)),
        class_="linked",
    )
