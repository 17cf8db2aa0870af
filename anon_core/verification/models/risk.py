"""Models of risk: of re-identification, by the size of the population, and by what it pays."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial
from math import comb
from typing import cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import (
    CannotTell,
    Evidence,
    at_least,
    class_check,
    people_at_least,
    refuse_nobody,
    refuse_published,
    refuse_unclear,
    weight_of,
)
from anon_core.verification.findings import Check, judged, named
from anon_core.verification.registry import recomputes
from anon_core.verification.text.texts import Codes

Marks = npt.NDArray[np.bool_]
#: What estimates are recomputed from.
_WEIGHED = "published file and the weights"
_LOST = 50  # digits that counting up may lose


# k-map by the size of the population, recomputed.


@recomputes(
    "k-map-by-size", forms=("whole", "averaged"), called="k-map by size", counts_people=True
)
def k_map_by_size(evidence: Evidence) -> list[Check]:
    """Every class has the rows that k − 1 people show with a chance of at most alpha.

    By a survey's weights, with the share of each class that its rows are of its weights.
    """
    k = evidence.integer("k", least=2)
    alpha = evidence.number("alpha", above=0, most=1)
    if evidence.text("weights"):
        what, fewer = f"k = {k:,} people by the weights, as estimated", partial(_shown_by_fewer, k)
        return [_by_weights(evidence, what, fewer, alpha, "largest chance of fewer")]
    least = _rows_enough(k - 1, evidence.number("share", above=0, most=1), alpha)
    what = f"k = {k:,} people by estimate"
    if evidence.terms.person:
        return [people_at_least(evidence, what, least, measured="fewest people of the table")]
    return [at_least(evidence, what, evidence.sizes, least, unit="rows")]


def _rows_enough(people: int, share: Fraction, alpha: Fraction) -> int:
    """Return the fewest rows that so many people, one of them drawn, show at most so often."""
    drawn, left = share.numerator, share.denominator - share.numerator

    def exactly(rows: int) -> int:
        """Return the chance of so many rows, over the common denominator of all."""
        return comb(people, rows) * drawn**rows * left ** (people - rows)

    some = share.denominator**people - exactly(0)
    rows, rest = people + 1, 0
    while rows > 1 and (rest + exactly(rows - 1)) * alpha.denominator <= alpha.numerator * some:
        rows -= 1
        rest += exactly(rows)
    return rows


def _shown_by_fewer(k: int, rows: int, people: Fraction) -> float:
    """Return P(X ≥ rows | X ≥ 1), X ~ Bin(k − 1, rows / people); 0 from k rows on.

    Examples
    --------
    >>> [round(_shown_by_fewer(5, f, Fraction(10 * f)), 6) for f in (1, 2, 3, 5)]
    [1.0, 0.152079, 0.010759, 0.0]
    """
    if rows >= k:
        return 0.0
    if people <= rows:
        return 1.0
    with localcontext() as exact:
        exact.prec = 50
        drawn = Decimal(rows) * people.denominator / people.numerator
        left = 1 - drawn
        chance = left ** (k - 1)
        some, above = 1 - chance, Decimal(0)
        for x in range(1, k):
            chance *= (k - x) * drawn / (x * left)
            above += chance if x >= rows else 0
        return float(above / some)


# The share of the population that is unique, recomputed.


@recomputes("population-uniques", forms=("whole", "averaged"), called="population uniques")
def population_uniques(evidence: Evidence) -> list[Check]:
    """By Zayatz' estimate at most a share of the population is unique in what is published."""
    people, sizes = evidence.integer("people", least=2), evidence.sizes
    share = evidence.number("share", above=0, most=1)
    if people <= int(sizes.sum()):
        raise CannotTell(f"{people} people are no more than the published rows")
    found = _unique(Counter(sizes.tolist()), people)
    fails = found > share * (1 + Fraction(1, 10**9))
    evidence.settled.append(partial(_singles_left, sizes, people, share))
    what = f"an estimated share of at most {float(share):g} of the population that is unique"
    raised = "by single rows "
    return [_of_all(evidence, what, fails, sizes == 1, float(found), share, raised=raised)]


