"""Tables: rows in the colour of their group, changed cells with what they were."""

from __future__ import annotations

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import SIGNS, View, element
from anon_core.teaching.learn.pictures import Head, Row, Table

#: Role → sign and word, as everywhere in the workbench.
ROLES = {
    "identifier": ("⊘", "identifier"),
    "quasi": ("◐", "quasi-identifier"),
    "sensitive": ("◈", "sensitive"),
}


def table(shown: Table, view: View) -> Markup:
    """Return a table."""
    labelled = any(row.label for row in shown.rows)
    signed = any(SIGNS[row.tone] for row in shown.rows)
    corner = [element("th", shown.corner, scope="col")] if labelled else []
    corner += [element("th", element("span", "group", class_="unseen"))] if signed else []
    heads = element("tr", *corner, *(_head(head, view) for head in shown.columns))
    rows = [_row(row, view, labelled, signed) for row in shown.rows]
    return element("table", element("thead", heads), element("tbody", *rows))


def _head(head: Head, view: View) -> Markup:
    sign, word = ROLES.get(head.role, ("", ""))
    role = element("span", f" {sign}", title=word, class_=f"role-{head.role}") if sign else ""
    inside = element("b", head.name)
    return element("th", inside, role, scope="col", **view.marks(head.id, (), f"tone-{head.tone}"))


def _row(row: Row, view: View, labelled: bool, signed: bool) -> Markup:
    first = [element("th", row.label, scope="row")] if labelled else []
    first += [element("td", SIGNS[row.tone], class_="sign")] if signed else []
    cells = [
        element(
            "td",
            cell.text,
            element("s", cell.was) if cell.was else "",
            class_=f"tone-{cell.tone}" + (" changed" if cell.was else ""),
        )
        for cell in row.cells
    ]
    marks = view.marks(row.id, row.people, f"tone-{row.tone}")
    return element("tr", *first, *cells, **marks)
