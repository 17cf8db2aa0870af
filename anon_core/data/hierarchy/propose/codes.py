"""Hierarchies of codes by their structure: masked positions, prefixes, segments, ICD-10."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows, tidied
from anon_core.data.hierarchy.propose.library import folder

Side = Literal["right", "left"]
_ICD = re.compile(r"(?P<category>[A-TV-Z]\d[0-9A-Z]|U\d\d)(\.?[0-9A-Z]{1,4})?[-+*!]?")


def mask(column: Column, *, side: Side = "right", steps: Sequence[int] = ()) -> Rows:
    """Return a hierarchy that hides more and more characters of a code (S-28).

    Parameters
    ----------
    side : {'right', 'left'}
        Where hiding begins. Codes of unequal length are aligned at the other side, so that the
        end of a short one is hidden like a character.
    steps : sequence of int
        Characters that each level hides more than the one below; by default one each.

    Raises
    ------
    BadHierarchy
        If a step is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> zips = ["20222", "20223", "20238", "20239"]
    >>> code = encode("zip", np.arange(4, dtype=np.int32), zips, kind="text")
    >>> [row[1] for row in mask(code)]
    ['2022*', '2022*', '2023*', '2023*']
    >>> phones = ["0301234", "0401234", "0301299"]
    >>> phone = encode("tel", np.arange(3, dtype=np.int32), phones, kind="text")
    >>> mask(phone, side="left", steps=[3, 4])[0]
    ('0301234', '***1234', '*')
    """
    if any(step < 1 for step in steps):
        raise BadHierarchy("A level must hide at least one character.", remedy="Use steps from 1.")
    longest = max(map(len, column.values), default=0)
    hidden: list[int] = []
    for step in steps or [1] * longest:
        hidden.append(min((hidden[-1] if hidden else 0) + step, longest))
    rows = [
        (value, *[_masked(value, count, longest, side) for count in hidden])
        for value in column.values
    ]
    return tidied(rows)


def _masked(value: str, count: int, longest: int, side: Side) -> str:
    """Hide `count` of `longest` positions; where a shorter code ends, nothing is seen either."""
    if side == "right":
        return value.ljust(longest)[: longest - count].rstrip() + "*" * count
    return "*" * count + value.rjust(longest)[count:].lstrip()


def prefixes(column: Column, lengths: Sequence[int]) -> Rows:
    """Return a hierarchy of prefixes, the longest first: `lengths` characters are kept.

    Raises
    ------
    BadHierarchy
        If the lengths do not descend.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> code = encode("nuts", np.arange(3, dtype=np.int32), ["DE212", "DE213", "DE221"])
    >>> prefixes(code, [4, 3])[0]
    ('DE212', 'DE21*', '*')
    """
    if any(b >= a for a, b in pairwise(lengths)) or 0 in lengths:
        raise BadHierarchy(
            "The lengths of prefixes must descend from level to level.",
            remedy="Give the longest prefix first, for example 4, 3, 2.",
        )
    return tidied(
        [
            (value, *[value if len(value) <= n else f"{value[:n]}*" for n in lengths])
            for value in column.values
        ]
    )


def segments(column: Column, separator: str) -> Rows:
    """Return a hierarchy that drops one segment of a code a level, the last one first.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> births = ["63/03/13", "63/03/18", "64/04/12", "64/09/13"]
    >>> born = encode("born", np.arange(4, dtype=np.int32), births)
    >>> segments(born, "/")[0]
    ('63/03/13', '63/03', '63', '*')
    """
    parts = {value: value.split(separator) for value in column.values}
    most = max(map(len, parts.values()), default=1)
    return tidied(
        [
            (value, *[separator.join(own[: max(1, n)]) for n in range(most - 1, 0, -1)])
            for value, own in parts.items()
        ]
    )


#: Postcodes with letters or two parts: the country, and a form whose groups are district and area.
_POSTCODES = (
    ("British", r"(([A-Z]{1,2})\d[A-Z\d]?) ?\d[A-Z]{2}"),
    ("Canadian", r"(([A-Z])\d[A-Z]) ?\d[A-Z]\d"),
    ("Dutch", r"((\d\d)\d\d) ?[A-Z]{2}"),
    ("American", r"((\d{3})\d{2})-\d{4}"),
)


def postcodes(column: Column, *, least: float = 0.95) -> tuple[str, Rows] | None:
    """Return a country whose postcodes the values are, and its districts and areas above them.

    None where fewer than the share `least` of them have the form of one country.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> codes = ["SW1A 1AA", "SW1A 2AB", "SW7 5BD", "M1 1AE"]
    >>> country, rows = postcodes(encode("postcode", np.arange(4, dtype=np.int32), codes))
    >>> country, rows[1]
    ('British', ('SW1A 1AA', 'SW1A', 'SW', '*'))
    """
    for country, form in _POSTCODES:
        found = [re.fullmatch(form, value.strip().upper()) for value in column.values]
        if sum(one is not None for one in found) >= least * len(found):
            other = ("no postcode", "no postcode")
            both = zip(column.values, found, strict=True)
            return country, tidied([(v, *((m[1], m[2]) if m else other)) for v, m in both])
    return None


def is_icd(text: str) -> bool:
    """Return whether a text has the form of an ICD-10 code.

    Examples
    --------
    >>> is_icd("E11.65"), is_icd("I10"), is_icd("94138")
    (True, True, False)
    """
    return _ICD.fullmatch(text.strip()) is not None


def icd(column: Column) -> Rows:
    """Return code → category → ten categories → chapter of ICD-10; other texts are separate.

    Chapters end at full tens, so that ten categories (``I20-I29``) never lie in two of them.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> codes = ["I21.0", "I21.4", "I25.1", "I63.9", "J18.9"]
    >>> icd(encode("diagnosis", np.arange(5, dtype=np.int32), codes))[0]
    ('I21.0', 'I21', 'I20-I29', 'I00-I99 circulatory system', '*')
    """
    rows: list[tuple[str, ...]] = []
    for value in column.values:
        found = _ICD.fullmatch(value.strip())
        if found is None:
            rows.append((value, *["no ICD-10 code"] * 3))
            continue
        category = found["category"]
        tens = f"{category[:2]}0-{category[:2]}9"
        rows.append((value, category, tens, _chapter(category)))
    return tidied(rows)


def _chapter(category: str) -> str:
    for first, last, title in _chapters():
        if first[:2] <= category[:2] <= last[:2]:
            return f"{first}-{last} {title}"
    return "no ICD-10 chapter"


@cache
def _chapters() -> tuple[tuple[str, str, str], ...]:
    lines = (folder() / "icd10-chapters.csv").read_text(encoding="utf-8").splitlines()
    found = [line.split(";") for line in lines if line.strip()]
    return tuple((first, last, title) for first, last, title in found)