def _unique(sizes: Mapping[int, int], people: int) -> Fraction:
    """Return x² H(1) / (n Σ f_i H(i)), H(i) = i C(N − i, n − 1), of f_i classes of i rows.

    Examples
    --------
    >>> round(float(_unique({1: 6, 2: 3}, 100)), 9), _unique({2: 3}, 100)
    (0.264705882, Fraction(0, 1))
    """
    single = sizes.get(1, 0)
    if not single:
        return Fraction(0)
    rows = sum(size * classes for size, classes in sizes.items())
    # H(i) / H(1), one factor after the other; far behind the point nothing is left of it.
    with localcontext() as exact:
        exact.prec = 60
        likelier, total, last = Decimal(1), Decimal(0), max(sizes)
        for size in range(1, last + 1):
            total += sizes.get(size, 0) * size * likelier
            likelier *= max(people - rows - size + 1, 0)
            likelier /= people - size
            if not likelier:
                break
        return Fraction(single * single) / (rows * Fraction(total))


def _singles_left(sizes: Codes, people: int, share: Fraction, may: Marks, stay: Marks) -> Marks:
    """Return the classes that go though fewer single rows are enough, or other ones do.

    Which of the single rows go does not matter to the estimate.
    """
    left = Counter(sizes[may].tolist())

    def enough(gone: int) -> bool:
        return _unique({**left, 1: left[1] - gone}, people) <= share * (1 + Fraction(1, 10**9))

    gone = bisect_left(range(left[1]), True, key=enough)  # each that goes lowers it
    return _other_than(sizes, [1] * gone, may, stay)


# What each row earns its publisher, recomputed.


@recomputes("profitability", forms=("whole",), needs_public=True)
def profitability(evidence: Evidence) -> list[Check]:
    """Every published row earns more than nothing: B (1 − IL) less L / N where G / N > C."""
    amounts = [evidence.number(n, least=0) for n in ("benefit", "loss", "gain", "cost")]
    benefit, loss, gain, cost = amounts
    if not benefit:
        raise CannotTell("no benefit is stated")
    alike = np.maximum(evidence.people_alike(), 1)
    lost = _lost(evidence)
    attacked = np.array([gain > cost * people for people in alike.tolist()], dtype=np.bool_)
    earned = float(benefit) * (1 - lost) - attacked * float(loss) / alike
    return [
        class_check(
            evidence,
            f"a payout above 0 at a benefit of {float(benefit):g}",
            earned <= float(benefit) * 1e-9,
            earned,
            bound=0.0,
            measured="least payout of a row",
        )
    ]


def _lost(evidence: Evidence) -> npt.NDArray[np.float64]:
    """Return Σ log leaves / Σ log domain of the cells of each class, shape (classes,).

    Raises
    ------
    CannotTell
        If a text has no clear number of leaves.
    """
    first, every = evidence.grouped.first, 0.0
    found = np.zeros(len(first))
    for name in evidence.terms.quasi:
        leaves, domain = evidence.leaves(name, evidence.grouped.table.texts_of(name))
        found += np.log(np.array(leaves, dtype=np.float64))[
            evidence.grouped.table.codes_of(name)[first]
        ]
        every += math.log(domain)
    return found / every if every else found


# The largest risk, recomputed.


