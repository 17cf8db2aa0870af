"""What values suggest and no one said: numbers as text, sums, codes for missing values."""

from __future__ import annotations

import re

import numpy as np

from anon_core.data.column import Column
from anon_core.data.table import MISSING_TOKENS
from anon_core.data.values.kinds import KINDS

_MONEY = "[€$£¥]|CHF|EUR|USD|GBP"
_NUMBER = (
    rf"[+\u2212\u2013-]?\s*(?:{_MONEY})?\s*[+\u2212\u2013-]?"
    r"(?:[1-9]\d{0,2}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+|\d+)(?:[.,]\d+)?"
    rf"\s*(?:{_MONEY}|%)?\s*[\u2212\u2013-]?"
)
#: A number as people write it: a sign of money, marks between thousands, a percent, a minus behind,
#: or brackets for one.
_WRITTEN = re.compile(rf"{_NUMBER}|\({_NUMBER}\)")
_MONTH = (
    r"(?:jan|jän|feb|f[ée]v|m[aä]r|apr|avr|may|mai|jun|juin|jul|juil|aug|ao[uû]|sep|o[ck]t|nov"
    r"|d[eé][cz]|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|out|mrt|maa|mei|fev|mrz)[^\W\d]{0,7}\.?"
)
#: A day as programs and people write it, perhaps after a day of the week, and what follows it.
_DAY = re.compile(
    r"(?:[^\W\d]{2,10}\.?,?\s+)?"
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|\d{8}(?=[Tt]\d{4})"
    rf"|\d{{1,2}}(?:\.|er|st|nd|rd|th)?[- ]?(?:(?:de|of) )?{_MONTH}[- ]?(?:(?:de|of) )?"
    r"(?:\d{4}|\d{2})"
    rf"|{_MONTH} {{1,2}}\d{{1,2}}(?:,? \d{{4}}(?!\d)|(?= \d))"
    r")(?:\D.{0,40})?",
    re.IGNORECASE,
)
#: A column with this share of values that look so is asked about.
_MOST = 0.8
#: Words in which spreadsheets name the row of sums.
_SUMS = frozenset(
    {
        *("total", "totals", "grand total", "sum", "subtotal", "summe", "gesamt", "gesamtsumme"),
        *("insgesamt", "total général", "somme", "totale", "suma", "totaal", "razem", "итого"),
    }
)
#: Numbers that surveys and registers write for a missing value.
_CODES = (-1.0, -7.0, -8.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)


def looks_like_numbers(column: Column) -> bool:
    """Say whether all values of a column of texts are numbers with signs that keep them texts.

    Codes with zeros before other digits are none.
    """
    if KINDS[column.kind].measured or not column.values:
        return False
    plain = True
    for value in column.values:
        found = _WRITTEN.fullmatch(value)
        if found is None or (value[:1] == "0" and value[1:2].isdigit()):
            return False
        plain &= value.isdecimal()
    return not plain


def looks_like_days(column: Column) -> bool:
    """Say whether most values of a column of texts are days, with or without times of day."""
    if KINDS[column.kind].measured or not column.values:
        return False
    spare = int((1 - _MOST) * len(column.values))
    for value in column.values:
        if _DAY.fullmatch(value.strip()) is None:
            spare -= 1
            if spare < 0:  # as in most columns, early
                return False
    return True


def sum_rows(column: Column) -> str:
    """Return the value of a column of texts that names one row a sum; empty if none does."""
    if KINDS[column.kind].measured:
        return ""
    named = [i for i, value in enumerate(column.values) if value.strip(" :").casefold() in _SUMS]
    alone = [i for i in named if column.counts[i] == 1]
    return column.values[alone[0]] if len(named) == len(alone) == 1 else ""


def code_rows(column: Column) -> tuple[str, int] | None:
    """Return the number that likely represents a missing value, and its rows; None without one.

    It is a usual code at an end of the numbers, and either the most frequent value or the one
    negative number.
    """
    measure = column.measure
    if not KINDS[column.kind].amount or measure is None or len(measure) < 3:
        return None
    for place, others in ((0, measure[1:]), (len(measure) - 1, measure[:-1])):
        value, rows = float(measure[place]), int(column.counts[place])
        if value not in _CODES:
            continue
        commonest = rows > 1 and rows == int(column.counts.max())
        alone = value < 0 <= float(others.min()) and rows > 1
        apart = value < 0 or value > 1.5 * float(np.max(others))
        if apart and (commonest or alone):
            return column.values[place], rows
    return None


# Values that usually represent a missing one: counted as values until someone says otherwise.


#: As surveys and registers write them, except for what is read as missing anyway. Codes of one
#: digit are left out, since they are as often values.
USUAL_CODES = frozenset(
    {
        *("-9", "-99", "-999", "-9999", "99", "999", "9999", "-", "--", ".", "..", "n.a.", "n/k"),
        *("#n/a", "#null!", "missing", "unknown", "not known", "not stated", "not recorded"),
        *("not available", "not applicable", "unspecified", "no answer", "don't know", "undefined"),
    }
)


def rows_with_codes(column: Column) -> int:
    """Return how many rows have a value that usually represents a missing one."""
    numbered = enumerate(column.values)
    codes = [i for i, text in numbered if text.casefold() in USUAL_CODES or text in MISSING_TOKENS]
    return int(column.counts[codes].sum())
