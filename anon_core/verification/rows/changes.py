"""The private table as its changes leave it: each made again from the recipe, the key and the seed.

Nothing of the code that made them is used here. Each is written from its definition. Numbers are
drawn in the order that the definition gives them, since only so does the seed give the same.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.findings import Check, judged
from anon_core.verification.recipe import Terms, demand
from anon_core.verification.rows.tables import random_of, read_of_rows
from anon_core.verification.text.cells import Cells, TextTable

# What a change is made again from, and the functions that make each again, by their names.


#: Texts of a column, row by row; None where there is no value.
Rows = list[str | None]


class Source:
    """The private table, whose columns changes are made again from."""

    def __init__(self, terms: Terms, private: TextTable) -> None:
        self.terms, self._private = terms, private
        self._texts: dict[str, Rows] = {}

    def rows(self, name: str) -> Rows:
        """Return a column's texts row by row, as they were read."""
        if name not in self._texts:
            gone = {"", *(token.strip() for token in self.terms.missing_of(name))}
            gone -= set(self.terms.kept.get(name, ()))
            plain = [text and text.strip() for text in self._private.column(name).row_texts()]
            self._texts[name] = [None if text in gone else text for text in plain]
        return self._texts[name]

    def measures(self, name: str) -> list[Decimal | int | None]:
        """Return the numbers or days of a column of a measured kind, row by row."""
        column = read_of_rows(self.terms, self._private, name)
        numbers = [*(None if isinstance(key, str) else key for key in column.keys), None]
        return [numbers[code] for code in column.codes.tolist()]

    @cached_property
    def content(self) -> tuple[list[int], str]:
        """The rows by what they say, and what all of it comes to; missing values are last."""
        digest, keys = hashlib.sha256(), list[list[int]]()
        for name in (n for n in self._private.names if n in self.terms.named):
            texts = self.rows(name)
            held = sorted({text for text in texts if text is not None})
            place = {text: number for number, text in enumerate(held)}
            keys.append([len(held) if text is None else place[text] for text in texts])
            digest.update("\0".join([name, *held, ""]).encode("utf-8", "surrogatepass"))
        rows = len(self._private)
        lines = list(zip(*keys, strict=True)) if keys else [()] * rows
        order = sorted(range(rows), key=lines.__getitem__)
        for own in keys:
            digest.update(b"".join(own[row].to_bytes(8, "little") for row in order))
        return order, digest.hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """What one change is made again from: its table of the recipe, the private one, and the key."""

    change: Mapping[str, Any]
    source: Source
    key: bytes = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it changes."""
        return tuple(cast(Sequence[str], self.change["columns"]))

    @property
    def name(self) -> str:
        """The kind of change."""
        return str(self.change.get("name", ""))

    def rows(self, column: str) -> Rows:
        """Return a column's texts row by row, as they were read."""
        return self.source.rows(column)

    def measures(self, column: str) -> list[Decimal | int | None]:
        """Return the numbers or days of a column of a measured kind, row by row."""
        return self.source.measures(column)

    def kind(self, column: str) -> str:
        """Return the kind of a column's values."""
        return self.source.terms.kinds.get(column, "text")

    @property
    def order(self) -> Sequence[int]:
        """The rows by their content."""
        return self.source.content[0]

    @cached_property
    def draw(self) -> np.random.Generator:
        """The numbers that the seed gives for this change, from the first on."""
        digest, seed = self.source.content[1], self.source.terms.seed
        what = "The recipe has no seed, so what its changes drew cannot be drawn again."
        demand(seed is not None, what, "Use the completed recipe, which `run --recipe-out` writes.")
        return random_of(cast(int, seed), "change", self.name, *sorted(self.columns), digest)

    def text(self, name: str, default: str) -> str:
        """Return a parameter that is a text."""
        return str(self.change.get(name, default))

    def number(self, name: str, default: float) -> float:
        """Return a parameter that is a number."""
        return float(self.change.get(name, default))

    def asked(self, name: str) -> bool:
        """Return a parameter that is a yes or no, and no where it is left out."""
        return self.change.get(name, False) is True


