"""Suggest what each column is to an attacker: a start for a person to correct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from anon_core.data.column import Column
from anon_core.data.hierarchy.propose.library import matches
from anon_core.data.roles.findings import DAY, STREET, findings, names_people, numbers_somebody
from anon_core.data.roles.header_words import (
    CODES,
    COUNTED,
    FREE_TEXT,
    NUMBERED,
    OF_HOUSEHOLDS,
    OF_PERSONS,
    OF_STRATA,
    OF_SURVEYS,
    OF_WEIGHTS,
    PERSON_NUMBERS,
    SEVERAL,
    WEIGHTS,
    all_of,
    asks_for_figures,
    head_of,
    is_sure,
    known_as,
    stands_in,
    words_of,
)
from anon_core.data.roles.redaction import is_free_text
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: Share of distinct values that a shipped list must know, and most of them that are looked up.
_KNOWN, _MOST = 0.8, 2000


def suggested(dataset: Dataset) -> tuple[Suggestion, ...]:
    """Suggest a role for every column, in the table's order, each with its reason.

    What neither name nor values tell is looked up in the shipped hierarchies: countries, levels of
    education, occupations and the like are known to others.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = ["Peru", "Chile", "Mali", "Peru", "Cuba"] * 5
    >>> suggested(Dataset.from_frame(pd.DataFrame({"v17": rows})))[0].role
    'quasi'
    """
    return tuple(
        _looked_up(one, dataset.column(one.name)) if one.role == "undecided" else one
        for one in suggest_roles(dataset)
    )


def _looked_up(one: Suggestion, column: Column) -> Suggestion:
    if KINDS[column.kind].measured or not 0 < len(column.values) <= _MOST:
        return one
    found = matches(column, least=_KNOWN)
    if not found:
        return one
    best = found[0]
    return replace(
        one,
        role="quasi",
        reason=f"{best.known:,} of its {len(column.values):,} values are in the shipped list "
        f"“{best.title}”: others may know them.",
    )


#: Share of distinct values from which a column is taken for a key, and rows needed to say so.
_KEY_SHARE = 0.95
_KEY_ROWS = 20
#: Below this share of distinct values a column called "name" names things, not people.
_THING_SHARE = 0.05
#: Up to this share of distinct values texts sort rows into categories, however long they are.
_FEW_CATEGORIES = 0.01
#: From this share of distinct values a column distinguishes people, whatever it is about.
_APART_SHARE = 0.8
_PATTERN_SHARE = 0.9
_PATTERN_SAMPLE = 2000


#: Share of distinct values from which texts are free text, whatever the header says.
_FREE_TEXT_SHARE = 0.5
#: Whole numbers are taken for ages that end between these, with as many different ones at least.
_AGES_END, _AGES = (40, 120), 15

#: Distinct values by which races are recognized, and the share of them that must be.
_FEW_RACES, _MOST_RACES, _RACES_SHARE = 3, 40, 0.6

#: A role, or that there is none to suggest: a column is never taken for insensitive.
Suggested = Literal[
    "identifier", "person", "household", "weight", "quasi", "sensitive", "left_out", "undecided"
]


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """What suits a column, and why in one sentence.

    Nothing is ever suggested to be published as it is: what is unknown stays undecided, and texts
    that may say anything are better left out.
    """

    name: str
    role: Suggested
    reason: str


#: Rows of one person on average, up to which such a number is taken to repeat for persons.
_MOST_REPEATED = 100
#: Rows of one household on average, up to which a number is taken for that of a household.
_MOST_TOGETHER = 10

#: Above so many kilograms or pounds no body weighs.
_HEAVIEST = 1500

#: Two to four words with capitals, as people are called.
_PERSON = re.compile(r"([^\W\d_][\w'’.-]*,? ){1,3}[^\W\d_][\w'’.-]*")
#: How two sexes are written, and what may be next to them.
_SEXES = tuple(
    all_of(pair) for pair in ("m f", "m w", "m v", "m k", "h f", "male female", "man woman",
    "men women", "boy girl", "männlich weiblich", "mann frau", "homme femme", "masculin féminin",
    "hombre mujer", "masculino femenino", "maschio femmina", "man vrouw", "mand kvinde")
)  # fmt: skip
#: Words of which one is in most values that name races or ethnic groups.
_RACES = all_of(
    "white black asian hispanic latino latina caucasian african american indian eskimo aleut "
    "native pacific islander hawaiian mixed multiracial biracial alaska alaskan"
)
_YES_NO = all_of("yes no y n true false 0 1 ja nein j oui non o si sí no nej sim não wahr falsch")
#: Numbers below this are no telephone number.
_COUNTED = 10_000
_NO_SEX = all_of("x d u o other diverse divers unknown none na n/a nonbinary non-binary")
#: What is made of figures as telephone numbers are, and is none: shape, its own word, and why.
_SHAPES: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        DAY,
        "date",
        "Its values look like dates: others may know when things happened.",
    ),
    (
        re.compile(r"\d{5}(-\d{4})?"),
        "postcode",
        "Its values look like postcodes: others may know them.",
    ),
    (
        re.compile(r"\d{1,6} ?[-–/] ?\d{1,6}"),
        "range",
        "Its values look like ranges or fractions: others may know the values behind them.",
    ),
)
_PATTERNS: tuple[tuple[re.Pattern[str], Suggested, str], ...] = (
    (
        re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
        "identifier",
        "Its values are e-mail addresses.",
    ),
    (
        re.compile(r"\d{3}-\d{2}-\d{4}"),
        "identifier",
        "Its values look like social security numbers.",
    ),
    (re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"), "identifier", "Its values look like IBANs."),
    (
        STREET,
        "identifier",
        "Its values look like streets with a house number.",
    ),
    (
        re.compile(r"\+?\(?\d[\d ()/-]{7,}\d"),
        "identifier",
        "Its values look like telephone numbers.",
    ),
    (
        re.compile(r"[A-TV-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?"),
        "sensitive",
        "Its values look like ICD codes of diagnoses.",
    ),
)


def suggest_roles(dataset: Dataset) -> tuple[Suggestion, ...]:
    """Suggest a role for every column, in the table's order, each with its reason.

    Looks at names, at the pattern of values, and at how many values occur only once. It is a
    start for a person to correct: what an attacker knows is not written in the table.
    """
    found = [_suggest(column, dataset.rows) for column in dataset.columns]
    found = _where_names_recur(dataset, _weights_of_surveys(dataset, found))
    first = {one.role: one.name for one in reversed(found)}
    return tuple(_only(one, first[one.role]) for one in found)


def _weights_of_surveys(dataset: Dataset, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Ask about weights that may be a body's or a survey's, where a survey has left its marks."""
    if not any(
        one.role == "household" or not OF_STRATA.isdisjoint(words_of(one.name)) for one in found
    ):
        return list(found)
    reason = "Weights, of a body or of a survey: people a row represents. Decide."
    return [
        replace(one, role="undecided", reason=reason)
        if one.role == "quasi" and _may_weigh(dataset.column(one.name), words_of(one.name))
        else one
        for one in found
    ]


