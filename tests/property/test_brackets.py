"""Limits of chances of presence in overlapping groups hold what listing finds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from anon_core.base.context import Context
from anon_core.methods.membership.brackets import expected
from anon_core.methods.membership.joint_model import JointProblem
from anon_core.methods.membership.presence import OPEN, OUTSIDE, WITHIN, Bounds, judge
from anon_core.methods.membership.presolve import presolve


def overlapping(rng: np.random.Generator) -> tuple[JointProblem, list[Fraction]]:
    """Draw groups that people fit several of, with the chance of everyone by listing.

    Every person is in one of the groups they fit, or in none; each group has so many people.
    """
    groups, types = int(rng.integers(2, 4)), int(rng.integers(3, 6))
    fits = [np.flatnonzero(rng.random(groups) < 0.55).tolist() for _ in range(types)]
    count = rng.integers(1, 3, types)
    people = [t for t in range(types) for _ in range(count[t])][:6]
    count = np.bincount(people, minlength=types)
    where = [int(rng.choice([-1, *fits[t]])) for t in people]
    total = [where.count(g) for g in range(groups)]
    inside, worlds = [0] * types, 0
    for choice in itertools.product(*([-1, *fits[t]] for t in people)):
        if [choice.count(g) for g in range(groups)] == total:
            worlds += 1
            for t, g in zip(people, choice, strict=True):
                inside[t] += g >= 0
    entries = [(t, g) for t in range(types) if count[t] for g in fits[t]]
    joint = JointProblem(
        types=np.array([t for t, _ in entries], dtype=np.int64),
        rows=np.array([[g] for _, g in entries], dtype=np.int32).reshape(-1, 1),
        bucket=np.array([g for _, g in entries], dtype=np.int64),
        total=np.array(total, dtype=np.int64),
        count=count.astype(np.int64),
    )
    exact = [Fraction(n, worlds * max(int(m), 1)) for n, m in zip(inside, count, strict=True)]
    return joint, exact


def test_limits_hold_the_chance_by_listing_and_decide_only_what_it_decides() -> None:
    rng = np.random.default_rng(32)
    narrowed, verdicts = 0, {int(v): 0 for v in (OPEN, OUTSIDE, WITHIN)}
    for _ in range(60):
        joint, exact = overlapping(rng)
        system = joint.system
        known = presolve(system)
        low, high = expected(system, known.lower, known.upper)
        bounds = Bounds.of(*sorted(rng.integers(0, 11, 2) / 10))
        judged = judge(joint, bounds, Context(), max_states=0)  # nothing is counted
        for t, chance in enumerate(exact):
            at = joint.variable[t]
            if at < 0:
                continue
            people = int(system.people[at])
            limits = [low[at] / people, high[at] / people]
            if joint.outside[t]:
                limits = [1 - limits[1], 1 - limits[0]]
            assert limits[0] - 1e-12 <= chance <= limits[1] + 1e-12
            narrowed += limits[1] - limits[0] < (known.upper - known.lower)[at] / people - 0.01
            verdict = int(judged.verdict[at])
            assert verdict == OPEN or (verdict == WITHIN) == bounds.admits(chance)
            assert np.isnan(judged.chance[at]) or abs(judged.chance[at] - chance) < 1e-12
            verdicts[verdict] += 1
    assert narrowed > 15
    assert min(verdicts.values()) > 15
