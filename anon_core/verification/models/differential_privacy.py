"""Differential privacy by sampling, recomputed: its least class, and the sample drawn again."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice, product
from math import isfinite
from typing import Any, cast

import numpy as np

from anon_core.verification.evidence import CannotTell, Evidence, at_least
from anon_core.verification.findings import Check, broken, judged, many, not_checked
from anon_core.verification.recipe import is_number
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import tally
from anon_core.verification.rows.tables import joined

# How large a class must be for (ε, δ): by sizes of tables, not of samples.


_GRAIN = 1 << 64


#: Floats of the incomplete beta function are good to about 10**-12.
_RAISED = 1 + 1e-9


#: Sizes of tables that are looked at; beyond, nothing is decided.
MOST_SIZES = 20_000_000


def share_of(epsilon: Fraction, most: Fraction) -> tuple[Fraction, Fraction]:
    """Return β and a lower bound of γ = 1 − (1 − β) e^−ε.

    Examples
    --------
    >>> share, gamma = share_of(Fraction(1), Fraction(1))
    >>> float(share) == 1 - 0.36787944117144233, float(1 - gamma) == 0.36787944117144233**2
    (True, True)
    """
    with localcontext() as exact:
        exact.prec = 120
        power = (-Decimal(epsilon.numerator) / epsilon.denominator).exp()
    upper = Fraction(power) * (1 + Fraction(1, 10**110))  # above what rounding may have lost
    share = Fraction(math.floor(min(1 - upper, most) * _GRAIN), _GRAIN)
    return share, 1 - (1 - share) * upper


def least_of(share: Fraction, gamma: Fraction, delta: Fraction) -> int | None:
    """Return the least k with δ(k) ≤ δ; None where that takes too many sizes of tables.

    δ(k) is the greatest chance over n ≥ ⌈k/γ − 1⌉. Let n be the last whose chance exceeds δ: k is
    the least for which ⌈k/γ − 1⌉ > n, that is k > γ (n + 1).
    """
    from scipy.special import betainc

    near, far = float(gamma), float(1 - gamma)
    entropy = near * math.log(float(gamma / share))
    entropy += far * math.log(float((1 - gamma) / (1 - share)))
    sizes = math.ceil(-math.log(float(delta)) / (entropy * (1 - 1e-6))) + 1
    if sizes > MOST_SIZES:
        return None
    # ⌊γ n⌋ in whole numbers; γ is taken down to 2**-200, which can only lower it.
    scaled = math.floor(gamma * (1 << 200))
    rows = np.arange(1, sizes + 1, dtype=np.float64)
    drawn = np.array([(scaled * n) >> 200 for n in range(1, sizes + 1)], dtype=np.float64) + 1
    possible = drawn <= rows
    chance = np.zeros(sizes)
    chance[possible] = betainc(drawn[possible], rows[possible] - drawn[possible] + 1, float(share))
    over = np.flatnonzero(chance * _RAISED > float(delta))
    last = int(over[-1]) + 1 if len(over) else 0
    return math.floor(gamma * (last + 1)) + 1 if last else 1


# The sample that a secret draws row by row, drawn again from the recipe, and its classes.


_CELL, _ROW = "\x1f", "\x1e"
_BLOCK = 1 << 16
#: Choices of levels that fit the published texts and are tried, at most.
_MOST_CHOICES = 64

Texts = tuple[str, ...]


def redrawn(evidence: Evidence, seed: int, share: Fraction) -> tuple[list[Texts], list[int]]:
    """Return the distinct rows of the private table, and how many of each the secret draws.

    Rows are taken in the order of their texts, quasi-identifiers as the recipe lists them, and
    each has 64 bits of its own: it is drawn where they are less than its share of 2**64.
    """
    private, quasi = evidence.private, evidence.terms.quasi
    columns = [private.codes(name) for name in quasi]
    texts: list[list[str]] = []
    for name in quasi:
        written = private.written(name)
        texts.append([*(written.get(key, "") for key in private.columns[name].keys), ""])
    which, first = joined(columns, len(private))
    rows = [
        tuple(own[code] for own, code in zip(texts, codes, strict=True))
        for codes in zip(*(column[first].tolist() for column in columns), strict=True)
    ]
    table = sorted(zip(rows, tally(which, private.count, len(rows)).tolist(), strict=True))
    lines = [_CELL.join(quasi), *(_CELL.join((*row, str(n))) for row, n in table)]
    digest = hashlib.sha256(_ROW.join(lines).encode("utf-8", "surrogatepass")).digest()
    plan = _as_text([evidence.terms.algorithm, list(evidence.terms.models)])
    secret = hashlib.sha256(seed.to_bytes(32) + hashlib.sha256(b"protection").digest()).digest()
    parts = (b"rows", plan.encode(), digest)
    key = hashlib.sha256(secret + b"".join(hashlib.sha256(p).digest() for p in parts)).digest()
    need = 8 * private.rows
    stream = b"".join(
        hashlib.shake_256(key + block.to_bytes(8, "little")).digest(_BLOCK)
        for block in range(-(-need // _BLOCK))
    )
    bar = int(share * (1 << 64))
    heads = np.cumsum(np.frombuffer(stream[:need], dtype="<u8") < np.uint64(bar), dtype=np.int64)
    ends = np.cumsum([n for _, n in table])
    drawn = np.diff(heads[ends - 1], prepend=0)
    return [row for row, _ in table], drawn.tolist()


def _as_text(value: object) -> str:
    """Return what a recipe says as one text; 1 and 1.0 are the same number."""
    if isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, int | float):
        return str(Fraction(str(value)))
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return "{" + ",".join(f"{key!r}:{_as_text(fields[key])}" for key in sorted(fields)) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(_as_text(one) for one in cast(Sequence[Any], value)) + "]"
    return repr(value)


def labels_by_level(evidence: Evidence, name: str) -> list[dict[str, str]]:
    """Return, level by level, the label of every text that the private table has in a column.

    The missing value hangs directly under the root.
    """
    column, written = evidence.private.columns[name], evidence.private.written(name)
    rows = evidence.levels.get(name)
    paths = {key: (text, "*") for key, text in written.items()}
    if rows is not None:
        above = {column.spelling.key(row[0].strip()): [c.strip() for c in row[1:]] for row in rows}
        if any(key not in above for key in written):
            raise CannotTell(f"the hierarchy of '{name}' lacks a value of the table")
        paths = {key: (text, *(above[key] or ["*"])) for key, text in written.items()}
    height = max((len(path) - 1 for path in paths.values()), default=1)
    top = next((path[-1] for path in paths.values()), "*")
    return [
        {**{path[0]: path[level] for path in paths.values()}, "": top if level == height else ""}
        for level in range(height + 1)
    ]


def classes_of(
    rows: Sequence[Texts], drawn: Sequence[int], labels: Sequence[Mapping[str, str]], least: int
) -> Counter[Texts]:
    """Return the classes that have at least `least` drawn rows when published by these labels."""
    found: Counter[Texts] = Counter()
    for row, count in zip(rows, drawn, strict=True):
        if count:
            found[tuple(own[text] for own, text in zip(labels, row, strict=True))] += count
    return Counter({texts: count for texts, count in found.items() if count >= least})


def published_classes(evidence: Evidence) -> Counter[Texts]:
    """Return the published classes by their texts, quasi-identifiers as the recipe lists them."""
    part = evidence.grouped
    cells = [
        [part.table.texts_of(name)[code] for code in part.table.codes_of(name)[part.first].tolist()]
        for name in evidence.terms.quasi
    ]
    return Counter(dict(zip(zip(*cells, strict=True), part.sizes.tolist(), strict=True)))


def fitting_levels(
    published: Counter[Texts], levels: Sequence[Sequence[Mapping[str, str]]]
) -> Iterator[tuple[int, ...]]:
    """Return the choices of one level per column whose labels all published texts are."""
    fits: list[list[int]] = []
    for place, own in enumerate(levels):
        shown = {texts[place] for texts in published}
        fits.append([n for n, labels in enumerate(own) if shown <= set(labels.values())])
    return islice(product(*fits), _MOST_CHOICES)


# (ε, δ)-differential privacy: what of it can be recomputed, which is not the guarantee itself.
#
# No release shows how it came about. Recomputed are the account of the budget, the size it asks of
# every class, that every column is at one level of its hierarchy, no other column is there, and,
# with the secret, the sample. That nobody chose the coins is for the mechanism to guarantee.


_NAME = "differential-privacy"


@recomputes(_NAME, forms=("whole",), called="differential privacy", looks_at="every")
def differential_privacy(evidence: Evidence) -> list[Check]:
    """The account of ε and δ, the least class it asks for, fixed levels, and the sample."""
    epsilon = evidence.number("epsilon", above=0, most=10)
    delta = evidence.number("delta", above=0, most=0.1)
    terms = evidence.terms
    if terms.shape.rows != "drawn":
        what = "No row is drawn by chance: one row can change all that is published."
        return [broken(_NAME, what)]
    for_levels = _setting(evidence, "levels_epsilon", most=10)
    for_rows = epsilon - for_levels
    if for_rows <= 0:
        what = f"No budget is left for the rows: levels cost {float(for_levels):g}."
        return [broken(_NAME, what)]
    share, gamma = share_of(for_rows, _setting(evidence, "share", most=1))
    if share <= 0:
        raise CannotTell("so small a share of the rows that none is drawn")
    least = least_of(share, gamma, delta)
    if least is None:
        raise CannotTell("its least class takes too long to find")
    others = [model.get("k", 0) for model in terms.models]
    asked = max(least, *(k for k in others if isinstance(k, int)))
    what = f"k = {least:,} for ε = {float(for_rows):g} and δ = {float(delta):g}"
    # What the budget went into; that it adds up was made sure of before.
    levels = f"{float(for_levels):g} on levels and " if for_levels else ""
    account = (
        f"By its account ε = {float(epsilon):g} ({levels}{float(for_rows):g} on rows, each drawn "
        f"with chance {float(share):.3g}) and δ = {float(delta):g}, for one row added or removed; "
        "the person who ran it was trusted with the table. The guarantee is the mechanism's: it "
        "cannot be read off the published files."
    )
    return [
        judged(_NAME, False, account, bound=epsilon, reached=epsilon),
        at_least(evidence, what, evidence.sizes, least, unit="rows"),
        _fixed(evidence),
        _sample(evidence, share, asked),
    ]


def _setting(evidence: Evidence, key: str, *, most: int) -> Fraction:
    """Return a number of the technique's settings exactly as its decimal is written."""
    given: Any = evidence.terms.algorithm.get(key)
    if not is_number(given) or not isfinite(given):
        raise CannotTell(f"the technique's {key} is not a number")
    if not 0 <= given <= most:
        raise CannotTell(f"the technique's {key} is not a number from 0 to {most}")
    return Fraction(str(given))


