"""Trees, root at the top: values of a hierarchy, or sets that a search enumerates."""

from __future__ import annotations

from markupsafe import Markup

from anon_core.teaching.learn.drawing.marks import (
    STATES,
    View,
    element,
    shortened,
    svg,
    text,
    wide_of,
)
from anon_core.teaching.learn.pictures import Branch, Tree, branches

_HIGH, _BETWEEN, _NODE = 70, 10, 40


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
                    y1=8 + level * _HIGH + _NODE,
                    x2=to,
                    y2=8 + under * _HIGH,
                    class_="link",
                )
            )
    inside += [
        _branch(b, place[b.id][0], 8 + place[b.id][1] * _HIGH, view) for b in branches(shown.root)
    ]
    said = "; ".join(
        f"{b.label} {STATES[b.state][1]} {b.note}".strip() for b in branches(shown.root)
    )
    return svg(room, (deep + 1) * _HIGH, f"{shown.title}: {said}", *inside)


def _wide(branch: Branch) -> float:
    return max(44.0, wide_of(_said(branch)) + 16, wide_of(branch.note, 11) + 12)


def _said(branch: Branch) -> str:
    return f"{shortened(branch.label, 20)} {STATES[branch.state][0]}".strip()


def _put(branch: Branch, left: float, level: int, place: dict[str, tuple[float, int]]) -> float:
    """Place a branch and all below it from `left` on; return where what is next to it begins."""
    own = _wide(branch) + _BETWEEN
    right = left
    for below in branch.below:
        right = _put(below, right, level + 1, place)
    right = max(right, left + own)
    place[branch.id] = (left + right - _BETWEEN) / 2, level
    if branch.below:
        ends = [place[below.id][0] for below in (branch.below[0], branch.below[-1])]
        place[branch.id] = max(sum(ends) / 2, left + own / 2), level
    return right


def _branch(branch: Branch, x: float, y: float, view: View) -> Markup:
    wide = _wide(branch)
    note = text(x, y + 33, branch.note, text_anchor="middle", class_="small") if branch.note else ""
    return element(
        "g",
        element("rect", x=x - wide / 2, y=y, width=wide, height=_NODE, rx=6),
        text(x, y + (17 if branch.note else 25), _said(branch), text_anchor="middle"),
        note,
        **view.marks(branch.id, branch.people, "node", f"state-{branch.state.replace(' ', '-')}"),
    )
