"""Places that people ask from: read from a table, cloaked and attacked, and published."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from anon_core.base.errors import BadInput, BadPlan, Infeasible, NotVerified, brief
from anon_core.data.table import Dataset
from anon_core.methods.other_data import complete_lines, written
from anon_core.methods.other_data.places import (
    LEVELS,
    METHODS,
    Box,
    InversionAttack,
    Place,
    Request,
    cliques,
    inversion_attack,
)
from anon_core.verification.other_data import cloak_checks

#: All techniques, in the order of their comparison.
TECHNIQUES = (*METHODS, "cliques")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Where people are when they ask.

    Attributes
    ----------
    texts : mapping of str to pair of str
        Each person's place, as it was read.
    requests : mapping of str to Request
        Of everyone, where the table gives each a k and a tolerance; else empty.
    """

    texts: Mapping[str, tuple[str, str]]
    requests: Mapping[str, Request]

    @property
    def places(self) -> dict[str, Place]:
        """Each person's place in numbers."""
        return {name: (Fraction(x), Fraction(y)) for name, (x, y) in self.texts.items()}

    def k_of(self, k: int) -> dict[str, int]:
        """Return how many people each asks to be among: the own k, or this one for all."""
        return {n: r.k for n, r in self.requests.items()} or dict.fromkeys(self.texts, k)


def read_asked(table: Dataset, title: str) -> Asked:
    """Return the places of a table of person, x and y, or also k and tolerance.

    Parameters
    ----------
    title : str
        What errors call the table.

    Raises
    ------
    BadInput
        If it has other columns, gaps, two rows of one person, or what is not a number.
    """
    wide = len(table.columns)
    if wide not in (3, 5):
        raise BadInput(
            f"{title} has {wide} columns; 3 are needed (person, x, y), or 5 (also k, tolerance).",
            remedy="Leave out other columns.",
        )
    lines = complete_lines(table, title, wide, remedy="Fill in every cell, or leave out the row.")
    rows = Counter(line[0] for line in lines)
    if len(rows) < len(lines):
        raise BadInput(
            f"{title} has {len(lines) - len(rows):,} rows too many: its persons are to be "
            "different, since boxes of one person intersect.",
            remedy="Use a table of one moment, with a row for each person.",
            values=sorted(name for name, number in rows.items() if number > 1),
        )
    for place, column in enumerate(table.names):
        bad = sorted({line[place] for line in lines if _number(line[place]) is None})
        if place and bad:
            raise BadInput(
                f"Values of '{column}' of {title} that are not numbers: {len(bad):,}.",
                remedy="Write coordinates as plain numbers with a point.",
                values=bad,
            )
    found: dict[str, Request] = {}
    for name, x, y, *more in lines if wide == 5 else ():
        k, tolerance = map(Fraction, more)
        if k.denominator != 1 or k < 2 or tolerance < 0:
            raise BadInput(
                f"A request has k = {k} and the tolerance {tolerance}; k is a whole number from 2 "
                "up, and a tolerance is not negative.",
                remedy="Correct the table.",
            )
        found[name] = Request(at=(Fraction(x), Fraction(y)), k=int(k), tolerance=tolerance)
    return Asked(texts={line[0]: (line[1], line[2]) for line in lines}, requests=found)


def drawn(people: int, seed: int = 1) -> Asked:
    """Return places of an invented town of 10 × 10 km: three quarters, and people between them."""
    rng = np.random.default_rng(seed)
    quarter = rng.integers(0, 4, people)
    middle = np.array([[2.5, 3.0], [7.0, 7.5], [7.5, 2.0], [5.0, 5.0]])[quarter]
    wide = np.array([0.6, 0.8, 0.4, 2.5])[quarter]
    at = np.clip(rng.normal(middle, wide[:, None]), 0, 9.99)
    return Asked(
        texts={f"p{n}": (f"{x:.2f}", f"{y:.2f}") for n, (x, y) in enumerate(at.tolist(), 1)},
        requests={},
    )