@recomputes(
    "maximum-risk",
    forms=("whole", "averaged"),
    called="maximum risk",
    needs_public=True,
    counts_people=True,
)
def maximum_risk(evidence: Evidence) -> list[Check]:
    """Every class has 1/r people, of the public table where there is one, or else rows.

    By a survey's weights, every class has an estimated risk of at most r.
    """
    risk = evidence.number("risk", above=0, most=1)
    if evidence.text("weights"):
        what = f"an estimated risk of at most {float(risk):g}"
        return [_by_weights(evidence, what, _estimated, risk, "largest estimated risk")]
    what = f"a risk of at most {float(risk):g}"
    if evidence.terms.person:
        return [people_at_least(evidence, what, math.ceil(1 / risk), measured="fewest people")]
    alike = evidence.people_alike()
    return [
        class_check(
            evidence,
            what,
            _risky(alike, risk),
            1 / np.maximum(alike, 1),
            bound=float(risk),
            measured="largest risk",
            worst="most",
        )
    ]


def _risky(alike: Codes, risk: Fraction) -> Marks:
    """Return where one among so many people is at more than a risk; numbers may be of any size."""
    return alike < min(math.ceil(1 / risk), np.iinfo(np.int64).max)


def _by_weights(
    evidence: Evidence,
    what: str,
    estimate: Callable[[int, Fraction], float],
    most: Fraction,
    measured: str,
) -> Check:
    """Check an estimate of each class, at worst of the lightest rows that can be in it.

    Raises
    ------
    CannotTell
        If it is unclear which rows a class has and the lightest are too light, or a weight is none.
    """
    reached, sure = _by_lightest(evidence, estimate)
    broken = _above(reached, most)
    refuse_unclear(broken & ~sure)
    return class_check(
        evidence, what, broken, reached, bound=float(most), measured=measured, worst="most"
    )


def _above(risk: npt.NDArray[np.float64], most: Fraction) -> Marks:
    """Return which estimates are above a bound; they have no exact digits."""
    return risk > float(most) * (1 + 1e-9)


def _by_lightest(
    evidence: Evidence, estimate: Callable[[int, Fraction], float]
) -> tuple[npt.NDArray[np.float64], Marks]:
    """Return an estimate of each class by rows and weights, of the lightest that can be in it.

    And where it is known which these are. Others would have a lower risk.

    Raises
    ------
    CannotTell
        If a weight is none, or a class has more rows than fit it.
    """
    name = evidence.text("weights")
    refuse_published(evidence, name)
    if evidence.terms.person:
        return _by_people(evidence, name, estimate)
    found, sizes = evidence.behind(name), evidence.sizes.tolist()
    counted, total = found.counted, list[Fraction]()
    if np.any(counted.sizes < evidence.sizes):
        raise CannotTell("a class has more rows than the table has for it")
    for which, left in enumerate(sizes):
        heavy = Fraction(0)
        rows = [(weight_of(value, name), count) for (value,), count in counted.of(which).items()]
        for weight, count in sorted(rows):
            heavy += weight * min(count, left)
            left -= min(count, left)
        total.append(heavy)
    return _of_each(estimate, zip(sizes, total, strict=True)), found.sure


def _by_people(
    evidence: Evidence, name: str, estimate: Callable[[int, Fraction], float]
) -> tuple[npt.NDArray[np.float64], Marks]:
    """Return an estimate of each class by its distinct persons and their weights.

    Raises
    ------
    CannotTell
        If it is unclear whose rows a class has.
    """
    found = evidence.behind(evidence.terms.person)
    counted = found.counted
    refuse_nobody(counted.values)
    if not found.sure.all():
        raise CannotTell("it is unclear whose rows are in which class")
    weights = _of_persons(evidence, name)
    own = [weights[cast(tuple[Hashable], value)[0]] for value in counted.values]
    total = [Fraction(0)] * len(found.sure)
    for owner, value in zip(counted.owner.tolist(), counted.value.tolist(), strict=True):
        total[owner] += own[value]
    return _of_each(estimate, zip(counted.distinct.tolist(), total, strict=True)), found.sure


def _of_each(
    estimate: Callable[[int, Fraction], float], classes: Iterable[tuple[int, Fraction]]
) -> npt.NDArray[np.float64]:
    """Estimate each class by its rows and weight; those that are alike are estimated once."""
    once = cache(estimate)
    return np.array([once(*own) for own in classes], dtype=np.float64)


