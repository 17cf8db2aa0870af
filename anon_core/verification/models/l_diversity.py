"""Models of how varied sensitive values are, which items rows hold, and personal limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import cast

import numpy as np

from anon_core.verification.evidence import (
    CannotTell,
    Evidence,
    at_least,
    at_most_shares,
    class_check,
    each_column,
    person_check,
    person_shares,
    refuse_unclear,
)
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Counts, tally
from anon_core.verification.rows.people import Behind

# l-diversity, recomputed.


# Distinct values are the same ones whether rows or people are counted.
@recomputes("l-diversity", forms=("whole", "averaged", "permuted"), counts_people=True)
def l_diversity(evidence: Evidence) -> list[Check]:
    """Every class shows at least l values of the sensitive column; a missing one is none."""
    least = evidence.integer("l")

    def found(column: str) -> Check:
        reached, what = evidence.histogram(column).known.distinct, f"l = {least} for '{column}'"
        return at_least(evidence, what, reached, least, unit="values", column=column)

    return list(map(found, evidence.columns))


# Entropy l-diversity, recomputed.


@recomputes("entropy-l-diversity", forms=("whole", "averaged", "permuted"))
def entropy_l_diversity(evidence: Evidence) -> list[Check]:
    """Σ p·ln p of every class is at most −ln l, in whole numbers: N^N ≥ l^N · Π c^c."""
    least = evidence.number("l", least=1)
    wrong = f"entropy l = {float(least):g}"
    kept = "least effective number of values"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.histogram(column).known.each(lambda shown: _spread(shown, least)),
        bound=float(least),
        measured=kept,
    )


def _spread(shown: Counts, least: Fraction) -> tuple[bool, float]:
    """Say whether a class is spread enough, and over how many values in equal numbers it is."""
    counts = list(shown.values())
    rows = sum(counts)
    if not rows:  # a missing value is none
        return False, 1.0
    nats = -sum(n / rows * math.log(n / rows) for n in counts)
    # Far apart, logarithms decide; near each other, whole numbers.
    if abs(nats - math.log(least)) > 1e-6:
        return nats > math.log(least), math.exp(nats)
    right = least.numerator**rows * math.prod(n**n for n in counts)
    return (rows * least.denominator) ** rows >= right, math.exp(nats)


# Recursive (c, l)-diversity, recomputed.


@recomputes("recursive-l-diversity", forms=("whole", "averaged", "permuted"))
def recursive_l_diversity(evidence: Evidence) -> list[Check]:
    """In every class the commonest value has fewer rows than c times those from the l-th on."""
    factor, first = evidence.number("c", above=0), evidence.integer("l")
    wrong = f"recursive c = {float(factor):g}, l = {first}"
    kept = "largest ratio of the commonest to the rare values"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.histogram(column).known.each(
            lambda shown: _compared(shown, factor, first)
        ),
        bound=float(factor),
        measured=kept,
        worst="most",
    )


def _compared(shown: Counts, factor: Fraction, first: int) -> tuple[bool, float]:
    counts = sorted(shown.values(), reverse=True)
    if not counts:  # a missing value is none
        return False, math.inf
    rare = sum(counts[first - 1 :])
    return counts[0] < factor * rare, counts[0] / rare if rare else math.inf


# Frequency l-diversity, recomputed.


@recomputes("frequency-l-diversity", forms=("whole", "averaged", "permuted"), counts_people=True)
def frequency_l_diversity(evidence: Evidence) -> list[Check]:
    """No value fills more than 1/l of a class's rows that have one, or of the persons of these."""
    least = evidence.integer("l")

    def found(column: str) -> Check:
        if evidence.terms.person:
            return _of_people(evidence, least, column)
        return at_most_shares(evidence, evidence.histogram(column), least, column)

    return list(map(found, evidence.columns))


def _of_people(evidence: Evidence, least: int, column: str) -> Check:
    known, most, sure = person_shares(evidence, column)
    most = np.maximum(most, 1)
    return person_check(
        evidence,
        f"l = {least} of people for '{column}'",
        most * least <= known,  # whole numbers: no quotient decides
        sure,
        known / most,
        bound=float(least),
        measured="people for one who has the most common value",
        column=column,
    )


