"""Values of a table that read like what a release makes of several: refused, not reinterpreted."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.data.column import Column
from anon_core.data.hierarchy import TOP, Hierarchy
from anon_core.data.values.kinds import KINDS
from anon_core.release.vocabulary import quoted

_MEMBER = re.compile(r'"(?:[^"]|"")*"|[^,{}"]+')


def refuse_look_alikes(column: Column, hierarchy: Hierarchy) -> None:
    """Refuse a quasi-identifier one of whose values a reader takes for a set of others.

    A cell says ``*`` where it represents the whole column, and ``{F, M}`` where it represents
    either. A value that is spelled so would publish one person's own value as if it were hidden, or
    hide behind it; no technique can distinguish the two in the file. Numbers and dates cannot
    be spelled like their ranges.

    Raises
    ------
    BadInput
        Naming the first row.
    """
    if KINDS[column.kind].measured:
        return
    known = set(hierarchy.leaves)
    alike = [text for text in column.values if text == TOP or is_set_of(text, known)]
    if not alike:
        return
    codes = [column.values.index(text) for text in alike]
    rows = np.flatnonzero(np.isin(column.codes, codes))
    star = TOP in alike
    raise BadInput(
        f"Column '{column.name}', row {int(rows[0]) + 1:,}: the cell is spelled like "
        + ("one that says nothing (*)" if star else "a set of other values of the column")
        + f", as a release writes it; so are {len(rows):,} "
        f"{'cell' if len(rows) == 1 else 'cells'} in all. They would look like hidden ones.",
        remedy="Add the star to the texts read as missing, or spell it otherwise in the table."
        if star
        else "Spell them otherwise in the table, for example without braces.",
        values=alike[:5],
    )


def is_set_of(text: str, known: Collection[str]) -> bool:
    """Say whether a text is the published set of some of the values known.

    Examples
    --------
    >>> is_set_of("{F, M}", {"F", "M"}), is_set_of("{F, M}", {"F"}), is_set_of("{F}", {"F"})
    (True, False, True)
    """
    if not (text.startswith("{") and text.endswith("}")):
        return False
    members = _MEMBER.findall(text[1:-1])
    plain = [m[1:-1].replace('""', '"') if m[:1] == '"' else m.lstrip(" ") for m in members]
    if not plain or any(m not in known for m in plain):
        return False
    # Only what is written just so is read as a set.
    return text == "{" + ", ".join(quoted(m) for m in plain) + "}"
