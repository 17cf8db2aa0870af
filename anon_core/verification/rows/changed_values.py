"""Values that a change drew, drawn again: swaps, noise, redrawn categories, condensed rows.

Each is written row by row from its definition. Numbers are drawn in the order that the definition
gives them, since only so does the seed give the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.verification.rows.change_rules import Redone, Rows, Told, makes_again

F64 = npt.NDArray[np.float64]


@makes_again("swapping")
def _swapping(told: Told) -> Redone:
    share, draw = Fraction(str(told.change.get("share", 0.1))), told.generator()
    beside = [told.rows(name) for name in told.change.get("strata", [])]
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        cells = told.rows(name)
        strata: dict[tuple[object, ...], list[int]] = {}
        for row in told.order():
            if cells[row] is not None:
                strata.setdefault(tuple(c[row] for c in beside), []).append(row)
        made = list(cells)
        for rows in strata.values():
            lot = [rows[i] for i in draw.permutation(len(rows)).tolist()]
            for pair in range(int(share * len(rows) / 2)):
                one, other = lot[2 * pair], lot[2 * pair + 1]
                made[one], made[other] = cells[other], cells[one]
        found[name] = made, told.kind(name)
    return found


@makes_again("rank-swapping")
def _rank_swapping(told: Told) -> Redone:
    draw = told.generator()
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        cells, size = told.rows(name), told.measures(name)
        rows = [row for row in told.order() if cells[row] is not None]
        width = math.floor(Fraction(str(told.change.get("p", 5.0))) * len(rows) / 100)
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
        found[name] = made, told.kind(name)
    return found


def _texts(told: Told, name: str, values: Sequence[float | None]) -> tuple[Rows, str]:
    """Return numbers as texts, with the column's own decimals and those that are asked for."""
    own = {n for n in told.measures(name) if n is not None}
    most = max((_decimals(Decimal(n)) for n in own), default=0)
    digits = most + int(told.change.get("decimals", 0))
    made: Rows = []
    for value in values:
        text = None if value is None else f"{value:.{digits}f}"
        made.append(text.lstrip("-") if text and not float(text) else text)
    return made, "number"


def _decimals(value: Decimal) -> int:
    parts = f"{value:f}".partition(".")
    return len(parts[2].rstrip("0"))


def _root(covariance: F64) -> F64:
    """Return the symmetric root of a covariance matrix, by its singular values."""
    left, value, _ = np.linalg.svd(covariance, hermitian=True)
    return np.asarray(left @ np.diag(np.sqrt(value)) @ left.T)


def _covariance(x: F64) -> F64:
    away = x - x.sum(axis=0) / len(x)
    return np.asarray(away.T @ away / (len(x) - 1))


@makes_again("additive-noise")
def _additive_noise(told: Told) -> Redone:
    alpha, restore = float(told.change.get("alpha", 0.1)), told.text("restore", "none")
    columns = [told.measures(name) for name in told.columns]
    rows = [row for row in told.order() if all(c[row] is not None for c in columns)]
    x = np.array([[float(c[row] or 0) for c in columns] for row in rows])
    drawn = told.generator().standard_normal(x.shape)
    spread = alpha * _covariance(x)
    if restore == "exact":
        beside = np.hstack([np.ones((len(x), 1)), x])
        across, _ = np.linalg.qr(beside)
        rest = drawn - across @ (across.T @ drawn)
        noise = rest @ np.linalg.inv(_root(_covariance(rest))) @ _root(spread)
    elif told.text("noise", "correlated") == "correlated":
        noise = drawn @ _root(spread)
    else:
        noise = drawn * np.sqrt(np.diag(spread))
    made = x + noise
    if restore != "none":
        mean = x.sum(axis=0) / len(x)
        made = mean + (made - mean) / math.sqrt(1 + alpha)
    found: dict[str, tuple[Rows, str]] = {}
    for d, name in enumerate(told.columns):
        of = dict(zip(rows, made[:, d].tolist(), strict=True))
        found[name] = _texts(told, name, [of.get(row) for row in range(len(columns[d]))])
    return found


