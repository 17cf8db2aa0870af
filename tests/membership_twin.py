"""Membership by listing every choice, in whole numbers: the slow twin of the counting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.methods.membership.bucket import BucketProblem, from_types


@dataclass(frozen=True, kw_only=True)
class Listed:
    """All choices of people that fit, by type."""

    worlds: int
    delta: tuple[Fraction, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]


def listed(
    codes: Sequence[Sequence[int]], people: Sequence[int], margins: Sequence[Sequence[int]]
) -> Listed:
    """Try every count of every type; a world is a set of people, so types weigh C(n, x)."""
    worlds = 0
    held = [0] * len(people)
    least, most = list(people), [0] * len(people)
    size = sum(margins[0])
    for x in itertools.product(*(range(n + 1) for n in people)):
        if sum(x) != size:
            continue
        sums = [[0] * len(m) for m in margins]
        for taken, values in zip(x, codes, strict=True):
            for b, v in enumerate(values):
                sums[b][v] += taken
        if sums != [list(m) for m in margins]:
            continue
        ways = math.prod(math.comb(n, y) for n, y in zip(people, x, strict=True))
        worlds += ways
        for j, y in enumerate(x):
            held[j] += ways * y
            least[j], most[j] = min(least[j], y), max(most[j], y)
    return Listed(
        worlds=worlds,
        delta=tuple(
            Fraction(h, worlds * n) if worlds else Fraction(0)
            for h, n in zip(held, people, strict=True)
        ),
        least=tuple(least),
        most=tuple(most),
    )


@dataclass(frozen=True, kw_only=True)
class Assigned:
    """All ways to put people into buckets or outside."""

    assignments: int
    worlds: int
    delta_assignments: tuple[Fraction, ...]
    delta_worlds: tuple[Fraction, ...]


def assigned(
    public: Sequence[Sequence[object]], buckets: Sequence[Sequence[Sequence[object]]]
) -> Assigned:
    """Try every assignment of every person to a bucket that shows their values, or to none."""
    goal = [[sorted(map(repr, block)) for block in bucket] for bucket in buckets]
    places = [
        [-1]
        + [
            g
            for g, bucket in enumerate(buckets)
            if all(v in block for v, block in zip(p, bucket, strict=True))
        ]
        for p in public
    ]
    found: dict[tuple[int, ...], int] = {}
    for choice in itertools.product(*places):
        shown = [
            [
                sorted(repr(p[b]) for p, at in zip(public, choice, strict=True) if at == g)
                for b in range(len(bucket))
            ]
            for g, bucket in enumerate(buckets)
        ]
        if shown == goal:
            world = tuple(int(at >= 0) for at in choice)
            found[world] = found.get(world, 0) + 1
    total = sum(found.values())
    many = len(found)
    people = range(len(public))
    return Assigned(
        assignments=total,
        worlds=many,
        delta_assignments=tuple(
            Fraction(sum(n for w, n in found.items() if w[i]), max(total, 1)) for i in people
        ),
        delta_worlds=tuple(Fraction(sum(w[i] for w in found), max(many, 1)) for i in people),
    )


def random_bucket(
    rng: np.random.Generator, *, people: int, values: int, blocks: int | None = None
) -> tuple[BucketProblem, npt.NDArray[np.int64]]:
    """Draw public people and a bucket of some of them; return it and who is in it, by type."""
    blocks = int(rng.integers(1, 5)) if blocks is None else blocks
    drawn = rng.integers(0, values, (people, blocks)).astype(np.int32)
    size = int(rng.integers(1, people + 1))
    inside = drawn[rng.choice(people, size, replace=False)]
    margins = [np.bincount(inside[:, b], minlength=values).astype(np.int64) for b in range(blocks)]
    fits = np.all([margins[b][drawn[:, b]] > 0 for b in range(blocks)], axis=0)
    ones = np.ones(int(fits.sum()), dtype=np.int64)
    problem, _ = from_types(drawn[fits], ones, margins)
    number = {tuple(c): i for i, c in enumerate(problem.codes.tolist())}
    truth = np.zeros(len(problem.count), dtype=np.int64)
    for row in inside.tolist():
        truth[number[tuple(row)]] += 1
    return problem, truth
