"""Lattices: nodes by height, each with its state as sign and word."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import STATES, View, element, svg, text, wide_of
from anon_core.teaching.learn.pictures import Lattice, Node

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
