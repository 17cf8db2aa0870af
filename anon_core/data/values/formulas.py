"""Cells that a spreadsheet would carry out, and the apostrophe that keeps it from that.

A program may read a file by another separator than it was written with: of ``a;=x`` the second half
is then a cell of its own. So a formula is looked for behind every character that may part cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from anon_core.data.values.kinds import as_number

#: Signs that begin a formula, the full-width ones of East Asian keyboards among them.
_SIGNS = "=+\\-@＝＋－＠"
_TRIGGERS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_PARTS = ";,\t\r\n"
#: What may part cells, a quote, apostrophes, and the sign of a formula.
_INSIDE = re.compile(f"([{_PARTS}]\"?)('*)(?=[{_SIGNS}])")
_GUARDED_INSIDE = re.compile(f"([{_PARTS}]\"?)'('*)(?=[{_SIGNS}])")
_END = re.compile(f'[{_PARTS}"]')
_MAY_BE = re.compile(f"\n'*[\t\r]|[{_PARTS}]\"?'*[{_SIGNS}]")


def may_be_formula(texts: Iterable[str]) -> bool:
    """Return whether one of many texts may be a formula, or guarded; if not, none is."""
    return _MAY_BE.search("\n".join(["", *texts])) is not None


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a text, or a part of it, for a formula.

    Examples
    --------
    >>> [is_formula(text) for text in ("=x", "a;=x", "＝x", "-5", "a, -b")]
    [True, True, True, False, False]
    """
    if text.startswith(_TRIGGERS) and bool(np.isnan(as_number(text))):
        return True
    return any(not found[2] and not _is_number(found) for found in _INSIDE.finditer(text))


def neutralised(text: str) -> str:
    """Return a cell that no spreadsheet executes: an apostrophe goes before a formula.

    Where apostrophes are before a formula's sign already, one more is put, so that different
    cells stay different and taking one away gives the cell back. Plain numbers stay, negative
    ones too.

    Examples
    --------
    >>> neutralised("=cmd|' /C calc'!A0"), neutralised("-5"), neutralised("Flu")
    ("'=cmd|' /C calc'!A0", '-5', 'Flu')
    >>> neutralised("'=x"), neutralised("a;=x"), neutralised("a;'=x"), neutralised("a;-5")
    ("''=x", "a;'=x", "a;''=x", 'a;-5')
    """
    begins = text.startswith("'") and text.lstrip("'").startswith(_TRIGGERS)
    begins = begins or (text.startswith(_TRIGGERS) and bool(np.isnan(as_number(text))))
    return "'" * begins + _INSIDE.sub(_guarded, text)


def plain(text: str) -> str:
    """Return the cell that `neutralised` made a text of.

    Examples
    --------
    >>> [plain(neutralised(t)) for t in ("=x", "'=x", "a;=x", "a;'=x", "-5", "'a")]
    ['=x', "'=x", 'a;=x', "a;'=x", '-5', "'a"]
    """
    guarded = text.startswith("'") and text.lstrip("'").startswith(_TRIGGERS)
    return _GUARDED_INSIDE.sub(r"\1\2", text[1:] if guarded else text)


def _guarded(found: re.Match[str]) -> str:
    if not found[2] and _is_number(found):
        return found[0]
    return f"{found[1]}'{found[2]}"


def _is_number(found: re.Match[str]) -> bool:
    """Say whether what begins behind a match, up to where the next cell may begin, is a number."""
    text = found.string[found.end() :]
    end = _END.search(text)
    return not np.isnan(as_number(text[: end.start()] if end else text))
