"""Pictures of what hangs together: lattices, trees of hierarchies, links, and rows as tables."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import (
    SIGNS,
    STATES,
    View,
    element,
    shortened,
    svg,
    text,
    wide_of,
)
from anon_core.teaching.learn.pictures import (
    Branch,
    Head,
    Lattice,
    Links,
    Node,
    Row,
    Table,
    Tree,
    branches,
)

_HIGH, _BETWEEN, _NODE = 78, 16, 44


def lattice(shown: Lattice, view: View) -> Markup:
    """Return a lattice, its lowest node at the bottom."""
    heights: dict[int, list[Node]] = defaultdict(list)
    for node in shown.nodes:
        heights[node.height].append(node)
    most = max((len(nodes) for nodes in heights.values()), default=1)
    widest = max((max(wide_of(_said(n)), wide_of(n.note, 11)) for n in shown.nodes), default=40)
    wide = max(64.0, widest + 18)
    left, top = 74.0, max(heights, default=0)
    room = most * (wide + _BETWEEN)
    place: dict[str, tuple[float, float]] = {}
    for height, nodes in heights.items():
        for n, node in enumerate(nodes):
            x = left + room / 2 + (n - (len(nodes) - 1) / 2) * (wide + _BETWEEN)
            place[node.id] = x, 8 + (top - height) * _HIGH
    inside = [_height(h, left + room, top, shown.probe, view) for h in sorted(heights)]
    inside += [
        element(
            "line",
            x1=place[low][0],
            y1=place[low][1],
            x2=place[high][0],
            y2=place[high][1] + _NODE,
            class_="link",
        )
        for low, high in shown.links
    ]
    inside += [_node(node, *place[node.id], wide, view) for node in shown.nodes]
    said = "; ".join(
        f"{n.label} {STATES[n.state][1]}{', ' + n.note if n.note else ''}" for n in shown.nodes
    )
    return svg(left + room, (top + 1) * _HIGH, f"{shown.title}: {said}", *inside)


def _said(node: Node) -> str:
    return f"{node.label} {STATES[node.state][0]}".strip()


def _height(height: int, right: float, top: int, probe: int | None, view: View) -> Markup:
    y = 8 + (top - height) * _HIGH
    found = element(
        "g",
        element("rect", x=0, y=y + 12, width=66, height=20, rx=4),
        text(4, y + 26, f"height {height}", class_="small"),
        **view.marks(f"height:{height}", (), "axis"),
    )
    if height == probe:
        band = element("rect", x=0, y=y - 6, width=right, height=_NODE + 12, rx=6, class_="probe")
        return band + found + text(4, y + 42, "probed", class_="small")
    return found


def _node(node: Node, x: float, y: float, wide: float, view: View) -> Markup:
    note = text(x, y + 37, node.note, text_anchor="middle", class_="small") if node.note else ""
    return element(
        "g",
        element("rect", x=x - wide / 2, y=y, width=wide, height=_NODE, rx=6),
        text(x, y + (20 if node.note else 27), _said(node), text_anchor="middle"),
        note,
        **view.marks(node.id, (), "node", f"state-{node.state.replace(' ', '-')}"),
    )


_BRANCH_HIGH, _BETWEEN_BRANCHES, _BRANCH = 70, 10, 40


def tree(shown: Tree, view: View) -> Markup:
    """Return a tree."""
    place: dict[str, tuple[float, int]] = {}
    room = _put(shown.root, 8.0, 0, place)
    deep = max(level for _, level in place.values())
    inside: list[Markup] = []
    for branch in branches(shown.root):
        x, level = place[branch.id]
        for below in branch.below:
            to, under = place[below.id]
            inside.append(
                element(
                    "line",
                    x1=x,
                    y1=8 + level * _BRANCH_HIGH + _BRANCH,
                    x2=to,
                    y2=8 + under * _BRANCH_HIGH,
                    class_="link",
                )
            )
    inside += [
        _branch(b, place[b.id][0], 8 + place[b.id][1] * _BRANCH_HIGH, view)
        for b in branches(shown.root)
    ]
    said = "; ".join(
        f"{b.label} {STATES[b.state][1]} {b.note}".strip() for b in branches(shown.root)
    )
    return svg(room, (deep + 1) * _BRANCH_HIGH, f"{shown.title}: {said}", *inside)


def _wide(branch: Branch) -> float:
    return max(44.0, wide_of(_branch_said(branch)) + 16, wide_of(branch.note, 11) + 12)


def _branch_said(branch: Branch) -> str:
    return f"{shortened(branch.label, 20)} {STATES[branch.state][0]}".strip()


def _put(branch: Branch, left: float, level: int, place: dict[str, tuple[float, int]]) -> float:
    """Place a branch and all below it from `left` on; return where what is next to it begins."""
    own = _wide(branch) + _BETWEEN_BRANCHES
    right = left
    for below in branch.below:
        right = _put(below, right, level + 1, place)
    right = max(right, left + own)
    place[branch.id] = (left + right - _BETWEEN_BRANCHES) / 2, level
    if branch.below:
        ends = [place[below.id][0] for below in (branch.below[0], branch.below[-1])]
        place[branch.id] = max(sum(ends) / 2, left + own / 2), level
    return right


def _branch(branch: Branch, x: float, y: float, view: View) -> Markup:
    wide = _wide(branch)
    note = text(x, y + 33, branch.note, text_anchor="middle", class_="small") if branch.note else ""
    return element(
        "g",
        element("rect", x=x - wide / 2, y=y, width=wide, height=_BRANCH, rx=6),
        text(x, y + (17 if branch.note else 25), _branch_said(branch), text_anchor="middle"),
        note,
        **view.marks(branch.id, branch.people, "node", f"state-{branch.state.replace(' ', '-')}"),
    )


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