#: A changed column: its texts, and their kind.
Made = tuple[Rows, str]
Together = Callable[[Request], Mapping[str, Made]]
MADE_AGAIN: dict[str, Together] = {}


def makes_together(name: str) -> Callable[[Together], Together]:
    """Enter a function that makes a change again, and returns all its columns."""

    def enter(made: Together) -> Together:
        MADE_AGAIN[name] = made
        return made

    return enter


def makes_again(name: str) -> Callable[[Callable[[Request, str], Made]], Together]:
    """Enter a function that makes a change again, column by column."""

    def enter(made: Callable[[Request, str], Made]) -> Together:
        return makes_together(name)(lambda request: {n: made(request, n) for n in request.columns})

    return enter


# Values that a change drew, drawn again: swaps, noise, redrawn categories, condensed rows.


F64 = npt.NDArray[np.float64]


@makes_again("swapping")
def _swapping(request: Request, name: str) -> Made:
    share, draw = Fraction(str(request.change.get("share", 0.1))), request.draw
    by = [request.rows(name) for name in request.change.get("strata", [])]
    cells = request.rows(name)
    strata: dict[tuple[object, ...], list[int]] = {}
    for row in request.order:
        if cells[row] is not None:
            strata.setdefault(tuple(c[row] for c in by), []).append(row)
    made = list(cells)
    for rows in strata.values():
        lot = [rows[i] for i in draw.permutation(len(rows)).tolist()]
        for pair in range(int(share * len(rows) / 2)):
            one, other = lot[2 * pair], lot[2 * pair + 1]
            made[one], made[other] = cells[other], cells[one]
    return made, request.kind(name)


@makes_again("rank-swapping")
def _rank_swapping(request: Request, name: str) -> Made:
    draw = request.draw
    cells, size = request.rows(name), request.measures(name)
    rows = [row for row in request.order if cells[row] is not None]
    width = math.floor(Fraction(str(request.change.get("p", 5.0))) * len(rows) / 100)
    tie = dict(zip(rows, draw.random(len(rows)).tolist(), strict=True))
    ranked = sorted(rows, key=lambda row: (size[row], tie[row]))
    made, gone = list(cells), np.zeros(len(rows), dtype=np.bool_)
    for rank, row in enumerate(ranked):
        if gone[rank]:
            continue
        others = rank + 1 + np.flatnonzero(~gone[rank + 1 : rank + width + 1])
        if len(others):
            other = int(others[int(draw.integers(len(others)))])
            gone[other] = True
            made[row], made[ranked[other]] = cells[ranked[other]], cells[row]
    return made, request.kind(name)


def _texts(request: Request, name: str, values: Sequence[float | None]) -> tuple[Rows, str]:
    """Return numbers as texts, with the column's own decimals and those that are asked for."""
    own = {n for n in request.measures(name) if n is not None}
    most = max((_decimals(Decimal(n)) for n in own), default=0)
    digits = most + int(request.change.get("decimals", 0))
    made: Rows = []
    for value in values:
        text = None if value is None else f"{value:.{digits}f}"
        made.append(text.lstrip("-") if text and not float(text) else text)
    return made, "number"


def _decimals(value: Decimal) -> int:
    return len(f"{value:f}".partition(".")[2].rstrip("0"))


def _root(covariance: F64) -> F64:
    """Return the symmetric root of a covariance matrix, by its singular values."""
    left, value, _ = np.linalg.svd(covariance, hermitian=True)
    return np.asarray(left @ np.diag(np.sqrt(value)) @ left.T)


def _covariance(x: F64) -> F64:
    away = x - x.sum(axis=0) / len(x)
    return np.asarray(away.T @ away / (len(x) - 1))