def _of_persons(evidence: Evidence, name: str) -> Mapping[Hashable, Fraction]:
    """Return the weight of each person; of a household the mean over its people."""
    one, member = evidence.terms.person, evidence.terms.member
    held: dict[Hashable, dict[object, Fraction]] = {}
    for row, (whose, who, weight) in enumerate(evidence.cells_of(one, member or one, name)):
        # Where a household has no persons of its own, each row is one.
        key = who if member or not evidence.terms.household else row
        held.setdefault(whose, {})[key] = weight_of(weight, name)
    return {whose: sum(own.values(), Fraction(0)) / len(own) for whose, own in held.items()}


def _of_all(
    evidence: Evidence,
    what: str,
    fails: bool,
    high: Marks,
    reached: float,
    bound: Fraction,
    *,
    read: str = "published file",
    raised: str = "raised by rows at more risk ",
) -> Check:
    """Return the check of what all classes together come to; no class breaks it by itself.

    Parameters
    ----------
    high : bool array of shape (classes,)
        Those that raise it above what is allowed: their rows are named.
    read : str
        What it is recomputed from.
    raised : str
        What is said before the rows.
    """
    raising = evidence.rows_of(high)
    wrong = f"{what} is broken: it is {reached:.4g}, {raised}{named(raising)}."
    kept = f"Recomputed from the {read}: {what} holds ({reached:.4g})."
    found = judged(evidence.name, fails, wrong, kept, bound=bound, reached=reached)
    return replace(found, rows=raising.first) if fails else found


def _estimated(rows: int, people: Fraction) -> float:
    """Return E[1/F | f] = p ∫ u^(f−1) / (p + q u) du from 0 to 1, p = rows / people.

    With I(f) the integral, q I(f + 1) + p I(f) = 1/f: from I(1) = −ln p / q up, or, where that
    would lose too many digits, down from far above f.

    Examples
    --------
    >>> round(_estimated(1, Fraction(10)), 8), round(_estimated(3, Fraction(6)), 8)
    (0.25584279, 0.19314718)
    >>> _estimated(4, Fraction(4)), round(_estimated(400, Fraction(500)), 9)
    (0.25, 0.002000999)
    """
    if people <= rows:
        return 1 / rows
    odds = math.log10(rows / float(people - rows))
    with localcontext() as exact:
        exact.prec = 40 + max(0, math.ceil(min(odds * rows, _LOST)))
        p = Decimal(rows) * people.denominator / people.numerator
        q = 1 - p
        if odds * rows <= _LOST:
            found = -p.ln() / q
            for f in range(1, rows):
                found = (1 / Decimal(f) - p * found) / q
        else:
            above = rows + math.ceil(30 / odds)
            found = 1 / Decimal(above)
            for f in range(above - 1, rows - 1, -1):
                found = (1 / Decimal(f) - q * found) / p
        return float(p * found)


# The mean risk over all published rows, recomputed.


@recomputes("average-risk", forms=("whole", "averaged"), called="average risk", needs_public=True)
def average_risk(evidence: Evidence) -> list[Check]:
    """The mean of 1/N over the rows is at most r; without a public table, classes / rows.

    By a survey's weights it is the mean of the estimated risks.
    """
    risk, sizes = evidence.number("risk", above=0, most=1), evidence.sizes
    if evidence.text("weights"):
        each, sure = _by_lightest(evidence, _estimated)
        mean = float(sizes @ each) / max(int(sizes.sum()), 1)
        fails = bool(_above(np.array([mean]), risk)[0])
        refuse_unclear(fails & ~sure)  # it may fail for the lightest rows only
        what = f"a mean estimated risk of at most {float(risk):g}"
        return [_of_all(evidence, what, fails, _above(each, risk), mean, risk, read=_WEIGHED)]
    alike = np.maximum(evidence.people_alike(), 1)  # nobody of the public: a risk of 1
    if np.array_equal(alike, sizes):  # else which classes go is a choice among many
        evidence.settled.append(partial(_smallest_left, sizes, risk))
    rows: Counter[int] = Counter()
    for size, among in zip(sizes.tolist(), alike.tolist(), strict=True):
        rows[among] += size
    found = sum((Fraction(n, among) for among, n in rows.items()), Fraction(0))
    share = found / max(sum(rows.values()), 1)
    above = _risky(alike, risk)
    what = f"a mean risk of at most {float(risk):g}"
    return [_of_all(evidence, what, share > risk, above, float(share), risk)]


