"""Is every published text the one way to write what it says?

A number can be written ``43``, ``43.0`` or ``+43``, a set in any order. Anyone who may choose among
such texts can mark a person with them, though every model holds. So there is one spelling: of a
value the shortest that the table has, of a group its label, of a range or set what follows.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, judged, many, named
from anon_core.verification.recipe import Terms
from anon_core.verification.rows.averages import decimals_of, numbers_of
from anon_core.verification.rows.tables import PrivateTable
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.kinds import unmarked
from anon_core.verification.text.texts import (
    EVERYTHING,
    Key,
    guarded,
    level_columns,
    may_be_guarded,
    members_of,
)


def check_spelling(
    release: PublishedTable, file: str, table: PrivateTable, public: TextTable | None
) -> Check:
    """Check that every cell of a published table is written in the one way it can be."""
    terms = table.terms
    averaged = numbers_of(table) if terms.averaged else ()
    coarse = terms.quasi if not terms.permuted or terms.coarsened else ()
    found: list[list[int]] = [[] for _ in release.header]
    for place, name in enumerate(release.header):
        if name not in table.columns:  # the group number, or a column too many
            continue
        texts, meant = release.texts[place], release.lines.meant[place]
        if name not in averaged and texts == meant and table.has_digits(name, meant):
            continue
        if name in averaged:
            right = _Averages(decimals_of(table, name))
        else:
            right = _Spellings(table, name, public, coarse=name in coarse)
        neutralised = release.spelling(name).neutralised
        guard = neutralised and may_be_guarded(meant)
        written = [guarded(own) for own in meant] if guard else meant
        if written == texts and right.certain.issuperset(meant):
            continue
        found[place] = [
            i
            for i, (text, shown, own) in enumerate(zip(texts, written, meant, strict=True))
            if text != shown or (own not in right.certain and not right.holds(own))
        ]
    odd = [name for name, places in zip(release.header, found, strict=True) if places]
    first = odd[0] if odd else ""
    rows = release.rows_showing(found)
    few = many(len(rows), "row", "has", "have")
    return judged(
        "spelling",
        rows,
        f"In {file} {few} a cell that is not written as a release writes it, first in column "
        f"'{first}' {named(rows)}: a spelling could mark a person.",
        f"Every cell of {file} is written in the one way in which a release writes it.",
        column=first,
    )


class _Averages:
    """The spellings of averages: plain decimals, as many as the recipe says."""

    certain = frozenset(["", EVERYTHING])

    def __init__(self, decimals: int) -> None:
        self.decimals = decimals

    def holds(self, text: str) -> bool:
        found = re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?", text)
        negative_zero = text.startswith("-") and not text.strip("-0.")
        return found is not None and not negative_zero and len(found[1] or "") == self.decimals


class _Spellings:
    """The spellings of a column's values and, where cells are coarse, of its groups and ranges."""

    def __init__(
        self, table: PrivateTable, name: str, public: TextTable | None, *, coarse: bool
    ) -> None:
        column, levels = table.columns[name], table.levels.get(name, ())
        self.spelling, self.coarse, self.tails = column.spelling, coarse, _tails(table.terms, name)
        self._is_text = not self.spelling.measured
        self._keys: dict[str, Key] = {}
        self._table, self._name, self._levels = table, name, levels
        self._own = table.written_codes(name).values()
        self.labels = set[str]().union(*level_columns(levels)[1:]) if coarse else set[str]()
        self.certain = frozenset(["", *self.labels, *self._own])
        given = (
            public.column(name).texts
            if coarse and public is not None and name in public.names
            else ()
        )
        plain = self.spelling.rules.plain
        self._public = [plain(unmarked(text.strip(), column.thousands)) for text in given]
        self._gaps = table.has_gaps(name)

    @cached_property
    def _order(self) -> list[str]:
        """The values of the level table; each group of texts is together."""
        lines = list(zip(*level_columns(self._levels), strict=True))
        return [line[0] for line in (_depth_first(lines) if self._is_text else lines)]

    @cached_property
    def place(self) -> dict[str, int]:
        """Where the members of a set stand in their order."""
        order = [text for text in self._order if text] or sorted(self._own)
        if self._gaps:
            order = [*order, ""]  # what is missing comes last
        return {text: i for i, text in enumerate(order)}

    @cached_property
    def texts(self) -> dict[Key, set[str]]:
        """What each value is written as; there may be many, so it is made when it is asked for."""
        # What the table writes goes before what the level table does, and that before the public.
        found = {key: {text} for key, text in self._table.written(self._name).items()}
        for text in self._order if self.coarse else ():
            found.setdefault(self.spelling.key(text), {text})
        known = set(found)
        for text in self._public:
            key = self.spelling.key(text)
            if key not in known:
                found.setdefault(key, set()).add(text)
        return found

    def _key(self, text: str) -> Key:
        """Return what makes two cells equal; ends of ranges come again, and are read once."""
        if self._is_text:
            return text
        if text not in self._keys:
            self._keys[text] = self.spelling.key(text)
        return self._keys[text]

    def holds(self, text: str) -> bool:
        """Say whether a text is a spelling of what it says; of nothing, other checks tell."""
        value = self.texts.get(self._key(text))
        if value is not None:
            return text in value
        if not self.coarse:
            return True
        if text == EVERYTHING:
            return not self.labels  # where the top has a label, that is written
        if self._is_text:
            return self._set_holds(text)
        if text[:1] in ("≤", "≥"):
            # Everywhere else a range from the least value, or to the greatest, has two ends.
            limit = self.tails.get(text[0], "")
            return self._end_holds(text[1:]) if limit is None else text[1:] == limit != ""
        ends = text[1:-1].split(", ")
        if len(ends) != 2 or not all(map(self._end_holds, ends)):
            return False
        low, high = (self._key(end) for end in ends)
        return not isinstance(low, str) and not isinstance(high, str) and low < high

    def _end_holds(self, text: str) -> bool:
        return text in self.texts.get(self._key(text), ())

    def _set_holds(self, text: str) -> bool:
        members = members_of(text)
        if members is None:
            return True
        places = [self.place[m] for m in members if m in self.place]
        ascending = places == sorted(set(places))
        # All of them together are the top, which has a text of its own.
        some = 1 < len(members) == len(set(members)) and len(places) < len(self.place)
        return some and ascending and text == "{" + ", ".join(map(_member, members)) + "}"