def _only(one: Suggestion, first: str) -> Suggestion:
    """Give what is the second of a role that one column has another."""
    if one.name == first or one.role not in ("person", "household", "weight"):
        return one
    if one.role == "weight":
        return replace(one, role="left_out", reason=f"A weight as '{first}' is; one counts.")
    return replace(one, role="identifier")


def _where_names_recur(dataset: Dataset, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Leave out what would be published with words of an identifier in its cells."""
    hidden = [one.name for one in found if one.role in ("identifier", "person")]
    asked = [
        one.name
        for one in found
        if one.role in ("undecided", "sensitive", "left_out")
        and not KINDS[dataset.column(one.name).kind].measured
    ]
    if not hidden or not asked:
        return list(found)
    held = {
        one.column: one
        for one in findings(dataset, Roles(identifier=tuple(hidden), sensitive=tuple(asked)))
        if one.what == "names"
    }
    return [
        replace(one, role="left_out", reason=held[one.name].sentence) if one.name in held else one
        for one in found
    ]


def _suggest(column: Column, rows: int) -> Suggestion:
    role, reason = _by_content(column, rows)
    return Suggestion(name=column.name, role=role, reason=reason)


def _by_content(column: Column, rows: int) -> tuple[Suggested, str]:
    words = head_of(words_of(column.name))
    spread = len(column.values) / rows
    filled = rows - column.missing
    if not filled:
        return "left_out", "It is empty: every value is missing."
    shape, why = "", ""
    rules = KINDS[column.kind]
    if not rules.measured:
        found = (shape for shape in _SHAPES if _mostly(column, shape[0]))
        _, shape, why = next(found, (None, "", ""))
        for pattern, role, reason in _PATTERNS:
            if not shape and _mostly(column, pattern):
                return role, reason
    if _repeats_persons(column, words, rows):
        values = len(column.values)
        return "person", f"{values:,} values in {rows:,} rows: people have several."
    if _repeats_households(column, words, rows):
        values = len(column.values)
        return "household", f"{values:,} values in {rows:,} rows: people live together."
    if _weighs(column, words):
        return (
            "weight",
            "Its name and numbers are those of survey weights: people a row represents.",
        )
    named = not rules.measured and names_people(column.values)
    if found := known_as(words, "identifier"):
        if spread >= _THING_SHARE or rows < _KEY_ROWS:
            return "identifier", f"{found} in its name: points to one person."
        if (named or is_sure(words, found)) and not (
            _flags(column) or _counts(column, words) or _in_words(column, found)
        ):
            return (
                "identifier",
                f"{found} in its name: points to one person, although many rows share a value.",
            )
        return "quasi", f"{found} in its name, but many rows share a value."
    sorts = len(column.values) <= _FEW_CATEGORIES * filled
    free = not rules.measured and not sorts and is_free_text(column)
    apart = len(column.values) > max(_APART_SHARE * filled, 1)
    if free and len(column.values) >= _FREE_TEXT_SHARE * filled:
        return "left_out", "Its values are texts of many words, and these may name people."
    # Few different texts are categories, whatever their name says.
    few = rows >= _KEY_ROWS and len(column.values) < _THING_SHARE * filled and not free
    if not few and (found := next((w for w in words if stands_in(w, FREE_TEXT)), "")):
        return "left_out", f"'{found}' in its name: free text may name people."
    if named or (column.kind == "text" and apart and _mostly(column, _PERSON)):
        return "identifier", "Its values look like names of people."
    if found := known_as(words, "sensitive"):
        return "sensitive", f"{found} in its name: people keep it private."
    if found := known_as(words, "quasi"):
        return "quasi", f"{found} in its name: others may know it."
    if shape == "date":
        return "quasi", why
    if free:
        return "left_out", "Its values are texts of many words, and these may name people."
    if rows >= _KEY_ROWS and spread >= _KEY_SHARE and _numbers_rows(column):
        return "identifier", f"{spread:.0%} of its values are distinct, like a key."
    if rules.known:
        return "quasi", rules.known
    if shape:
        return "quasi", why
    if apart and _key_like(column):
        return (
            "quasi",
            f"{len(column.values) / filled:.0%} of its values are distinct: published unchanged, "
            f"they would single people out.",
        )
    if _sexes(column):
        return "quasi", "Its values are the two sexes: others know them."
    if _races(column):
        return "quasi", "Its values name races or ethnic groups: others may know them."
    if _ages(column) and COUNTED.isdisjoint(words):
        return "quasi", "Its values are whole numbers as ages are: others may know them."
    once = int(np.count_nonzero(column.counts == 1))
    if rows >= _KEY_ROWS and once / rows >= 0.2:
        return (
            "undecided",
            f"No suggestion: decide. {once / rows:.1%} of its rows have a unique value: anyone who "
            "knows the value can find the row.",
        )
    return "undecided", "No suggestion: decide. Neither its name nor its values say what it is."


def _repeats_persons(column: Column, words: Sequence[str], rows: int) -> bool:
    """Return whether a column numbers persons, by name or values, and some have several rows."""
    named = any(w in PERSON_NUMBERS for w in words) or _numbers_them(column, words, OF_PERSONS)
    values = len(column.values)
    repeats = 1 < values < rows and rows <= _MOST_REPEATED * values
    return named and repeats and not column.missing and _key_like(column)


def _repeats_households(column: Column, words: Sequence[str], rows: int) -> bool:
    """Return whether a column numbers households, by name and values, and some have several."""
    values = len(column.values)
    few = 1 < values < rows and rows <= _MOST_TOGETHER * values
    named = _numbers_them(column, words, OF_HOUSEHOLDS)
    return named and few and not column.missing and numbers_somebody(column)


def _numbers_them(column: Column, words: Sequence[str], them: frozenset[str]) -> bool:
    """Return whether a column numbers those whom its name names: an age is not of their numbers."""
    first = next((at for at, word in enumerate(words) if word in them), None)
    if first is None or (not COUNTED.isdisjoint(words[:first]) and words[first] in SEVERAL):
        return False
    if not NUMBERED.isdisjoint(words):
        return True
    rest = [w for w in words if w not in them | CODES and not w.isdigit()]
    if any(w in COUNTED for w in rest) or known_as(rest, "quasi") or known_as(rest, "sensitive"):
        return False
    return numbers_somebody(column) and (not rest or column.measure is None)


def _weighs(column: Column, words: Sequence[str]) -> bool:
    """Return whether a column has survey weights, by name and values; a body weighs less."""
    if column.measure is None or not _may_weigh(column, words):
        return False
    return not {*OF_WEIGHTS, *OF_SURVEYS}.isdisjoint(words) or (
        float(column.measure[-1]) > _HEAVIEST
    )


def _may_weigh(column: Column, words: Sequence[str]) -> bool:
    """Return whether a column can have survey weights: numbers from 1 up, all there, so named."""
    if column.kind != "number" or column.missing or column.measure is None:
        return False
    if column.measure[0] < 1:  # values ascend
        return False
    birth = any(w in ("birth", "geburt", "geburts") for w in words)
    return not OF_WEIGHTS.isdisjoint(words) or (not WEIGHTS.isdisjoint(words) and not birth)


def _flags(column: Column) -> bool:
    """Return whether values say yes or no, as of whether someone has a telephone."""
    return all(value.strip().casefold() in _YES_NO for value in column.values)


def _counts(column: Column, words: Sequence[str]) -> bool:
    """Return whether values count something, as visits to a doctor: small whole numbers."""
    if column.measure is None or not KINDS[column.kind].amount:
        return False
    return bool(np.all(np.abs(column.measure) < _COUNTED)) and not any(w in NUMBERED for w in words)


def _in_words(column: Column, found: str) -> bool:
    """Return whether values are words where a name asks for figures, as of a telephone's maker."""
    sample = column.values[:_PATTERN_SAMPLE]
    written = sum("@" in value or any(map(str.isdigit, value)) for value in sample)
    return asks_for_figures(found) and written * 2 < len(sample)


def _sexes(column: Column) -> bool:
    """Return whether the values are the two sexes, whatever the column is called."""
    values = {value.strip().lower() for value in column.values}
    return any(pair <= values <= pair | _NO_SEX for pair in _SEXES)


def _races(column: Column) -> bool:
    """Return whether most values name races or ethnic groups, and there are few."""
    if not _FEW_RACES <= len(column.values) <= _MOST_RACES:
        return False
    named = [not _RACES.isdisjoint(re.split(r"[^a-z]+", v.casefold())) for v in column.values]
    return sum(named) >= _RACES_SHARE * len(named)


def _ages(column: Column) -> bool:
    """Return whether the values could be ages in years: whole numbers, many, up to some hundred."""
    if not KINDS[column.kind].amount or column.measure is None or len(column.values) < _AGES:
        return False
    low, high = float(column.measure.min()), float(column.measure.max())
    first, last = _AGES_END
    return _key_like(column) and low >= 0 and first <= high <= last


def _mostly(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values[:_PATTERN_SAMPLE]
    if not sample:
        return False
    return sum(pattern.fullmatch(v) is not None for v in sample) >= _PATTERN_SHARE * len(sample)


def _numbers_rows(column: Column) -> bool:
    """Return whether almost distinct values are keys: amounts repeat, or differ in their length."""
    if column.measure is None:
        return True
    if not _key_like(column) or column.measure[0] < 0:  # values ascend
        return False
    alike = len({len(value) for value in column.values}) == 1
    return alike or bool(np.all(column.counts == 1))


def _key_like(column: Column) -> bool:
    """Tell keys from measurements: texts and whole numbers may be keys, fractions are measured."""
    if column.measure is None:
        return True
    return KINDS[column.kind].amount and bool(np.all(column.measure == np.floor(column.measure)))
