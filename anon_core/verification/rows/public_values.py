"""Where values of a public table stand in a hierarchy whose level table does not list them.

A number or day stands in a group if the group's listed values lie on both sides of it, or if the
group's label states a range that holds it (``20-29`` holds 21, listed or not). Everything else
stands in no named group below the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from anon_core.verification.text.claims import ranges_of
from anon_core.verification.text.kinds import Measure, Span
from anon_core.verification.text.label_forms import Inside
from anon_core.verification.text.texts import Key, Spelling

Levels = Sequence[Sequence[str]]

_HINT = re.compile(r"\d")  # a label with a figure may state a range in words not read here


def completed(levels: Levels, spelling: Spelling, values: Iterable[Key]) -> list[list[str]] | None:
    """Return a level table with a line for every value it does not list.

    Parameters
    ----------
    levels : level table
        With at least one line.
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
        if not (said(Fraction(low)) and said(Fraction(high))):
            continue
        others = [g for name, g in groups.items() if name != label]
        if any(said(Fraction(end)) for g in others for end in g):
            continue
        if said(Fraction(value)):
            holding.append(label)
    return holding[0] if len(holding) == 1 else ""


def _stated(label: str, spelling: Spelling) -> Inside | None:
    """Return what says whether a label holds a value, None where it states no range."""
    return next(iter(ranges_of(label, spelling)), None)
