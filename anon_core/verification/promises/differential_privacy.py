"""(ε, δ)-differential privacy: what of it can be recomputed, which is not the guarantee itself.

No release shows how it came about. Recomputed are the account of the budget, the size it asks of
every class, that every column stands at one level of its hierarchy and no column beside, and, with
the secret, the sample. That nobody chose the coins is for the mechanism to guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, cast

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.findings import Check, many, not_checked
from anon_core.verification.limits import at_least
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.redrawn_sample import (
    classes_of,
    fitting_levels,
    labels_by_level,
    published_classes,
    redrawn,
)
from anon_core.verification.rows.sampling import least_of, share_of

_NAME = "differential-privacy"


@recomputes(_NAME, forms=("whole",), called="differential privacy", looks_at="every")
def differential_privacy(evidence: Evidence) -> list[Check]:
    """The account of ε and δ, the least class it asks for, fixed levels, and the sample."""
    epsilon = evidence.number("epsilon", above=0, most=10)
    delta = evidence.number("delta", above=0, most=0.1)
    promise = evidence.promise
    if promise.shape.rows != "drawn":
        return [
            _told(False, "No row is drawn by chance: one row can change all that is published.")
        ]
    for_levels = _setting(evidence, "levels_epsilon", most=10)
    for_rows = epsilon - for_levels
    if for_rows <= 0:
        return [_told(False, f"No budget is left for the rows: levels cost {float(for_levels):g}.")]
    share, gamma = share_of(for_rows, _setting(evidence, "share", most=1))
    if share <= 0:
        raise CannotTell("so small a share of the rows that none is drawn")
    least = least_of(share, gamma, delta)
    if least is None:
        raise CannotTell("its least class takes too long to find")
    others = [model.get("k", 0) for model in promise.models]
    asked = max(least, *(k for k in others if isinstance(k, int)))
    what = f"k = {least} for ε = {float(for_rows):g} and δ = {float(delta):g}"
    return [
        _account(epsilon, for_levels, delta, share),
        at_least(evidence, what, evidence.sizes, least, unit="rows"),
        _fixed(evidence),
        _sample(evidence, share, asked),
    ]


def _setting(evidence: Evidence, key: str, *, most: int) -> Fraction:
    """Return a number of the technique's settings exactly as its decimal is written."""
    given = evidence.promise.algorithm.get(key)
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise CannotTell(f"the technique's {key} is no number")
    if not 0 <= given <= most:
        raise CannotTell(f"the technique's {key} is no number from 0 to {most}")
    return Fraction(str(given))


def _account(epsilon: Fraction, for_levels: Fraction, delta: Fraction, share: Fraction) -> Check:
    """Tell what the budget went into; that it adds up was made sure of before."""
    levels = f"{float(for_levels):g} on levels and " if for_levels else ""
    return Check(
        name=_NAME,
        holds=True,
        bound=float(epsilon),
        reached=float(epsilon),
        sentence=f"By its account ε = {float(epsilon):g} ({levels}{float(epsilon - for_levels):g} "
        f"on rows, each drawn with chance {float(share):.3g}) and δ = {float(delta):g}, for one "
        "row added or removed; the person who ran it was trusted with the table. The guarantee is "
        "the mechanism's: it cannot be read off the published files.",
    )


def _fixed(evidence: Evidence) -> Check:
    """Check that nothing but the levels decides what a row publishes."""
    promise = evidence.promise
    if promise.exact:
        return _told(False, "Columns are published row by row with the classes.")
    if promise.sample < 1:
        return _told(False, "A sample was drawn before, by a number that follows from the table.")
    if promise.algorithm.get("fixed_rules") is not True:
        return _told(
            False, "The recipe does not confirm that its hierarchies were made without the table."
        )
    if not _choices(evidence):
        return _told(False, "A column is not published at one level of its hierarchy throughout.")
    return _told(
        True,
        "Every column is published at one level of a hierarchy that the recipe says was made "
        "without the table; whether it was cannot be recomputed.",
    )


def _choices(evidence: Evidence) -> list[tuple[int, ...]]:
    """Return the levels that the release may stand at: those named, or all that fit its texts."""
    promise = evidence.promise
    levels = [labels_by_level(evidence, name) for name in promise.quasi]
    fitting = list(fitting_levels(published_classes(evidence), levels))
    if _setting(evidence, "levels_epsilon", most=10):
        return fitting
    named = promise.algorithm.get("levels")
    told = cast(Mapping[str, Any], named) if isinstance(named, Mapping) else {}
    asked = tuple(
        told.get(name, len(own) - 1) for name, own in zip(promise.quasi, levels, strict=True)
    )
    return [choice for choice in fitting if choice == asked]


def _sample(evidence: Evidence, share: Fraction, least: int) -> Check:
    """Draw the sample again, where the secret is there, and compare its classes."""
    seed = evidence.promise.seed
    if seed is None:
        return not_checked(
            _NAME,
            "The recipe has no secret, so the sample was not drawn again: whether these are its "
            "rows is not known.",
        )
    rows, drawn = redrawn(evidence, seed, share)
    levels = [labels_by_level(evidence, name) for name in evidence.promise.quasi]
    published = published_classes(evidence)
    for choice in _choices(evidence):
        labels = [own[level] for own, level in zip(levels, choice, strict=True)]
        if classes_of(rows, drawn, labels, least) == published:
            return _told(
                True,
                f"Drawn again from the secret, {sum(drawn)} rows are in the sample, and the "
                f"{many(len(published), 'class', 'is', 'are')} its classes of at least {least}.",
            )
    return _told(False, "Drawn again from the secret, the sample has other classes.")


def _told(holds: bool, sentence: str) -> Check:
    return Check(name=_NAME, holds=holds, sentence=sentence)
