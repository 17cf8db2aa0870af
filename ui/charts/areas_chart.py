"""Charts of areas: rectangles as large as what they stand for, and as square as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .plain_look import Look, Pick, framed, percent, tip, written

#: Pixels of a panel's width for which it is decided what is square and which text fits.
_WIDTH = 500
_LETTER, _LINE = 7, 15


@dataclass(frozen=True, kw_only=True)
class Area:
    """One rectangle: what it stands for, its colours, what is written in it, and its words."""

    size: float
    colour: str
    ink: str
    text: str
    tip: str = ""
    pick: Pick | None = None
    faded: bool = False


@dataclass(frozen=True, kw_only=True)
class Areas:
    """A chart of areas, `height` pixels high."""

    areas: tuple[Area, ...]
    height: int

    def html(self, title: str, look: Look) -> str:
        """Return the chart as HTML."""
        drawn = sorted(self.areas, key=lambda one: -one.size)
        boxes = squares([one.size for one in drawn], _WIDTH, self.height)
        found: list[str] = []
        for one, (x, y, wide, high) in zip(drawn, boxes, strict=True):
            lines = one.text.split("\n")
            fits = max(map(len, lines)) * _LETTER + 10 <= wide and len(lines) * _LINE + 4 <= high
            text = f"<span>{written(one.text)}</span>" if fits else ""
            more, told = tip(one.tip, right=x + wide / 2 > _WIDTH / 2, low=y < self.height / 2)
            style = (
                f"left:{percent(x / _WIDTH)};top:{percent(y / self.height)};"
                f"width:{percent(wide / _WIDTH)};height:{percent(high / self.height)};"
                f"{_faded(one.colour) if one.faded else f'background:{one.colour};color:{one.ink}'}"
            )
            if one.pick is None:
                found.append(f'<div class="aw-area{more}"{told} style="{style}">{text}</div>')
            else:
                opened = one.pick.opened(f"aw-area{more}", told, one.tip, style)
                found.append(f"{opened}{text}</button>")
        body = f'<div class="aw-areas" style="height:{self.height}px">{"".join(found)}</div>'
        return framed(body, title=title, look=look)


def _faded(colour: str) -> str:
    """Return the look of an area that stands back, with words that can still be read."""
    return f"background:color-mix(in srgb,{colour} 30%,transparent);color:var(--muted)"


def squares(
    sizes: Sequence[float], width: float, height: float
) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of rectangles that fill a box, largest size first.

    They are laid in strips along the shorter side of what is left, each strip as long as its
    rectangles become squarer by it.

    Source: Bruls, Huizing and van Wijk 2000, "Squarified Treemaps".

    Examples
    --------
    >>> squares([2, 1, 1], 4, 2)
    [(0.0, 0.0, 2.0, 2.0), (2.0, 0.0, 2.0, 1.0), (2.0, 1.0, 2.0, 1.0)]
    """
    scale = width * height / (sum(sizes) or 1)
    left = [size * scale for size in sizes]
    found: list[tuple[float, float, float, float]] = []
    x, y, wide, high = 0.0, 0.0, float(width), float(height)
    while left:
        side = min(wide, high)
        taken = 1
        while taken < len(left) and _worst(left[: taken + 1], side) <= _worst(left[:taken], side):
            taken += 1
        strip, left = left[:taken], left[taken:]
        thick = sum(strip) / side if side else 0.0
        along = 0.0
        for area in strip:
            long = area / thick if thick else 0.0
            box = (x, y + along, thick, long) if wide >= high else (x + along, y, long, thick)
            found.append(box)
            along += long
        if wide >= high:
            x, wide = x + thick, wide - thick
        else:
            y, high = y + thick, high - thick
    return found


def _worst(strip: Sequence[float], side: float) -> float:
    """Return how far the least square rectangle of a strip is from a square; 1 is one."""
    total = sum(strip)
    small, large = min(strip), max(strip)
    if not small or not total:
        return float("inf")
    return max(side**2 * large / total**2, total**2 / (side**2 * small))
