"""Where values of a public table stand in a hierarchy whose level table does not list them.

A number or day stands in a group if the group's listed values lie on both sides of it, or if the
group's label states a range that holds it (``20-29`` holds 21, listed or not). Everything else
stands in no named group below the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from .kinds import Measure, Span
from .texts import Key, Spelling

Levels = Sequence[Sequence[str]]

_BRACKETS = re.compile(r"([\[(])(.+?)(?:, |; |,|;)(.+)([\])])")
_BETWEEN = re.compile(r"[-–—]|\bto\b|\.\.")
_ONE_SIDED = re.compile(r"(<=|>=|[<>≤≥])\s*(.+)")
_OR_MORE = re.compile(r"(.+?)\s*\+")
_HINT = re.compile(r"\d")  # a label with a figure may state a range in words not read here


def completed(levels: Levels, spelling: Spelling, values: Iterable[Key]) -> list[list[str]] | None:
    """Return a level table with a line for every value it does not list.

    Parameters
    ----------
    levels : level table
        With at least one line.
    spelling : Spelling
    values : iterable of Key
        The public table's.

    Returns
    -------
    list of lists of str, or None
        None where it is not clear on which group's side a value stands.
    """
    lines = [[cell.strip() for cell in line] for line in levels if line]
    listed = {spelling.key(line[0]): line for line in lines}
    width = len(lines[0])
    found = list(lines)
    by_level = [_groups(listed, level) for level in range(1, width - 1)]
    top = lines[0][-1] if width > 1 else ""
    for number, value in enumerate(dict.fromkeys(v for v in values if v not in listed)):
        line = [value if isinstance(value, str) else spelling.rules.write(value)]
        under: list[str] | None = None  # a listed value's line in the group it stands in
        for level, groups in enumerate(by_level, start=1):
            # A category that is not listed is in no group, whatever a label sounds like.
            label = "" if isinstance(value, str) else _group_of(value, groups, spelling)
            if under is not None:  # what a group holds, the groups above it hold
                label = under[level]
            elif label:
                under = next(
                    told
                    for key, told in listed.items()
                    if not isinstance(key, str) and told[level] == label
                )
            if label is None:
                return None
            line.append(label or f"\0{number}")
        found.append(line + ([top] if width > 1 else []))
    return found


def _groups(listed: dict[Key, list[str]], level: int) -> dict[str, Span]:
    """Return the least and greatest listed value of every group of a level."""
    found: dict[str, Span] = {}
    for key, line in listed.items():
        if isinstance(key, str):
            continue
        low, high = found.get(line[level], (key, key))
        found[line[level]] = (min(low, key), max(high, key))
    return found


def _group_of(value: Measure, groups: dict[str, Span], spelling: Spelling) -> str | None:
    """Return the label of the group a value stands in, "" for none, None where it is unclear."""
    inside = [label for label, (low, high) in groups.items() if low <= value <= high]
    if inside:
        return inside[0] if len(inside) == 1 else None
    below = max((g for g in groups.items() if g[1][1] < value), key=lambda g: g[1][1], default=None)
    above = min((g for g in groups.items() if g[1][0] > value), key=lambda g: g[1][0], default=None)
    holding: list[str] = []
    for near in (below, above):
        if near is None:
            continue
        label, (low, high) = near
        said = _stated(label, spelling)
        if said is None:
            if _HINT.search(label) and low != high:
                return None
            continue
        if not (said[0] <= low and high <= said[1]):
            continue
        others = [g for name, g in groups.items() if name != label]
        if any(said[0] <= end <= said[1] for g in others for end in g):
            continue
        if said[0] <= value <= said[1]:
            holding.append(label)
    return holding[0] if len(holding) == 1 else ""


def _stated(label: str, spelling: Spelling) -> Span | None:
    """Return the least and greatest value a label states, None where it is not read here."""
    least, most = Decimal("-Infinity"), Decimal("Infinity")
    if found := _BRACKETS.fullmatch(label):
        low, high = _value(found[2], spelling), _value(found[3], spelling)
        if low is None or high is None:
            return None
        tiny = Decimal("1e-9")
        low = Decimal(low) + tiny if found[1] == "(" else low
        high = Decimal(high) - tiny if found[4] == ")" else high
        return low, high
    if found := _ONE_SIDED.fullmatch(label):
        end = _value(found[2], spelling)
        if end is None:
            return None
        tiny = Decimal("1e-9") if found[1] in "<>" else Decimal(0)
        return (least, Decimal(end) - tiny) if found[1][0] in "<≤" else (Decimal(end) + tiny, most)
    spans: list[Span] = []
    for found in _BETWEEN.finditer(label):  # also a sign or a part of a day may stand there
        low, high = (_value(t, spelling) for t in (label[: found.start()], label[found.end() :]))
        if low is not None and high is not None:
            spans.append((low, high))
    if spans:
        return spans[0] if len(spans) == 1 else None
    if found := _OR_MORE.fullmatch(label):
        low = _value(found[1], spelling)
        return None if low is None else (low, most)
    return spelling.rules.stated(label)


def _value(text: str, spelling: Spelling) -> Measure | None:
    key = spelling.key(text.strip())
    return None if isinstance(key, str) else key