def _fixed(evidence: Evidence) -> Check:
    """Check that nothing but the levels decides what a row publishes."""
    terms = evidence.terms
    what = ""
    if terms.exact:
        what = "Columns are published row by row with the classes."
    elif terms.sample != 1:
        what = "A sample was drawn before, by a number that follows from the table."
    elif terms.algorithm.get("fixed_rules") is not True:
        what = "The recipe does not confirm that its hierarchies were made without the table."
    elif not _choices(evidence):
        what = "A column is not published at one level of its hierarchy throughout."
    kept = (
        "Every column is published at one level of a hierarchy that the recipe says was made "
        "without the table; whether it was cannot be recomputed."
    )
    return judged(_NAME, what, what, kept)


def _choices(evidence: Evidence) -> list[tuple[int, ...]]:
    """Return the levels that the release may stand at: those named, or all that fit its texts."""
    terms = evidence.terms
    levels = [labels_by_level(evidence, name) for name in terms.quasi]
    fitting = list(fitting_levels(published_classes(evidence), levels))
    if _setting(evidence, "levels_epsilon", most=10):
        return fitting
    named = terms.algorithm.get("levels")
    choices = cast(Mapping[str, Any], named) if isinstance(named, Mapping) else {}
    asked = tuple(
        choices.get(name, len(own) - 1) for name, own in zip(terms.quasi, levels, strict=True)
    )
    return [choice for choice in fitting if choice == asked]


def _sample(evidence: Evidence, share: Fraction, least: int) -> Check:
    """Draw the sample again, where the secret is there, and compare its classes."""
    seed = evidence.terms.seed
    if seed is None:
        return not_checked(
            _NAME,
            "The recipe has no secret, so the sample was not drawn again: whether these are its "
            "rows is not known.",
        )
    rows, drawn = redrawn(evidence, seed, share)
    levels = [labels_by_level(evidence, name) for name in evidence.terms.quasi]
    published = published_classes(evidence)
    same = any(
        classes_of(rows, drawn, [own[n] for own, n in zip(levels, choice, strict=True)], least)
        == published
        for choice in _choices(evidence)
    )
    return judged(
        _NAME,
        not same,
        "Drawn again from the secret, the sample has other classes.",
        f"Drawn again from the secret, {sum(drawn)} rows are in the sample, and the "
        f"{many(len(published), 'class', 'is', 'are')} its classes of at least {least}.",
    )
