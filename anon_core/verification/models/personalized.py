"""Personalized privacy, recomputed: what each person may be known to have."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.people import Behind
from anon_core.verification.text.texts import Codes


@recomputes("personalized", forms=("whole",), called="personalized privacy", looks_at="every")
def personalized(evidence: Evidence) -> list[Check]:
    """Everyone stands among as many rows as they ask for, or no guarded value is too likely."""
    column, level = evidence.text("column"), evidence.text("level")
    if not column:
        raise CannotTell("it names no private column")
    if column in evidence.terms.published:
        raise CannotTell(f"'{column}' is published, which says what each person asks for")
    if level not in ("own-k", "guard"):
        raise CannotTell("level is neither own-k nor guard")
    found = evidence.behind(column)
    return [_own_k(evidence, found) if level == "own-k" else _guards(evidence, found)]


def _own_k(evidence: Evidence, found: Behind) -> Check:
    """Check the largest k of all who can stand in a class; that is enough if some stand elsewhere.

    Raises
    ------
    CannotTell
        If a k is not a whole number, or a class is too small for somebody who may stand elsewhere.
    """
    counted, sizes = found.counted, evidence.sizes
    own = np.array([_whole(value) for value in _single(found)], dtype=np.int64)
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, counted.owner, own[counted.value])
    broken = sizes < largest
    if np.any(broken & ~found.sure):
        raise CannotTell("it is unclear which rows belong to which class")
    return class_check(
        evidence,
        "everyone's own k",
        broken,
        sizes / np.maximum(largest, 1),
        bound=1.0,
        measured="fewest rows as a share of those asked for",
    )


def _guards(evidence: Evidence, found: Behind) -> Check:
    """Check the share of rows under each node that somebody of a class guards.

    Raises
    ------
    CannotTell
        If the hierarchy is missing, or a class shows too much for somebody who may stand elsewhere.
    """
    most = evidence.number("p", above=0, most=1)
    column = evidence.text("sensitive") or next(iter(evidence.terms.protected("")), "")
    lines = evidence.levels.get(column)
    if not lines:
        raise CannotTell("the hierarchy of the guarded column is missing")
    key = evidence.private.spelling(column).key
    above: dict[Hashable, set[Hashable]] = {key(line[0]): {key(line[0]), *line} for line in lines}
    shown, sizes = evidence.histogram(column), evidence.sizes
    broken = np.zeros(len(sizes), dtype=np.bool_)
    worst = np.zeros(len(sizes), dtype=np.float64)
    for guard, node in enumerate(_single(found)):
        if node is None:
            continue
        inside = np.array([node in above.get(value, set()) for value in shown.values], np.bool_)
        rows = _under(shown.owner, shown.count, inside[shown.value], len(sizes))
        here = np.zeros(len(sizes), dtype=np.bool_)
        here[found.counted.owner[found.counted.value == guard]] = True
        # rows / N > p exactly where rows · denominator > N · numerator.
        broken |= here & (rows * most.denominator > sizes * most.numerator)
        worst = np.maximum(worst, np.where(here, rows / np.maximum(sizes, 1), 0.0))
    if np.any(broken & ~found.sure):
        raise CannotTell("it is unclear which rows belong to which class")
    return class_check(
        evidence,
        f"p = {float(most):g} for guarded values",
        broken,
        worst,
        bound=float(most),
        measured="highest chance",
        worst="most",
        column=column,
    )


def _single(found: Behind) -> list[Hashable]:
    """Return the values of the one column that was asked for."""
    return [cast(tuple[Hashable, ...], value)[0] for value in found.counted.values]


def _under(owner: Codes, count: Codes, inside: npt.NDArray[np.bool_], classes: int) -> Codes:
    return np.bincount(owner, weights=count * inside, minlength=classes).astype(np.int64)


def _whole(value: Hashable) -> int:
    """Return a k as it stands in the table."""
    number = Decimal(value) if isinstance(value, str) and value.strip().isdigit() else value
    if not isinstance(number, Decimal) or number != int(number) or number < 1:
        raise CannotTell("a person's k is not a whole number from 1 up")
    return int(number)
