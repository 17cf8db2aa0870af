"""The private table as its changes leave it: each made again from the recipe, the key and the seed.

Nothing of the code that made them is used here. Each is written from its definition.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import cast

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.findings import Check
from anon_core.verification.rows import changed_values as changed_values  # enters its own
from anon_core.verification.rows.change_rules import MADE_AGAIN, Redone, Rows, Told, makes_again
from anon_core.verification.rows.tables import Promise
from anon_core.verification.text.cells import Cells, TextTable, narrow
from anon_core.verification.text.texts import read_private_column


def made_again() -> frozenset[str]:
    """Return the names of the changes that are known here."""
    return frozenset(MADE_AGAIN)


def with_changes(
    promise: Promise, private: TextTable, key: bytes
) -> tuple[Promise, TextTable, list[Check]]:
    """Return the promise and the private table of what is to be published, with what was made.

    Raises
    ------
    BadPlan
        If a change is not known here, or asks for what was not given.
    """
    if not promise.changes:
        return promise, private, []
    named = [n for n in private.names if n in promise.named]
    texts: dict[str, Rows] = {}

    def rows(name: str) -> Rows:
        if name not in texts:
            gone = {"", *(token.strip() for token in promise.missing_of(name))}
            gone -= set(promise.kept.get(name, ()))
            cells = private.column(name)
            told = [None if text.strip() in gone else text.strip() for text in cells.texts]
            told.append(None)
            texts[name] = [told[code] for code in cells.codes.tolist()]
        return texts[name]

    def measures(name: str) -> list[Decimal | int | None]:
        column = read_private_column(
            private.column(name),
            promise.kinds.get(name),
            promise.missing_of(name),
            neutralised=False,
            ordered=False,
        )
        told = [None if isinstance(key, str) else key for key in column.keys]
        return [[*told, None][code] for code in column.codes.tolist()]

    order: list[int] = []
    digest: list[str] = []

    def canonical() -> Sequence[int]:
        if not digest:
            found, told = _by_content({name: rows(name) for name in named}, len(private))
            order.extend(found)
            digest.append(told)
        return order

    shown, kinds = dict[str, Cells](), dict(promise.kinds)
    checks: list[Check] = []
    for change in promise.changes:
        name, columns = str(change.get("name", "")), tuple(cast(Sequence[str], change["columns"]))

        def generator(name: str = name, columns: tuple[str, ...] = columns) -> np.random.Generator:
            canonical()
            if promise.seed is None:
                raise BadPlan(
                    "The recipe has no seed, so what its changes drew cannot be drawn again.",
                    remedy="Use the completed recipe, which `run --recipe-out` writes.",
                )
            return _drawn(promise.seed, "change", name, *sorted(columns), digest[0])

        if name not in made_again():
            raise BadPlan(
                f"The change '{name[:40]}' is not known here, so it cannot be made again.",
                remedy="Use the workbench that wrote the recipe, or a newer one.",
            )
        told = Told(
            change=change,
            columns=columns,
            rows=rows,
            person=promise.person,
            key=key,
            order=canonical,
            generator=generator,
            kind=lambda column: promise.kinds.get(column, "text"),
            measures=measures,
        )
        other, rows_told = 0, 0
        for column, (cells, kind) in MADE_AGAIN[name](told).items():
            place: dict[str, int] = {}
            codes = [-1 if cell is None else place.setdefault(cell, len(place)) for cell in cells]
            shown[column] = Cells(codes=narrow(np.array(codes), len(place)), texts=list(place))
            kinds[column] = kind
            other += sum(was != now for was, now in zip(rows(column), cells, strict=True))
            rows_told += len(cells)
        checks.append(
            Check(
                name="changes",
                holds=True,
                column=columns[0],
                bound=float(rows_told),
                reached=float(other),
                sentence=f"{listing(columns)} {'was' if len(columns) == 1 else 'were'} changed "
                f"again ('{name}'): {other:,} of {rows_told:,} cells differ from the table's, and "
                "what is published is true of the changed table.",
            )
        )
    return replace(promise, kinds=kinds, drew=bool(digest)), private.replaced(shown), checks


def _by_content(columns: Mapping[str, Rows], rows: int) -> tuple[list[int], str]:
    """Return the rows by what they say, and what all of it comes to; missing values are last."""
    digest, keys = hashlib.sha256(), list[list[int]]()
    for name, texts in columns.items():
        held = sorted({text for text in texts if text is not None})
        place = {text: number for number, text in enumerate(held)}
        keys.append([len(held) if text is None else place[text] for text in texts])
        digest.update("\0".join([name, *held, ""]).encode("utf-8", "surrogatepass"))
    lines = list(zip(*keys, strict=True)) if keys else [()] * rows
    order = sorted(range(rows), key=lines.__getitem__)
    for own in keys:
        digest.update(b"".join(own[row].to_bytes(8, "little") for row in order))
    return order, digest.hexdigest()


def _drawn(seed: int, *purpose: str) -> np.random.Generator:
    digest = hashlib.sha256(seed.to_bytes(32))
    for part in purpose:
        digest.update(hashlib.sha256(part.encode()).digest())
    start = np.random.SeedSequence(int.from_bytes(digest.digest()))
    return np.random.Generator(np.random.Philox(start))


# Keyed texts: HMAC-SHA-256 of fields behind their lengths, written as its definition has it.


def _hmac(key: bytes, *fields: bytes, after: bytes = b"") -> bytes:
    if len(key) != 32:
        raise BadPlan(
            "A change asks for the secret key of 64 hexadecimal digits, and it was not given.",
            remedy="Give it with --key-file, or in the environment as ANONYMITY_KEY.",
        )
    told = b"".join(len(one).to_bytes(4, "big") + one for one in fields) + after
    inner = bytes(b ^ 0x36 for b in key.ljust(64, b"\0"))
    outer = bytes(b ^ 0x5C for b in key.ljust(64, b"\0"))
    return hashlib.sha256(outer + hashlib.sha256(inner + told).digest()).digest()


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


@makes_again("constant")
def _constant(told: Told) -> Redone:
    value = told.text("value", "*").strip()
    return {name: ([value] * len(told.rows(name)), "text") for name in told.columns}


@makes_again("pseudonym")
def _pseudonym(told: Told) -> Redone:
    domain, letters = told.text("domain", "person").encode(), int(told.text("bits", "80")) // 5
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        made: dict[str, str] = {}
        for text in {t for t in told.rows(name) if t is not None}:
            plain = _bare(text)
            if told.asked("fold_case"):
                plain = unicodedata.normalize("NFC", plain.casefold())
            code = _hmac(told.key, b"pseudonym/1", domain, plain.encode("utf-8", "surrogatepass"))
            made[text] = base64.b32encode(code).decode().lower()[:letters]
        cells: Rows = [None if text is None else made[text] for text in told.rows(name)]
        found[name] = cells, "text"
    return found


_DATE = re.compile(
    r"(?:(\d{4})([-/])(\d\d?)([-/])(\d\d?)|(\d\d?)\.(\d\d?)\.(\d{4}))(.*)", re.DOTALL
)


def _later(text: str, days: int) -> str:
    found = _DATE.fullmatch(text)
    if found is None:
        raise BadPlan("A shifted column holds no whole dates.", remedy="Correct the recipe.")
    y, one, m, two, d, day, month, year, rest = found.groups()
    told = date(int(y or year), int(m or month), int(d or day)) + timedelta(days)
    if y:
        return f"{told.year:04}{one}{told.month:02}{two}{told.day:02}{rest}"
    return f"{told.day:02}.{told.month:02}.{told.year:04}{rest}"


@makes_again("date-shift")
def _date_shift(told: Told) -> Redone:
    domain, most = told.text("domain", "person").encode(), int(told.change.get("days", 182))
    step = 7 if told.asked("weeks") else 1
    size = 2 * (most // step) + 1
    whose = told.rows(told.text("by", "") or told.person)
    shift: dict[str, int] = {}
    for who in {w for w in whose if w is not None}:
        counter, number = 0, 1 << 64
        person = _bare(who).encode("utf-8", "surrogatepass")
        while number >= (1 << 64) - (1 << 64) % size:
            after = counter.to_bytes(4, "big")
            code = _hmac(told.key, b"date-shift/1", domain, person, after=after)
            number, counter = int.from_bytes(code[:8], "big"), counter + 1
        shift[who] = step * (number % size - size // 2)
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        both = zip(told.rows(name), whose, strict=True)
        cells: Rows = [None if t is None or w is None else _later(t, shift[w]) for t, w in both]
        found[name] = cells, told.kind(name)
    return found