def _member(text: str) -> str:
    """Return a member of a value set, in quotes where it needs them."""
    if text == "" or text != text.strip() or re.search(r'[,{}"]', text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _depth_first(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the lines of a level table so that each group is together, first named first.

    Groups that hold the missing value come after the others.
    """
    seen: dict[tuple[int, str], int] = {}
    gap = {place for line in lines if not line[0] for place in enumerate(line)}
    for late in (False, True):
        for line in lines:
            for place in enumerate(line):
                if (place in gap) == late:
                    seen.setdefault(place, len(seen))
    return sorted(lines, key=lambda line: [seen[place] for place in enumerate(line)][::-1])


def _tails(terms: Terms, name: str) -> dict[str, str | None]:
    """Return the limits that a column's tails are coded at, by sign.

    None is any value of the table; a sign that is not there represents no tail.
    """
    if terms.shape.tails != "coded":
        return {}
    limits = terms.algorithm.get("limits")
    own = cast(Mapping[str, object], limits).get(name) if isinstance(limits, Mapping) else None
    if not isinstance(own, Mapping):
        return {"≤": None, "≥": None}
    ends = cast(Mapping[str, object], own)
    return {
        sign: end.isoformat() if isinstance(end, datetime.date) else str(end)
        for sign, key in (("≤", "low"), ("≥", "high"))
        if (end := ends.get(key)) is not None
    }