def _smallest_left(sizes: Codes, risk: Fraction, may: Marks, stay: Marks) -> Marks:
    """Return the classes that go though fewer of the smallest are enough, or larger ones stay.

    Which of classes of one size go does not matter to the mean.
    """
    classes, rows = int(may.sum()), int(sizes[may].sum())
    return _fewest_gone(sizes, may, may, stay, lambda n, own: classes - n > risk * (rows - own))


def _fewest_gone(
    sizes: Codes, of: Marks, may: Marks, stay: Marks, exceeds: Callable[[int, int], bool]
) -> Marks:
    """Return the same where the smallest of some classes go until that is enough.

    Whether it is not, `exceeds` says of how many are gone and of their rows.
    """
    ordered, rows, gone = sorted(sizes[of].tolist()), 0, 0
    while gone < len(ordered) and exceeds(gone, rows):
        rows += ordered[gone]
        gone += 1
    return _other_than(sizes, ordered[:gone], may, stay)


def _other_than(sizes: Codes, gone: list[int], may: Marks, stay: Marks) -> Marks:
    """Return the classes that go, or stay though they may not, unless they go by these sizes."""
    left = may & ~stay
    if sorted(sizes[left].tolist()) == gone and not np.any(stay & ~may):
        return np.zeros_like(may)
    return left | (stay & ~may)


# The share of published rows at more than some risk, recomputed.


@recomputes("share-at-risk", forms=("whole", "averaged"), called="share at risk", needs_public=True)
def share_at_risk(evidence: Evidence) -> list[Check]:
    """Rows of classes in which a guess is right too often are at most a share of all rows."""
    risk, sizes = evidence.number("risk", above=0, most=1), evidence.sizes
    share = evidence.number("share", above=0, most=1)
    what = f"a share of at most {float(share):g} at a risk above {float(risk):g}"
    weighed = bool(evidence.text("weights"))
    if weighed:
        each, sure = _by_lightest(evidence, _estimated)
        high = _above(each, risk)
        what = f"a share of at most {float(share):g} at an estimated risk above {float(risk):g}"
    else:
        alike = evidence.people_alike()
        high = _risky(alike, risk)
        sure = np.ones(1, dtype=np.bool_)
        if np.array_equal(alike, sizes):  # else which classes go is a choice among many
            evidence.settled.append(partial(_riskiest_left, sizes, high, share))
    found = Fraction(int(sizes[high].sum()), max(int(sizes.sum()), 1))
    refuse_unclear((found > share) & ~sure)
    if weighed:
        return [_of_all(evidence, what, found > share, high, float(found), share, read=_WEIGHED)]
    return [_of_all(evidence, what, found > share, high, float(found), share, raised="")]


def _riskiest_left(sizes: Codes, risky: Marks, share: Fraction, may: Marks, stay: Marks) -> Marks:
    """Return the classes that go though fewer of the smallest are enough, or larger ones stay.

    Which of classes of one size go does not matter to the share.
    """
    of, rows = may & risky, int(sizes[may].sum())
    at_risk = int(sizes[of].sum())
    return _fewest_gone(sizes, of, may, stay, lambda _, own: at_risk - own > share * (rows - own))
