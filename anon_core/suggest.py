"""Suggest what each column is to an attacker: a start for a person to correct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .roles import Role
from .table import Column, Dataset

#: Share of distinct values from which a column is taken for a key, and rows needed to say so.
_KEY_SHARE = 0.95
_KEY_ROWS = 20
#: Below this share of distinct values a column called "name" names things, not people.
_THING_SHARE = 0.05
_PATTERN_SHARE = 0.9
_PATTERN_SAMPLE = 2000


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A role that suits a column, and why in one sentence."""

    name: str
    role: Role
    reason: str


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


_IDENTIFIER_WORDS = _all(
    "id ids uid uuid guid name names firstname lastname surname forename givenname fullname ssn "
    "nin nhs mrn passport email mail phone telephone tel mobile fax address street iban account "
    "username login url ip licence license plate patientid customerid personid"
)
_QUASI_WORDS = _all(
    "age birth born birthday birthdate dob yob sex gender zip zipcode postcode postal plz city "
    "town county state region district country nationality citizenship race ethnicity ethnic "
    "marital married relationship household education school degree occupation job profession "
    "workclass employer language height weight admission discharge visit date year"
)
_SENSITIVE_WORDS = _all(
    "diagnosis disease illness condition icd symptom treatment therapy drug medication hiv "
    "disability salary income wage pay earnings debt credit score religion belief party politics "
    "union orientation crime conviction offence offense result grade"
)
_PATTERNS: tuple[tuple[re.Pattern[str], Role, str], ...] = (
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
    return tuple(_suggest(column, dataset.rows) for column in dataset.columns)


def _suggest(column: Column, rows: int) -> Suggestion:
    role, reason = _by_content(column, rows)
    return Suggestion(name=column.name, role=role, reason=reason)


def _by_content(column: Column, rows: int) -> tuple[Role, str]:
    words = _words(column.name)
    spread = len(column.values) / rows
    if column.kind != "date":
        for pattern, role, reason in _PATTERNS:
            if column.kind != "number" and _mostly(column, pattern):
                return role, reason
    if found := _known(words, _IDENTIFIER_WORDS):
        if spread >= _THING_SHARE or rows < _KEY_ROWS:
            return "identifier", f"'{found}' in its name: points to one person."
        return "quasi", f"'{found}' in its name, but many rows share a value."
    if found := _known(words, _SENSITIVE_WORDS):
        return "sensitive", f"'{found}' in its name: people keep it private."
    if found := _known(words, _QUASI_WORDS):
        return "quasi", f"'{found}' in its name: others may know it."
    once = int(np.count_nonzero(column.counts == 1))
    if rows >= _KEY_ROWS and spread >= _KEY_SHARE and _key_like(column):
        return "identifier", f"{spread:.0%} of its values are distinct, like a key."
    if column.kind == "date":
        return "quasi", "Dates of events are often known to others."
    if rows >= _KEY_ROWS and once / rows >= 0.2:
        return (
            "insensitive",
            f"Little known, but {once / rows:.1%} of rows have a value of their own.",
        )
    return "insensitive", "Its name and values are not known here: judge it yourself."


def _words(name: str) -> list[str]:
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word for word in re.split(r"[^a-z0-9]+", parts.lower()) if word]


def _known(words: Sequence[str], known: frozenset[str]) -> str:
    return next((word for word in words if word in known), "")


def _mostly(column: Column, pattern: re.Pattern[str]) -> bool:
    sample = column.values[:_PATTERN_SAMPLE]
    if not sample:
        return False
    return sum(pattern.fullmatch(v) is not None for v in sample) >= _PATTERN_SHARE * len(sample)


def _key_like(column: Column) -> bool:
    """Tell keys from measurements: texts and whole numbers may be keys, fractions are measured."""
    if column.measure is None:
        return True
    return column.kind == "number" and bool(np.all(column.measure == np.floor(column.measure)))