def read_area(text: str, title: str) -> Box:
    """Return left, lower, right and upper edge of an area as it is written, such as 0,0,8,8."""
    ends = [_number(part.strip()) for part in text.split(",")]
    left, lower, right, upper = ends if len(ends) == 4 else (None,) * 4
    if left is None or lower is None or right is None or upper is None:
        raise BadPlan(f"{title} is {brief(text)}; four numbers are needed.", remedy="Use 0,0,8,8.")
    if left >= right or lower >= upper:
        raise BadPlan(
            f"{title} {brief(text)} is empty.", remedy="Name left, lower, right, upper edge."
        )
    return left, lower, right, upper


def _number(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", text) else None


# What each technique makes of them.


@dataclass(frozen=True, kw_only=True)
class Cloaked:
    """What one technique makes of places, and what someone finds who inverts it.

    Attributes
    ----------
    technique : str
    boxes : mapping of str to Box
        Of everyone whose request did not expire.
    expired : int
    """

    technique: str
    boxes: Mapping[str, Box]
    attack: InversionAttack
    expired: int

    @property
    def holds(self) -> bool:
        """Whether there are boxes, and as many could have sent each as its people ask for."""
        return bool(self.boxes) and not self.attack.exposed


def cloaked(
    asked: Asked,
    technique: str,
    k: int = 0,
    *,
    area: Box | None = None,
    levels: int = LEVELS,
    tolerance: Fraction | None = None,
) -> Cloaked:
    """Return the boxes of one technique, inverted.

    Parameters
    ----------
    technique : str
        Of `TECHNIQUES`.
    k : int
        Of everyone, where the table gives no one a k.
    area : Box, optional
        What quadtree and pyramid divide; the Hilbert curve runs through it, too.
    tolerance : Fraction, optional
        Of everyone, where cliques are asked for and the table gives none.
    """
    places = asked.places
    if technique == "cliques":
        own = asked.requests or {
            name: Request(at=at, k=k, tolerance=tolerance or Fraction(0))
            for name, at in places.items()
        }
        boxes = cliques(own)
    elif technique == "nearest":
        boxes = METHODS[technique][0](places, k)
    else:
        boxes = METHODS[technique][0](places, k, area=area, levels=levels)
    return Cloaked(
        technique=technique,
        boxes=boxes,
        attack=inversion_attack(boxes, places, asked.k_of(k)),
        expired=len(places) - len(boxes),
    )


def published(asked: Asked, made: Cloaked, k: int = 0) -> tuple[str, str]:
    """Return the text of boxes to publish, recomputed, and that of who has which, to be kept.

    Raises
    ------
    Infeasible
        If fewer people could have sent a box than its people ask for, or all requests expired.
    NotVerified
        If the second computation does not confirm it.
    """
    attack, boxes = made.attack, made.boxes
    if not made.holds:
        raise Infeasible(
            f"Boxes of {made.technique} have {attack.inside:,} people or more inside, but the "
            f"fewest who could have sent one are {attack.least:,}; exposed: {attack.exposed:,} of "
            f"{len(boxes):,}. Nothing was released."
            if boxes
            else "No request found others within its tolerance. Nothing was released.",
            remedy="Use the technique reciprocal, whose boxes k people could have sent."
            if boxes
            else "Raise tolerances, or lower k.",
            best=float(attack.least),
            best_of="possible senders",
        )
    own = {n: tuple(edges(box)) for n, box in boxes.items()}
    sides = ("left", "lower", "right", "upper")
    text = written([sides, *sorted(own.values())])
    checks = cloak_checks(text, asked.texts, own, asked.k_of(k))
    broken = [c.sentence for c in checks if not c.holds]
    if broken:
        raise NotVerified(
            f"Verification failed: {' '.join(broken)} Nothing was released.",
            remedy="Please report it; this is an error of the workbench.",
        )
    return text, written([("name", *sides), *((n, *box) for n, box in sorted(own.items()))])


def edges(box: Box) -> list[str]:
    """Return edges as decimals, which they are: coordinates of the table, or halves of the area."""
    with localcontext(prec=80):
        return [f"{(Decimal(e.numerator) / e.denominator).normalize():f}" for e in box]