@makes_together("additive-noise")
def _additive_noise(request: Request) -> Mapping[str, Made]:
    alpha, restore = request.number("alpha", 0.1), request.text("restore", "none")
    columns = [request.measures(name) for name in request.columns]
    rows = [row for row in request.order if all(c[row] is not None for c in columns)]
    x = np.array([[float(c[row] or 0) for c in columns] for row in rows])
    drawn = request.draw.standard_normal(x.shape)
    spread = alpha * _covariance(x)
    if restore == "exact":
        across, _ = np.linalg.qr(np.hstack([np.ones((len(x), 1)), x]))
        rest = drawn - across @ (across.T @ drawn)
        noise = rest @ np.linalg.inv(_root(_covariance(rest))) @ _root(spread)
    elif request.text("noise", "correlated") == "correlated":
        noise = drawn @ _root(spread)
    else:
        noise = drawn * np.sqrt(np.diag(spread))
    made = x + noise
    if restore != "none":
        mean = x.sum(axis=0) / len(x)
        made = mean + (made - mean) / math.sqrt(1 + alpha)
    found: dict[str, Made] = {}
    for d, name in enumerate(request.columns):
        of = dict(zip(rows, made[:, d].tolist(), strict=True))
        found[name] = _texts(request, name, [of.get(row) for row in range(len(columns[d]))])
    return found


@makes_again("multiplicative-noise")
def _multiplicative_noise(request: Request, name: str) -> Made:
    draw = request.draw
    values = request.measures(name)
    rows = [row for row in request.order if values[row] is not None]
    if request.text("mask", "lognormal") == "lognormal":
        scale = math.log(1 + request.number("variance", 0.04))
        normal = draw.standard_normal(len(rows)).tolist()
        masks = [math.exp(math.sqrt(scale) * z - scale / 2) for z in normal]
    else:
        a, b = request.number("near", 0.1), request.number("far", 0.3)
        away = a + (b - a) * draw.random(len(rows))
        masks = (1 + np.where(draw.random(len(rows)) < 0.5, -1, 1) * away).tolist()
    of = {row: float(values[row] or 0) * m for row, m in zip(rows, masks, strict=True)}
    return _texts(request, name, [of.get(row) for row in range(len(values))])


@makes_again("pram")
def _pram(request: Request, name: str) -> Made:
    draw = request.draw
    cells = [cell or "" for cell in request.rows(name)]
    counts = Counter(cells)
    chances: dict[str, list[Fraction]] = {}
    for line in request.text("matrix", "").splitlines():
        if line.strip():
            category, _, row = line.rpartition(":")
            parts = row.replace(";", ",").split(",")
            chances[category.strip()] = [Fraction(part.strip()) for part in parts]
    if not chances:
        keep, every = Fraction(str(request.change.get("keep", 0.8))), sorted(counts)
        other = (1 - keep) / (len(every) - 1) if len(every) > 1 else Fraction(0)
        chances = {c: [keep if c == e else other for e in every] for c in every}
    names = list(chances)
    if request.text("kind", "fixed") == "invariant":
        chances = _invariant(chances, counts, Fraction(str(request.change.get("mix", 1.0))))
    made: Rows = list[str | None](cells)
    for row, number in zip(request.order, draw.random(len(cells)).tolist(), strict=True):
        upto, at = Fraction(0), 0
        for at, chance in enumerate(chances[cells[row]]):  # noqa: B007 - where it ends
            upto += chance
            if number < float(upto):
                break
        made[row] = names[at] or None
    return made, request.kind(name)


def _invariant(
    chances: dict[str, list[Fraction]], counts: Counter[str], share: Fraction
) -> dict[str, list[Fraction]]:
    """Return for k and j the sum over published i of p(i | k) p(k' = j | i), mixed with staying."""
    names = list(chances)
    published = [sum(chances[k][i] * counts[k] for k in names) for i in range(len(names))]
    made: dict[str, list[Fraction]] = {}
    for k in names:
        row: list[Fraction] = []
        for j in names:
            through = Fraction(0)
            for i, all_of in enumerate(published):
                back = chances[j][i] * counts[j] / all_of if all_of else Fraction(names[i] == j)
                through += chances[k][i] * back
            row.append(share * through + (1 - share) * (1 if k == j else 0))
        made[k] = row
    return made


