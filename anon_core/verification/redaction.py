"""Names that the recipe redacts in a column's texts: the private table as it then reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from anon_core.base.errors import BadPlan
from anon_core.verification.cells import Cells, TextTable
from anon_core.verification.tables import Promise, section

_WORD = re.compile(r"[^\W_]+")
_HIDDEN = "[redacted]"


def without_redacted(recipe: Mapping[str, Any], promise: Promise, private: TextTable) -> TextTable:
    """Return the private table with `[redacted]` in the place of names.

    Names are the words of an identifier's distinct values that begin with a capital and have three
    letters, or hold a figure and have five characters, unless more than a fifth of the values (and
    more than one) hold them. In a text a name is written with a capital or a figure, or stands
    beside another one.

    Raises
    ------
    BadPlan
        If the recipe redacts a column that is not published as it is, or by one that is published.
    """
    named = section(recipe, "redacted")
    if not named:
        return private
    hidden: dict[str, Cells] = {}
    for name, sources in named.items():
        fits = isinstance(sources, list | tuple) and sources
        if not fits or name not in promise.exact or set(sources) - set(promise.identifier):
            raise BadPlan(
                "The recipe's redacted names columns that are not so used.",
                remedy="Correct the recipe's roles.",
            )
        names = set[str]()
        for source in sources:
            names |= _names_of(_texts(private, source, promise))
        told, cells = _texts(private, name, promise), private.column(name)
        shown = [
            _hide(text.strip(), names) if text.strip() in told else text for text in cells.texts
        ]
        hidden[name] = Cells(codes=cells.codes, texts=shown)
    return private.replaced(hidden)


def _texts(private: TextTable, name: str, promise: Promise) -> set[str]:
    """Return the distinct texts of a column that stand for no missing value."""
    found = private.column(name).texts
    return {text.strip() for text in found} - {t.strip() for t in promise.missing_of(name)}


def _names_of(texts: set[str]) -> set[str]:
    held: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text):
            figure = any(c.isdigit() for c in word)
            if len(word) >= (5 if figure else 3) and (figure or word[0].isupper()):
                held[word.casefold()] += 1
    return {word for word, count in held.items() if count == 1 or 5 * count <= len(texts)}


def _hide(text: str, names: set[str]) -> str:
    """Hide names from the end on, so that places stay."""
    words = [(m.start(), m.end()) for m in _WORD.finditer(text) if m[0].casefold() in names]
    hidden = set[int]()
    for number, (start, end) in enumerate(words):
        word = text[start:end]
        if word[0].isupper() or any(c.isdigit() for c in word):
            hidden.add(number)
        if number and text[words[number - 1][1] : start].strip() == "":
            hidden |= {number - 1, number}
    for number in sorted(hidden, reverse=True):
        start, end = words[number]
        text = text[:start] + _HIDDEN + text[end:]
    return text
