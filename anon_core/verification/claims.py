"""The second computation's own reading of what a published label claims of the values under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from .kinds import measured_kinds
from .level_columns import level_columns
from .texts import Spelling

_DASH = re.compile(r"\s*(?:[-–—]|\.\.\.?|…|\bto\b)\s*")
_MASK = re.compile(r"([^\s*]*\d[^\s*]*)\*+")
#: Signs of one-sided ranges: whether the limit is the upper end, and whether it belongs to it.
_SIDES = {
    "<=": (True, True),
    ">=": (False, True),
    "≤": (True, True),
    "≥": (False, True),
    "<": (True, False),
    ">": (False, False),
}


def untrue(levels: Sequence[Sequence[str]], spelling: Spelling, texts: Collection[str]) -> set[str]:
    """Return those published texts that are labels and claim what not all of their values are.

    Only plain claims are read: ranges, tails, masked codes, years and months.

    Examples
    --------
    >>> rows = [["01090", "0109*", "*"], ["02625", "0109*", "*"]]
    >>> untrue(rows, Spelling(kind="text", neutralised=False), ["0109*", "*"])
    {'0109*'}
    """
    found: set[str] = set()
    values, *above = level_columns(levels) or [[]]
    shown = set(texts) - {*values, ""}
    for level in above:
        if shown.isdisjoint(level):
            continue
        members: dict[str, list[str]] = {}
        for value, label in zip(values, level, strict=True):
            if value and label in shown:
                members.setdefault(label, []).append(value)
        for label, inside in members.items():
            holds = _claim(label, spelling)
            if holds is None:
                continue
            said = [holds(value) for value in inside]
            # Among texts a range counts where most are numbers, a name such as "1-2" does not.
            known = [one for one in said if one is not None]
            meant = spelling.measured or len(known) * 2 > len(said)
            if meant and not all(said):
                found.add(label)
    return found


def _claim(label: str, spelling: Spelling) -> Callable[[str], bool | None] | None:
    """Return what says if a value is as claimed, or None where it is no such value at all."""
    if not spelling.measured:
        mask = _MASK.fullmatch(label)
        if mask is not None:
            return lambda value: value.startswith(mask[1])
    for kind in [spelling.kind] if spelling.measured else measured_kinds():
        own = Spelling(kind=kind, neutralised=False)
        inside = _range(label, own)
        if inside is not None:
            return lambda value, own=own, inside=inside: _inside(value, own, inside)
    return None


def _inside(value: str, spelling: Spelling, inside: Callable[[float], bool]) -> bool | None:
    key = spelling.key(value)
    return None if isinstance(key, str) else inside(float(key))


def _range(label: str, spelling: Spelling) -> Callable[[float], bool] | None:
    def read(text: str) -> float | None:
        key = spelling.key(text.strip())
        return None if isinstance(key, str) else float(key)

    if label[:1] in ("[", "(") and label[-1:] in ("]", ")"):
        ends = re.split(r"[;,]\s*", label[1:-1])
        pair = [read(end) for end in ends]
        if len(pair) == 2 and pair[0] is not None and pair[1] is not None:
            low, high = pair[0], pair[1]
            return lambda v: (
                (v > low or (label[0] == "[" and v == low))
                and (v < high or (label[-1] == "]" and v == high))
            )
        return None
    for sign, (upper, closed) in _SIDES.items():
        if label.startswith(sign):
            limit = read(label[len(sign) :])
            if limit is None:
                return None
            if upper:
                return lambda v: v < limit or (closed and v == limit)
            return lambda v: v > limit or (closed and v == limit)
    pairs = [(read(label[: d.start()]), read(label[d.end() :])) for d in _DASH.finditer(label)]
    sure = [(low, high) for low, high in pairs if low is not None and high is not None]
    if len(sure) == 1 and sure[0][0] <= sure[0][1]:
        low, high = sure[0]
        return lambda v: low <= v <= high
    stated = spelling.rules.stated(label)
    if stated is None:
        return None
    least, most = float(stated[0]), float(stated[1])
    return lambda v: least <= v <= most