@makes_together("condensation")
def _condensation(request: Request) -> Mapping[str, Made]:
    k, draw = int(request.change.get("k", 10)), request.draw
    columns = [request.measures(name) for name in request.columns]
    whole = all(value is not None for column in columns for value in column)
    demand(whole, "A condensed column misses values.", "Correct the recipe.")
    x = np.array([[float(value or 0) for value in column] for column in columns]).T
    scale = x[request.order].std(axis=0)
    points = x / np.where(scale > 0, scale, 1.0)
    within = request.text("within", "")
    by = request.rows(within) if within else [None] * len(x)
    parts: dict[str | None, list[int]] = {}
    for row in request.order:
        parts.setdefault(by[row], []).append(row)
    made = np.zeros_like(x)
    for rows in parts.values():
        if request.asked("growing"):
            _grown(points, rows, k, draw, made)
            continue
        place = {row: at for at, row in enumerate(rows)}
        left, groups = np.array(rows), list[list[int]]()
        while len(left) >= k:
            centre = points[left[int(draw.integers(len(left)))]]
            far = np.square(points[left] - centre).sum(axis=1)
            near = np.lexsort((np.arange(len(left)), far))[:k]
            groups.append(left[near].tolist())
            left = left[~np.isin(np.arange(len(left)), near)]
        means = [points[sorted(g, key=place.__getitem__)].mean(axis=0) for g in groups]
        for row in left.tolist():
            away = [float(((mean - points[row]) ** 2).sum()) for mean in means]
            groups[away.index(min(away))].append(row)
        for group in groups:
            of = sorted(group, key=place.__getitem__)
            made[of] = _drawn_anew(x[of], draw)
    if request.asked("growing"):
        made = made * scale
    return {n: _texts(request, n, made[:, d].tolist()) for d, n in enumerate(request.columns)}


def _drawn_anew(x: F64, draw: np.random.Generator) -> F64:
    mean = x.mean(axis=0)
    away = x - mean
    return _drawn_from(len(x), mean, away.T @ away / len(x), draw)


def _drawn_from(
    size: int, mean: F64, covariance: F64, draw: np.random.Generator, flat: float = 0.0
) -> F64:
    made = np.repeat(mean[None, :], size, axis=0)
    uniform = draw.random(made.shape) - 0.5
    for j, (value, line) in enumerate(_axes(covariance)):
        wide = math.sqrt(12 * value) if value > flat else 0.0
        made += np.outer(uniform[:, j] * wide, line)
    return made


def _axes(covariance: F64) -> list[tuple[float, F64]]:
    """Return eigenvalues, ascending, and their lines; a line's largest part is above 0."""
    values, vector = np.linalg.eigh(covariance)
    found: list[tuple[float, F64]] = []
    for j, value in enumerate(values.tolist()):
        line = vector[:, j]
        found.append((max(value, 0.0), -line if line[int(np.abs(line).argmax())] < 0 else line))
    return found


def _grown(points: F64, rows: Sequence[int], k: int, draw: np.random.Generator, made: F64) -> None:
    """Draw rows again from groups that grew: of each its rows, Σ x and Σ x xᵀ."""
    came = [rows[i] for i in draw.permutation(len(rows)).tolist()]
    most = len(rows) // k + 1
    groups = [came[:k]]
    total, square = np.zeros((most, points.shape[1])), np.zeros((most, *points.shape[1:] * 2))
    total[0], square[0] = points[came[:k]].sum(axis=0), points[came[:k]].T @ points[came[:k]]
    size = np.full(most, np.inf)
    size[0] = k
    for row in came[k:]:
        centres = total[: len(groups)] / size[: len(groups), None]
        at = int(np.square(centres - points[row]).sum(axis=1).argmin())
        groups[at].append(row)
        size[at] += 1
        total[at] += points[row]
        square[at] += np.outer(points[row], points[row])
        if len(groups[at]) < 2 * k:
            continue
        mean = total[at] / (2 * k)
        covariance = square[at] / (2 * k) - np.outer(mean, mean)
        value, line = _axes(covariance)[-1]
        along = {r: round(float((points[r] * line).sum()), 9) for r in groups[at]}
        own = sorted(groups[at], key=along.__getitem__)
        groups.append(own[k:])
        groups[at] = own[:k]
        covariance = covariance + np.outer(line, line) * (value / 4 - value)
        for side, put in ((-1, at), (1, len(groups) - 1)):
            centre = mean + side * math.sqrt(12 * value) / 4 * line
            size[put], total[put] = k, k * centre
            square[put] = k * (covariance + np.outer(centre, centre))
    for at, own in enumerate(groups):
        mean = total[at] / len(own)
        left = square[at] / len(own) - np.outer(mean, mean)
        made[own] = _drawn_from(len(own), mean, left, draw, flat=1e-12)


