"""The 18 kinds of identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2), that a table shows.

A list of what is found, for a table or for a release of it; never a judgement.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from anon_core.data.column import Column
from anon_core.data.roles.findings import names_people, names_somebody
from anon_core.data.roles.header_words import all_of, known_as, words_of
from anon_core.data.roles.redaction import is_free_text
from anon_core.data.table import Dataset

State = Literal["found", "not found", "cannot be seen"]
#: Areas of the first three digits of a ZIP code in which 20,000 people or fewer lived in 2000, as
#: HHS names them. Newer lists replace it.
SMALL_AREAS = all_of("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
#: Share of a column's values that have to look like a kind, and values that are looked at.
_SHARE, _LOOKED = 0.05, 20_000

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_URL = re.compile(r"(https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}")
_PHONE = re.compile(r"\+\d[\d ()./-]{7,}\d|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}")
_DATE = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2}([T ].*)?)?|\d{4}-?Q[1-4]|"
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}[./]\d{4}"
)
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_OLD = re.compile(r"\[?(\d{2,3})( ?[-–,] ?\d{2,3}[\]\)]?)?")
_LETTERS = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


@dataclass(frozen=True, kw_only=True)
class ColumnFound:
    """A column that holds identifiers of a kind.

    Attributes
    ----------
    by : {'header', 'values'}
    share : float
        Of its different values, those that are such identifiers.
    """

    column: str
    by: Literal["header", "values"]
    share: float


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One of the 18 kinds, and what a table shows of it.

    Attributes
    ----------
    letter : str
        As the rule counts them, A to R.
    state : {'found', 'not found', 'cannot be seen'}
        Of kinds that are not texts nothing is known; of the others neither, unless they are found,
        where the table has texts of many words: see `free_texts`.
    """

    letter: str
    title: str
    state: State
    columns: tuple[ColumnFound, ...] = ()


def is_vin(cell: str) -> bool:
    """Say whether a text is a vehicle's number, by its check digit.

    Examples
    --------
    >>> is_vin("1M8GDM9AXKP042788"), is_vin("1M8GDM9A1KP042788"), is_vin("1M8GDM9AXKP04278I")
    (True, False, False)
    """
    if not _VIN.fullmatch(cell):
        return False
    values = [int(sign) if sign.isdigit() else _LETTERS[sign] for sign in cell]
    rest = sum(v * w for v, w in zip(values, _WEIGHTS, strict=True)) % 11
    return cell[8] == ("X" if rest == 10 else str(rest))