# (α, k)-anonymity, recomputed.


@recomputes("alpha-k-anonymity", forms=("whole", "averaged", "permuted"))
def alpha_k_anonymity(evidence: Evidence) -> list[Check]:
    """Every class has k rows, and no value more than α of them."""
    share, least = evidence.number("alpha", above=0, most=1), evidence.integer("k")
    wrong = f"α = {float(share):g}, k = {least:,}"
    kept = "largest share of a value"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.histogram(column).each(lambda shown: _filled(shown, share, least)),
        bound=float(share),
        measured=kept,
        worst="most",
    )


def _filled(shown: Counts, share: Fraction, least: int) -> tuple[bool, float]:
    rows = sum(shown.values())
    counts = [count for value, count in shown.items() if value is not None]
    if not counts:  # nobody's value is known
        return False, 1.0
    most, known = max(counts), sum(counts)
    return rows >= least and most <= share * known, most / known


# The bound against background knowledge, recomputed.


@recomputes("background-bound", forms=("whole", "averaged", "permuted"))
def background_bound(evidence: Evidence) -> list[Check]:
    """Whichever value of a class is ruled out, none is more than factor times the others left."""
    most = evidence.number("factor", above=0)
    wrong = f"factor = {float(most):g}"
    kept = "largest ratio of a value to the others left"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.histogram(column).known.each(lambda shown: _surest(shown, most)),
        bound=float(most),
        measured=kept,
        worst="most",
    )


def _surest(shown: Counts, most: Fraction) -> tuple[bool, float]:
    # Whichever value is ruled out, the second leaves the fewest others; a missing one is none.
    first, _, *others = [*sorted(shown.values(), reverse=True), 0, 0]
    if not sum(others):
        return False, math.inf
    found = Fraction(first, sum(others))
    return found <= most, float(found)


# k^m-anonymity of cells that are sets, recomputed.


@recomputes("km-anonymity", forms=("whole", "averaged", "permuted"))
def km_anonymity(evidence: Evidence) -> list[Check]:
    """What a row of a class holds of up to m items, k rows of the class hold; none of them too."""
    least, most = evidence.integer("k", least=2), evidence.integer("m")
    mark = evidence.text("separator")
    if not mark:
        raise CannotTell("the separator of items is empty")

    def rarest(shown: Counts) -> tuple[bool, float]:
        held = Counter[tuple[str, ...]]()
        for cell, rows in shown.items():
            own = [""]  # a missing cell is an item of its own
            if cell is not None:
                own = sorted({item.strip() for item in str(cell).split(mark)} - {""})
            for size in range(min(most, len(own)) + 1):
                for itemset in combinations(own, size):
                    held[itemset] += rows
        fewest = min(held.values())
        return fewest >= least, float(fewest)

    wrong = f"k = {least:,}, m = {most}"
    kept = "fewest rows with the same items"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.histogram(column).each(rarest),
        bound=float(least),
        measured=kept,
    )


@recomputes("personalized", forms=("whole",), called="personalized privacy", looks_at="every")
def personalized(evidence: Evidence) -> list[Check]:
    """Everyone is among as many rows as they ask for, or no guarded value is too likely."""
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
    refuse_unclear(broken & ~found.sure)
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
        rows = tally(shown.owner, shown.count * inside[shown.value], len(sizes))
        here = np.zeros(len(sizes), dtype=np.bool_)
        here[found.counted.owner[found.counted.value == guard]] = True
        # rows / N > p exactly where rows · denominator > N · numerator.
        high = rows.astype(object) * most.denominator > sizes.astype(object) * most.numerator
        broken |= here & high.astype(np.bool_)
        worst = np.maximum(worst, np.where(here, rows / np.maximum(sizes, 1), 0.0))
    refuse_unclear(broken & ~found.sure)
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


def _whole(value: Hashable) -> int:
    """Return a k as it is in the table."""
    number = Decimal(value) if isinstance(value, str) and value.strip().isdigit() else value
    if not isinstance(number, Decimal) or number != int(number) or number < 1:
        raise CannotTell("a person's k is not a whole number from 1 up")
    return int(number)