def with_changes(
    terms: Terms, private: TextTable, key: bytes
) -> tuple[Terms, TextTable, list[Check]]:
    """Return the terms and the private table of what is to be published, with what was made.

    Raises
    ------
    BadPlan
        If a change is not known here, or asks for what was not given.
    """
    source = Source(terms, private)
    shown, kinds = dict[str, Cells](), dict(terms.kinds)
    checks: list[Check] = []
    for change in terms.changes:
        request = Request(change=change, source=source, key=key)
        name, columns = request.name, request.columns
        what = f"The change '{name[:40]}' is not known here, so it cannot be made again."
        demand(name in MADE_AGAIN, what, "Use the workbench that wrote the recipe, or a newer one.")
        other, every = 0, 0
        for column, (cells, kind) in MADE_AGAIN[name](request).items():
            shown[column] = Cells.of(cells)
            kinds[column] = kind
            other += sum(was != now for was, now in zip(source.rows(column), cells, strict=True))
            every += len(cells)
        sentence = (
            f"{listing(columns)} {'was' if len(columns) == 1 else 'were'} changed again ('{name}'):"
            f" {other:,} of {every:,} cells differ from the table's, and what is published is true "
            "of the changed table."
        )
        checks.append(
            judged("changes", False, sentence, column=columns[0], bound=every, reached=other)
        )
    if not shown:
        return terms, private, checks
    # What draws needs the rows in their order.
    drew = "content" in vars(source)
    return replace(terms, kinds=kinds, drew=drew), private.replaced(shown), checks


# Keyed texts.


def _hmac(key: bytes, *fields: bytes, after: bytes = b"") -> bytes:
    """Return HMAC-SHA-256 of fields behind their lengths."""
    what = "A change asks for the secret key of 64 hexadecimal digits, and it was not given."
    demand(len(key) == 32, what, "Give it with --key-file, or in the environment as ANONYMITY_KEY.")
    content = b"".join(len(one).to_bytes(4, "big") + one for one in fields) + after
    return hmac.digest(key, content, "sha256")


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


@makes_again("constant")
def _constant(request: Request, name: str) -> Made:
    return [request.text("value", "*").strip()] * len(request.rows(name)), "text"