@makes_again("multiplicative-noise")
def _multiplicative_noise(told: Told) -> Redone:
    draw = told.generator()
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        values = told.measures(name)
        rows = [row for row in told.order() if values[row] is not None]
        if told.text("mask", "lognormal") == "lognormal":
            scale = math.log(1 + float(told.change.get("variance", 0.04)))
            normal = draw.standard_normal(len(rows)).tolist()
            masks = [math.exp(math.sqrt(scale) * z - scale / 2) for z in normal]
        else:
            a, b = float(told.change.get("near", 0.1)), float(told.change.get("far", 0.3))
            away = [a + (b - a) * u for u in draw.random(len(rows)).tolist()]
            side = [-1 if u < 0.5 else 1 for u in draw.random(len(rows)).tolist()]
            masks = [1 + s * u for s, u in zip(side, away, strict=True)]
        of = {row: float(values[row] or 0) * m for row, m in zip(rows, masks, strict=True)}
        found[name] = _texts(told, name, [of.get(row) for row in range(len(values))])
    return found


@makes_again("pram")
def _pram(told: Told) -> Redone:
    draw = told.generator()
    found: dict[str, tuple[Rows, str]] = {}
    for name in told.columns:
        cells = [cell or "" for cell in told.rows(name)]
        counts = Counter(cells)
        chances: dict[str, list[Fraction]] = {}
        for line in told.text("matrix", "").splitlines():
            if line.strip():
                category, _, row = line.rpartition(":")
                parts = row.replace(";", ",").split(",")
                chances[category.strip()] = [Fraction(part.strip()) for part in parts]
        if not chances:
            keep, every = Fraction(str(told.change.get("keep", 0.8))), sorted(counts)
            other = (1 - keep) / (len(every) - 1) if len(every) > 1 else Fraction(0)
            chances = {c: [keep if c == e else other for e in every] for c in every}
        names = list(chances)
        if told.text("kind", "fixed") == "invariant":
            chances = _invariant(chances, counts, Fraction(str(told.change.get("mix", 1.0))))
        made: Rows = list[str | None](cells)
        for row, number in zip(told.order(), draw.random(len(cells)).tolist(), strict=True):
            upto, at = Fraction(0), 0
            for at, chance in enumerate(chances[cells[row]]):  # noqa: B007 - where it ends
                upto += chance
                if number < float(upto):
                    break
            made[row] = names[at] or None
        found[name] = made, told.kind(name)
    return found


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


@makes_again("condensation")
def _condensation(told: Told) -> Redone:
    k, draw = int(told.change.get("k", 10)), told.generator()
    columns = [told.measures(name) for name in told.columns]
    if any(value is None for column in columns for value in column):
        raise BadPlan("A condensed column misses values.", remedy="Correct the recipe.")
    x = np.array([[float(value or 0) for value in column] for column in columns]).T
    scale = x[list(told.order())].std(axis=0)
    points = x / np.where(scale > 0, scale, 1.0)
    within = told.text("within", "")
    beside = told.rows(within) if within else [None] * len(x)
    parts: dict[str | None, list[int]] = {}
    for row in told.order():
        parts.setdefault(beside[row], []).append(row)
    made = np.zeros_like(x)
    for rows in parts.values():
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
    found: dict[str, tuple[Rows, str]] = {}
    for d, name in enumerate(told.columns):
        found[name] = _texts(told, name, made[:, d].tolist())
    return found


def _drawn_anew(x: F64, draw: np.random.Generator) -> F64:
    mean = x.mean(axis=0)
    away = x - mean
    value, vector = np.linalg.eigh(away.T @ away / len(x))
    made = np.repeat(mean[None, :], len(x), axis=0)
    uniform = draw.random(x.shape) - 0.5
    for j in range(len(value)):
        line = vector[:, j]
        if line[int(np.abs(line).argmax())] < 0:
            line = -line
        made += np.outer(uniform[:, j] * math.sqrt(12 * max(float(value[j]), 0.0)), line)
    return made