def is_card(cell: str) -> bool:
    """Say whether digits are a card's number, by Luhn's check digit.

    Examples
    --------
    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    if not re.fullmatch(r"\d{13,19}", cell):
        return False
    doubled = [int(d) * (1 + place % 2) for place, d in enumerate(reversed(cell))]
    return sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


def is_iban(cell: str) -> bool:
    """Say whether a text is an IBAN, by its check digits.

    Examples
    --------
    >>> is_iban("DE89370400440532013000"), is_iban("DE89370400440532013001")
    (True, False)
    """
    packed = cell.replace(" ", "")
    if not _IBAN.fullmatch(packed):
        return False
    return int("".join(str(int(sign, 36)) for sign in packed[4:] + packed[:4])) % 97 == 1


def is_zip(cell: str, small_areas: Collection[str] = SMALL_AREAS) -> bool:
    """Say whether a ZIP code shows more than the rule allows: three digits of a large area, or 000.

    Examples
    --------
    >>> [is_zip(cell) for cell in ("90210", "9021*", "902", "902**", "036", "000")]
    [True, True, False, False, True, False]
    """
    digits = re.match(r"\d*", cell)
    first = digits.group() if digits else ""
    return len(first) > 3 or (len(first) == 3 and first in small_areas)


def is_age(cell: str) -> bool:
    """Say whether an age above 89 is reported in more detail than as 90 and above.

    Examples
    --------
    >>> [is_age(cell) for cell in ("89", "90", "90+", "≥90", "90-94", "[95, 99]", "80-89")]
    [False, True, False, False, True, True, False]
    """
    found = _OLD.fullmatch(cell.strip())
    return found is not None and int(found[1]) > 89


def is_date(cell: str) -> bool:
    """Say whether a date shows more than its year.

    Examples
    --------
    >>> [is_date(cell) for cell in ("2024-03-05", "2024-03", "05.03.2024", "2024-Q1", "2024")]
    [True, True, True, True, False]
    """
    return _DATE.fullmatch(cell.strip()) is not None


def is_birth_year(cell: str, year: int) -> bool:
    """Say whether a year of birth gives an age above 89.

    Examples
    --------
    >>> is_birth_year("1936", 2026), is_birth_year("1937", 2026)
    (True, False)
    """
    return bool(re.fullmatch(r"1[89]\d\d|20\d\d", cell)) and year - int(cell) > 89


def is_ip(cell: str) -> bool:
    """Say whether a text is an address of the Internet, of version 4 or 6."""
    with suppress(ValueError):
        return "." in cell or ":" in cell if ipaddress.ip_address(cell) else False
    return False


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda cell: pattern.fullmatch(cell.strip()) is not None


def _any(cell: str) -> bool:
    return True


Rules = Mapping[str, Callable[[str], bool]]
#: Letter, title, words of headers, and what values look like; both may be empty.
_KINDS: tuple[tuple[str, str, frozenset[str], Rules], ...] = (
    (
        "A",
        "Names",
        all_of("name names firstname lastname surname forename givenname fullname lname fname"),
        {},
    ),
    (
        "B",
        "Places smaller than a state",
        all_of(
            "address street city town county precinct borough municipality suburb neighborhood "
            "neighbourhood parish hometown latitude longitude lat lon lng"
        ),
        {},
    ),
    ("C", "Dates, and ages above 89", frozenset(), {"date": is_date}),
    (
        "D",
        "Telephone numbers",
        all_of("phone telephone tel mobile msisdn"),
        {"phone": _matches(_PHONE)},
    ),
    ("E", "Fax numbers", all_of("fax"), {}),
    ("F", "E-mail addresses", all_of("email mail"), {"email": _matches(_EMAIL)}),
    ("G", "Social security numbers", all_of("ssn"), {"ssn": _matches(_SSN)}),
    ("H", "Medical record numbers", all_of("mrn patientid patid patnr"), {}),
    ("I", "Health plan numbers", all_of("plan beneficiary insuranceid memberid policy"), {}),
    ("J", "Account numbers", all_of("account iban card"), {"iban": is_iban, "card": is_card}),
    ("K", "Certificate and licence numbers", all_of("licence license certificate npi"), {}),
    ("L", "Vehicles and their plates", all_of("vin plate vehicle"), {"vin": is_vin}),
    ("M", "Devices and their serial numbers", all_of("device serial imei imsi udi mac"), {}),
    ("N", "Web addresses", all_of("url website homepage"), {"url": _matches(_URL)}),
    ("O", "Addresses of the Internet", all_of("ip ipaddress"), {"ip": is_ip}),
    ("P", "Biometric identifiers", frozenset(), {}),
    ("Q", "Photographs of a face", frozenset(), {}),
    ("R", "Any other unique number, code or feature", frozenset(), {}),
)
#: Kinds that are not texts, or that anything may be.
_UNSEEN = "PQR"
_ZIP = all_of("zip zipcode postcode postal postalcode plz zip3 zip5")
_AGE = all_of("age ages alter edad")
#: What an address of a network has in its header.
_NO_PLACE = all_of("mac ip ipaddress email mail web url")
#: Kinds by what `known_as` says of headers in other languages.
_MEANT = {
    "name": "A", "doctor": "A", "address": "B", "telephone": "D", "e-mail": "F",
    "social security number": "G",
}  # fmt: skip
#: Why nothing of a table with such columns is called "not found"; their names follow.
FREE = "Texts of many words may hold any kind, so what is not found cannot be seen"
_BIRTH, _YEARS = all_of("birth born birthyear"), all_of("year birthyear yob")


def safe_harbor(
    dataset: Dataset, *, year: int, small_areas: Collection[str] = SMALL_AREAS
) -> tuple[Kind, ...]:
    """List the 18 kinds with the columns that hold identifiers of each.

    A column of numbers of records and the like is found by its header; ZIP codes, ages and years of
    birth by header and value; the others by header or values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"contact": ["a@b.org"], "zip": ["902"], "seen": ["2024"]})
    >>> [k.letter for k in safe_harbor(Dataset.from_frame(frame), year=2026) if k.state == "found"]
    ['F']
    """
    found: dict[str, list[ColumnFound]] = {letter: [] for letter, *_ in _KINDS}
    free = free_texts(dataset)
    for column in dataset.columns:
        for letter, one in _of_column(column, year, small_areas):
            found[letter].append(one)
    return tuple(
        Kind(
            letter=letter,
            title=title,
            state="found"
            if found[letter]
            else "cannot be seen"
            if letter in _UNSEEN or free
            else "not found",
            columns=tuple(found[letter]),
        )
        for letter, title, _, _ in _KINDS
    )


def free_texts(dataset: Dataset) -> tuple[str, ...]:
    """Return the columns whose texts of many words may hold identifiers of any kind."""
    return tuple(column.name for column in dataset.columns if is_free_text(column))


def _of_column(
    column: Column, year: int, small_areas: Collection[str]
) -> list[tuple[str, ColumnFound]]:
    header = words_of(column.name)
    words = {*header, "".join(header)}
    meant = _MEANT.get(known_as(header, "identifier").partition("(")[2].rstrip(")"))
    cells = list(islice(column.values, _LOOKED))
    found: list[tuple[str, ColumnFound]] = []

    def look(
        letter: str, by: Literal["header", "values"], rule: Callable[[str], bool], least: float
    ) -> None:
        share = sum(rule(cell.strip()) for cell in cells) / max(len(cells), 1)
        if share > 0 and share >= least:
            found.append((letter, ColumnFound(column=column.name, by=by, share=share)))

    if words & _ZIP:
        look("B", "header", lambda cell: is_zip(cell, small_areas), 0)
    elif cells and all(re.fullmatch(r"\d{5}(-\d{4})?", cell) for cell in cells):
        look("B", "values", _any, 0)
    if words & _AGE:
        look("C", "header", is_age, 0)
    if (words & _BIRTH and words & _YEARS) or "yob" in words:
        look("C", "header", lambda cell: is_birth_year(cell, year), 0)
    if names_people(column.values):
        look("A", "values", names_somebody, _SHARE)
    for letter, _, headers, rules in _KINDS:
        for rule in rules.values():
            look(letter, "values", rule, _SHARE)
        named = words & headers or letter == meant
        if letter == "B" and not words.isdisjoint(_NO_PLACE):
            continue
        if named and not any(own == letter for own, _ in found):
            look(letter, "header", _any, 0)
    return found
