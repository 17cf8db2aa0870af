"""Terms and numbers as people read them: change a term here, and every label follows.

Labels are headings, figures, columns, axes and rows of reports. Sentences are in the class or file
whose fact they state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

LOSS = "Loss"
WORST_CHANCE = "Worst chance"
PEOPLE_AT_RISK = "People at risk"
PRIVACY_MODELS = "Privacy models"
SMALLEST_CLASS = "Smallest class"
SUPPRESSED = "suppressed"
ROWS_SUPPRESSED = f"rows {SUPPRESSED}"
SHARE_SUPPRESSED = f"share of {ROWS_SUPPRESSED}"
SUPPRESSED_ROWS = f"{SUPPRESSED.capitalize()} rows"
#: What 0 and 1 of a loss are.
SCALE = f"0 is unchanged, 1 is everything {SUPPRESSED}"

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun; small ones in words.

    Examples
    --------
    >>> count(1, "row"), count(5, "quasi-identifier"), count(1200, "class", "classes")
    ('one row', 'five quasi-identifiers', '1,200 classes')
    """
    word = _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"
    return f"{word} {noun if number == 1 else plural or noun + 's'}"


def in_figures(number: int, noun: str) -> str:
    """Return a number with its noun, small ones in figures too.

    Examples
    --------
    >>> in_figures(1, "column"), in_figures(2000, "column")
    ('1 column', '2,000 columns')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def large(number: int) -> str:
    """Return a number in figures; one that no one could read as its power of ten.

    Examples
    --------
    >>> large(1_500_000), large(3 * 2**500)
    ('1,500,000', 'about 10^151')
    """
    return f"{number:,}" if number < 10**15 else f"about 10^{round(math.log10(number))}"


def ordinal(number: int) -> str:
    """Return a number as a place in an order.

    Examples
    --------
    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 11 <= number % 100 <= 13 else ends.get(number % 10, 'th')}"


def nearly(value: float) -> str:
    """Return a chance that "1 in 1.00" would show as certain in words; of others nothing.

    Examples
    --------
    >>> nearly(0.996), nearly(0.99), nearly(1)
    ('over 99%', '', '')
    """
    return "over 99%" if 0.99 < value < 1 else ""


def one_in(value: float, *, whole_from: int = 1000) -> str:
    """Return the number that a chance above 0 is 1 in; from some size on without decimals.

    Examples
    --------
    >>> one_in(0.2), one_in(0.09), one_in(0.6), one_in(0.00007), one_in(0.4901)
    ('5', '11.1', '1.67', '14,286', '2')
    >>> one_in(0.09, whole_from=10)
    '11'
    """
    among = 1 / value
    if among >= whole_from or abs(among - round(among)) < 1e-6 * among:
        return f"{round(among):,}"
    return f"{among:,.1f}".removesuffix(".0") if among >= 2 else f"{among:.3g}"


def few(names: Sequence[str], most: int = 12) -> str:
    """Return the first of many names, and how many more there are.

    Examples
    --------
    >>> few(["age", "sex"]), few(["age", "sex", "zip", "day"], 2)
    ('age, sex', 'age, sex and 2 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def times(value: float) -> str:
    """Return a chance as "1 time in 5"; certainty as "every time".

    Examples
    --------
    >>> times(0.2), times(1.0), times(0.09)
    ('1 time in 5', 'every time', '1 time in 11.1')
    >>> times(0.6), times(0.996)
    ('1 time in 1.67', 'over 99% of the time')
    """
    if value >= 1:
        return "every time"
    if value <= 0:
        return "never"
    if near := nearly(value):
        return f"{near} of the time"
    return f"1 time in {one_in(value)}"
