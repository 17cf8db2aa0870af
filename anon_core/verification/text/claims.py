"""The second computation's own reading of what a published label claims of the values under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import partial

from anon_core.verification.text.kinds import measured_kinds
from anon_core.verification.text.label_forms import Exact, Inside, meanings
from anon_core.verification.text.level_columns import level_columns
from anon_core.verification.text.texts import Spelling

_MASK = re.compile(r"([^\s*]*\d[^\s*]*)\*+")


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
            if not any(_true(holds, inside, spelling) for holds in _claims(label, spelling)):
                found.add(label)
    return found


Holds = Callable[[str], bool | None]


def _true(holds: Holds, members: Sequence[str], spelling: Spelling) -> bool:
    """Say whether a claim is true of all members, or is none among such members."""
    said = [holds(value) for value in members]
    # Among texts a range counts where most are numbers, a name such as "1-2" does not.
    known = [one for one in said if one is not None]
    meant = spelling.measured or len(known) * 2 > len(said)
    return all(said) or not meant


def _claims(label: str, spelling: Spelling) -> list[Holds]:
    """Return what may say if a value is as claimed (None where it is no such value at all).

    A label that claims nothing is true of everything.
    """
    if not spelling.measured:
        mask = _MASK.fullmatch(label)
        if mask is not None:
            return [lambda value: value.startswith(mask[1])]
    for kind in [spelling.kind] if spelling.measured else measured_kinds():
        own = Spelling(kind=kind, neutralised=False)
        if ways := ranges_of(label, own):
            return [partial(_inside, own, way) for way in ways]
    return [lambda _: True]


def ranges_of(label: str, spelling: Spelling) -> list[Inside]:
    """Return what may say whether a measured value is in a label's range, most likely first."""
    ways = meanings(label, partial(_ends, spelling))
    stated = spelling.rules.stated(label)
    if not ways and stated is not None:
        return [lambda v: stated[0] <= v <= stated[1]]
    return ways


def _ends(spelling: Spelling, text: str) -> tuple[Exact, Exact] | None:
    """Return the least and the greatest value that one end of a range stands for."""
    key = spelling.key(text.strip())
    if not isinstance(key, str):
        return Fraction(key), Fraction(key)
    stated = spelling.rules.stated(text.strip())
    return None if stated is None else (Fraction(stated[0]), Fraction(stated[1]))


def _inside(spelling: Spelling, inside: Inside, value: str) -> bool | None:
    key = spelling.key(value)
    return None if isinstance(key, str) else inside(Fraction(key))