@makes_again("pseudonym")
def _pseudonym(request: Request, name: str) -> Made:
    domain, letters = request.text("domain", "person").encode(), request.text("bits", "80")
    made: dict[str | None, str | None] = {None: None}
    for text in {t for t in request.rows(name) if t is not None}:
        plain = _bare(text)
        if request.asked("fold_case"):
            plain = unicodedata.normalize("NFC", plain.casefold())
        if request.text("form", "code") == "kept":
            signs = _SIGNS[request.text("alphabet", "digits")]
            made[text] = _same_form(request.key, domain, plain, signs)
            continue
        code = _hmac(request.key, b"pseudonym/1", domain, plain.encode("utf-8", "surrogatepass"))
        made[text] = base64.b32encode(code).decode().lower()[: int(letters) // 5]
    return [made[text] for text in request.rows(name)], "text"


_TEN = "0123456789"
_AZ = "abcdefghijklmnopqrstuvwxyz"
_SIGNS = {"digits": _TEN, "small": _TEN + _AZ, "capital": _TEN + _AZ.upper()}


def _same_form(key: bytes, domain: bytes, text: str, signs: str) -> str:
    """Return a text whose signs are encrypted, the others in their places."""
    _hmac(key)  # refuses another length of the key
    numbers = [signs.index(c) for c in text if c in signs]
    new = iter(ff1(key, numbers, len(signs), domain))
    return "".join(signs[next(new)] if c in signs else c for c in text)


def ff1(key: bytes, numbers: Sequence[int], radix: int, tweak: bytes) -> list[int]:
    """Encrypt by FF1, step by step as NIST SP 800-38G, algorithm 7, writes it."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError as error:
        what = "Codes of the same form are made again with AES, whose library is not installed."
        raise BadPlan(what, remedy="Install the extra 'ff1'.") from error
    n, t = len(numbers), len(tweak)
    u = n // 2
    v = n - u
    places = [radix**i for i in range(v)]
    a, b = (
        sum(digit * place for digit, place in zip(reversed(part), places, strict=False))
        for part in (numbers[:u], numbers[u:])
    )
    wide = ((radix**v - 1).bit_length() + 7) // 8
    most = 4 * -(-wide // 4) + 4
    head = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256])
    head += n.to_bytes(4, "big") + t.to_bytes(4, "big")
    for turn in range(10):
        body = tweak + bytes((-t - wide - 1) % 16) + bytes([turn]) + b.to_bytes(wide, "big")
        chain = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
        drawn = last = chain.update(head + body)[-16:]
        for block in range(1, -(-most // 16)):
            mixed = (int.from_bytes(last, "big") ^ block).to_bytes(16, "big")
            drawn += Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(mixed)
        size = u if turn % 2 == 0 else v
        a, b = b, (a + int.from_bytes(drawn[:most], "big")) % radix**size
    halves = ((a, places[:u]), (b, places))
    return [half // place % radix for half, own in halves for place in reversed(own)]


_DATE = re.compile(
    r"(?:(\d{4})([-/])(\d\d?)([-/])(\d\d?)|(\d\d?)\.(\d\d?)\.(\d{4}))(.*)", re.DOTALL
)


def _later(text: str, days: int) -> str:
    found = _DATE.fullmatch(text)
    if found is None:
        raise BadPlan("A shifted column holds no whole dates.", remedy="Correct the recipe.")
    y, one, m, two, d, day, month, year, rest = found.groups()
    then = date(int(y or year), int(m or month), int(d or day)) + timedelta(days)
    if y:
        return f"{then.year:04}{one}{then.month:02}{two}{then.day:02}{rest}"
    return f"{then.day:02}.{then.month:02}.{then.year:04}{rest}"


@makes_together("date-shift")
def _date_shift(request: Request) -> Mapping[str, Made]:
    domain, most = request.text("domain", "person").encode(), int(request.change.get("days", 182))
    step = 7 if request.asked("weeks") else 1
    size = 2 * (most // step) + 1
    whose = request.rows(request.text("by", "") or request.source.terms.person)
    shift: dict[str, int] = {}
    for who in {w for w in whose if w is not None}:
        counter, number = 0, 1 << 64
        person = _bare(who).encode("utf-8", "surrogatepass")
        while number >= (1 << 64) - (1 << 64) % size:
            after = counter.to_bytes(4, "big")
            code = _hmac(request.key, b"date-shift/1", domain, person, after=after)
            number, counter = int.from_bytes(code[:8], "big"), counter + 1
        shift[who] = step * (number % size - size // 2)
    found: dict[str, Made] = {}
    for name in request.columns:
        both = zip(request.rows(name), whose, strict=True)
        cells: Rows = [None if t is None or w is None else _later(t, shift[w]) for t, w in both]
        found[name] = cells, request.kind(name)
    return found


# Items of sets, put into the groups of the cut that loses least.


@makes_again("item-generalization")
def _item_generalization(request: Request, name: str) -> Made:
    k, m = int(request.change.get("k", 5)), int(request.change.get("m", 2))
    mark = request.text("separator", "|")
    cells = [None if t is None else _items(t, mark) for t in request.rows(name)]
    under = _groups(request.text("tree", ""), {x for own in cells if own for x in own})
    cut = _cut(under, [own for own in cells if own is not None], k, m)
    label = {item: one for one in cut for item in _leaves(under, one)}
    place = {one: number for number, one in enumerate(cut)}
    made: Rows = []
    for own in cells:
        said = sorted({label[x] for x in own or ()}, key=place.__getitem__)
        made.append(None if own is None else mark.join(said) or mark)
    return made, "text"


def _items(text: str, mark: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(mark) if part.strip())


def _groups(lines: str, items: set[str]) -> dict[str, list[str]]:
    """Return what each group of a tree of items holds; the one above all comes first."""
    children: dict[str, list[str]] = {}
    for line in lines.splitlines():
        if line.strip():
            group, _, rest = line.partition(":")
            children[group.strip()] = [part.strip() for part in rest.split(",")]
    held = {one for own in children.values() for one in own}
    tops = [group for group in children if group not in held] if children else sorted(items)
    if children and len(tops) == 1:
        return {tops[0]: children.pop(tops[0]), **children}
    return {"*": tops, **children}


def _leaves(under: Mapping[str, Sequence[str]], label: str) -> list[str]:
    return [x for own in under[label] for x in _leaves(under, own)] if label in under else [label]


def _cut(
    under: Mapping[str, Sequence[str]], rows: Sequence[frozenset[str]], k: int, m: int
) -> list[str]:
    """Return the labels of the cut that loses least and leaves no rare itemset of 1 to m labels.

    Every cut is tried where cuts times itemsets of distinct sets are at most two million. Else the
    group that costs least for each rare itemset it touches takes its labels in, size by size.
    """
    top = next(iter(under))
    often = Counter(item for row in rows for item in row)
    above = {own: group for group, members in under.items() for own in members}
    distinct = Counter(rows)
    held = sum(math.comb(len(row), n) for row in distinct for n in range(1, m + 1))

    def lost(label: str) -> int:
        own = _leaves(under, label)
        return (len(own) - 1) * sum(often[item] for item in own)

    def rare(cut: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, ...]]:
        label = {item: one for one in cut for item in _leaves(under, one)}
        counts = Counter[tuple[str, ...]]()
        for row, many in distinct.items():
            said = sorted({label[item] for item in row})
            for own in chain.from_iterable(combinations(said, n) for n in sizes):
                counts[own] += many
        return [own for own, many in counts.items() if many < k]

    def every(label: str) -> list[list[str]]:
        if label not in under:
            return [[label]]
        parts = product(*map(every, under[label]))
        return [*(list(chain.from_iterable(cuts)) for cuts in parts), [label]]

    def many_cuts(label: str) -> int:
        return 1 + math.prod(map(many_cuts, under[label])) if label in under else 1

    none = "No cut keeps the items as is asked."
    if many_cuts(top) * max(held, 1) <= 2_000_000:
        for _, cut in sorted((sum(map(lost, cut)), cut) for cut in every(top)):
            if not rare(cut, range(1, m + 1)):
                return cut
        raise BadPlan(none, remedy="Use the recipe's table.")
    cut = _leaves(under, top)
    for size in range(1, m + 1):
        while left := rare(cut, [size]):
            groups = ({above[x] for x in own if x in above} for own in left)
            touched = Counter(chain.from_iterable(groups))
            demand(touched, none, "Use another table.")
            inside: dict[str, list[str]] = {}
            for group in touched:
                own = {*_leaves(under, group)}
                inside[group] = [x for x in cut if own.issuperset(_leaves(under, x))]
            price = {
                group: Fraction(lost(group) - sum(map(lost, inside[group])), times)
                for group, times in touched.items()
            }
            chosen = min(price, key=lambda group: (price[group], group))
            gone = inside[chosen]
            cut = [chosen if x == gone[0] else x for x in cut if x not in gone[1:]]
    return cut
