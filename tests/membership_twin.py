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
from anon_core.methods.membership.joint_model import JointProblem


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


def from_people(
    public: Sequence[Sequence[object]], published: Sequence[Sequence[object]]
) -> tuple[BucketProblem, npt.NDArray[np.int64]]:
    """Build a problem from values: people of the public table, and the bucket block by block.

    Parameters
    ----------
    public : sequence of people, each a sequence of one value per block
    published : sequence of blocks, each the multiset of values the bucket publishes

    Returns
    -------
    problem : BucketProblem
    type_of : int64 array of shape (people,)
        Type of every person, -1 where a value is not published in the bucket.

    Examples
    --------
    >>> people = [(5370, 21), (5370, 27), (5371, 27)]
    >>> problem, type_of = from_people(people, [[5370, 5371], [27, 21]])
    >>> type_of.tolist(), problem.size
    ([0, 1, 2], 2)
    """
    known = [{v: i for i, v in enumerate(dict.fromkeys(block))} for block in published]
    margins: list[npt.NDArray[np.int64]] = []
    for names, block in zip(known, published, strict=True):
        at = np.array([names[v] for v in block], dtype=np.int64)
        margins.append(np.bincount(at, minlength=len(names)).astype(np.int64))
    coded = [[names.get(v, -1) for v, names in zip(p, known, strict=True)] for p in public]
    codes = np.array(coded, dtype=np.int32).reshape(len(public), len(margins))
    inside = np.flatnonzero((codes >= 0).all(axis=1))
    problem, merged = from_types(codes[inside], np.ones(len(inside), np.int64), margins)
    type_of = np.full(len(public), -1, dtype=np.int64)
    type_of[inside] = merged
    return problem, type_of


def union(
    public: Sequence[Sequence[object]], buckets: Sequence[Sequence[Sequence[object]]]
) -> tuple[BucketProblem, npt.NDArray[np.int64]]:
    """Unite buckets into one, as the thesis does where they overlap (Toth 2015, 4.1.2).

    The union forgets which bucket showed a value, so it understates what all of them tell.

    Parameters
    ----------
    public : as in `from_people`
    buckets : sequence of buckets, each as `published` in `from_people`
    """
    together = [[v for bucket in buckets for v in bucket[b]] for b in range(len(buckets[0]))]
    return from_people(public, together)


def from_buckets(
    public: Sequence[Sequence[object]], buckets: Sequence[Sequence[Sequence[object]]]
) -> JointProblem:
    """Build a joint problem from values: one type a person, who fits every bucket that shows them.

    Parameters
    ----------
    public : sequence of people, each a sequence of one value per block
    buckets : sequence of buckets, each a sequence of blocks, each a multiset of values
    """
    number: dict[tuple[int, int, object], int] = {}
    total: list[int] = []
    for g, blocks in enumerate(buckets):
        for b, block in enumerate(blocks):
            for value in block:
                at = number.setdefault((g, b, value), len(number))
                total += [0] * (at + 1 - len(total))
                total[at] += 1
    entries: list[tuple[int, int, list[int]]] = []
    for person, values in enumerate(public):
        for g in range(len(buckets)):
            rows = [number.get((g, b, v), -1) for b, v in enumerate(values)]
            if -1 not in rows:
                entries.append((person, g, rows))
    width = len(buckets[0]) if buckets else 0
    return JointProblem(
        types=np.array([p for p, _, _ in entries], dtype=np.int64),
        rows=np.array([r for _, _, r in entries], dtype=np.int32).reshape(len(entries), width),
        bucket=np.array([g for _, g, _ in entries], dtype=np.int64),
        total=np.array(total, dtype=np.int64),
        count=np.ones(len(public), dtype=np.int64),
    )
