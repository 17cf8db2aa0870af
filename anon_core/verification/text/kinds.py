"""The kinds of columns, as the second computation knows them: one row each.

The run has its own table (`anon_core/data/values/kinds.py`) and shares no code with this one; a
recipe that declares a kind which is not in this table is refused. What a kind means is here alone:
the other files of this folder ask it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.verification.text import moments
from anon_core.verification.text.moments import day_of, stretch
from anon_core.verification.text.thousands import thousands_of, unmarked

#: What a text of a measured kind stands for: a number, or whole units such as days, microseconds.
Measure = Decimal | int
#: The least and the greatest value that a label states.
Span = tuple[Measure, Measure]

#: Digits up to which every whole number is one of its own as a 64-bit float.
_TOLD_APART = 15
#: Sizes between which numbers other than 0 can be reckoned with.
_LEAST, _GREATEST = 1e-100, 1e100
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CODE = re.compile(r"0\d+")
_CODE_LINE = re.compile(r"\n0[0-9]")
_FIRST_DIGITS = re.compile(r"(\d+)(\*+)")


def _nothing(_: object) -> None:
    return None


def _same(text: str) -> str:
    return text


def _never(_: object) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of column.

    Attributes
    ----------
    read : callable or None
        Returns what a text stands for, or None where it is no value of the kind. A kind without
        it, None, is text: values are equal if their texts are, and groups of them are sets.
    write : callable
        Writes what `read` returns.
    read_all : callable or None
        Returns what `read` does of each of many texts; None where it is asked one by one.
    stated : callable
        Returns the least and greatest value that a label states in a form of this kind alone, such
        as ``9413*`` or ``2020-Q1``; None where it does not. Ranges and tails need nothing here.
    fits : callable
        Says whether distinct texts are of the kind where the recipe declares none.
    averaged : bool
        Whether an average of values may stand for them.
    thousands : bool
        Whether marks between thousands may stand in the texts.
    plain : callable
        Returns a value's text without what says nothing in any value of the kind.
    """

    read: Callable[[str], Measure | None] | None = None
    write: Callable[[Measure], str] = str
    read_all: Callable[[Sequence[str]], Sequence[Measure | None]] | None = None
    stated: Callable[[str], Span | None] = _nothing
    fits: Callable[[Sequence[str]], bool] = _never
    averaged: bool = False
    thousands: bool = False
    plain: Callable[[str], str] = _same


def number_of(text: str) -> Decimal | None:
    """Return the number a text writes (``.`` or ``,`` as decimal mark), exactly, or None.

    Examples
    --------
    >>> number_of("1,50") == number_of("1.5"), number_of("1.5 m")
    (True, None)
    """
    text = text.strip()
    if text.isdecimal():
        return Decimal(text)
    if _NUMBER.fullmatch(text) is None:
        return None
    try:
        found = Decimal(text.replace(",", "."))
    except InvalidOperation:  # an exponent beyond all bounds
        return None
    return found if isfinite(found) else None  # 1e400 is none that can be reckoned with


def are_digits(texts: Sequence[str]) -> bool:
    """Say whether all texts are ASCII digits, with no zero before others.

    Examples
    --------
    >>> are_digits(["0", "120"]), are_digits(["007"]), are_digits(["1", ""])
    (True, False, False)
    """
    together = "\n".join(["", *texts, ""])
    digits = together.replace("\n", "")
    if not (digits.isascii() and digits.isdecimal()) or together.count("\n") != len(texts) + 1:
        return False
    return "\n\n" not in together and _CODE_LINE.search(together) is None


def _numbers_of(texts: Sequence[str]) -> Sequence[Decimal | None]:
    return list(map(Decimal if are_digits(texts) else number_of, texts))


def _numbers(texts: Sequence[str]) -> bool:
    """Say whether texts are numbers.

    A leading zero makes a code, not a number, and so do more digits than 64-bit floats can tell
    apart. Where all commas may as well mark thousands, what the numbers are is not known.
    """
    if are_digits(texts):
        return max(map(len, texts)) <= _TOLD_APART or not _confused(map(Decimal, texts))
    mark = thousands_of(texts)
    found = [number_of(unmarked(t, mark or "")) for t in texts]
    if mark is None or None in found or _confused(n for n in found if n is not None):
        return False
    commas = [t for t in texts if "," in t] if not mark else []
    doubtful = commas and all(_THOUSAND.fullmatch(t.strip()) for t in commas)
    return not doubtful and not any(_CODE.fullmatch(t) for t in texts)


def _confused(numbers: Iterable[Decimal]) -> bool:
    """Say whether numbers that differ are the same 64-bit float, or one is too large or small."""
    told = list(numbers)
    floats = set(map(float, told))
    sizes = {abs(number) for number in floats if number}
    if sizes and (min(sizes) < _LEAST or max(sizes) > _GREATEST):
        return True
    return len(floats) < len(told) and len(floats) < len(set(told))


def _first_digits(label: str) -> Span | None:
    """Read ``9413*``: every number that begins so and has as many digits; and ``20er``."""
    found = _FIRST_DIGITS.fullmatch(label)
    tens = label.removesuffix(" Jahre")
    tens = tens.removesuffix("er") if tens.endswith("er") else label.removesuffix("s")
    if tens != label and len(tens) in (2, 4) and tens.isdecimal() and tens[-2] != "0" == tens[-1]:
        first = Decimal(tens)
        return first, (first + 10).next_minus()
    if found is None:
        return None
    low, high = (Decimal(found[1] + digit * len(found[2])) for digit in "09")
    return low, high


def _days(texts: Sequence[str]) -> bool:
    return all(day_of(text) is not None for text in texts)


#: By the name a recipe gives it. Where it gives none, the first kind that fits is taken.
KINDS: dict[str, Kind] = {
    "number": Kind(
        read=number_of,
        read_all=_numbers_of,
        stated=_first_digits,
        fits=_numbers,
        averaged=True,
        thousands=True,
    ),
    "date": Kind(
        read=day_of,
        write=moments.written_day,
        plain=moments.bare_day,
        stated=stretch,
        fits=_days,
    ),
    "datetime": Kind(
        read=moments.local_of,
        write=moments.written_local,
        stated=moments.moments_of,
        fits=lambda texts: moments.are_moments(texts, moments.local_of),
    ),
    "instant": Kind(
        read=moments.instant_of,
        write=moments.written_instant,
        stated=moments.moments_of,
        fits=lambda texts: moments.are_moments(texts, moments.instant_of),
    ),
    "text": Kind(),
    "ordered": Kind(),
}


def kind_of(texts: Sequence[str]) -> str:
    """Guess a column's kind from its distinct texts; text where no other fits."""
    return next((name for name, kind in KINDS.items() if texts and kind.fits(texts)), "text")


def measured_kinds() -> list[str]:
    """Return the names of the kinds whose texts stand for something that can be measured."""
    return [name for name, kind in KINDS.items() if kind.read is not None]


def refuse_unknown(types: Mapping[str, str]) -> None:
    """Refuse a recipe that declares a kind which is not known here.

    Raises
    ------
    BadPlan
    """
    for column, kind in types.items():
        if kind not in KINDS:
            raise BadPlan(
                f"[types] '{column}' is {brief(kind)}; allowed are {listing(KINDS)}.",
                remedy="Use one of these types.",
            )
