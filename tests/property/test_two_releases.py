"""Attacks on two releases, against plain intersection: who joined, left, changed, or is hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.registry import family
from anon_core.data.table import Dataset
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.knowledge.earlier_release import encode_earlier
from anon_core.techniques.attacks.composition import Composition
from anon_core.techniques.attacks.correspondence import Correspondence
from tests.making import Case, by_hand
from tests.often import times

#: What values are generalized to: an earlier release may show either.
LABELS = {"a": "x", "b": "x", "c": "y", "d": "y"}
UNDER = {"x": {"a", "b"}, "y": {"c", "d"}}
MEANT = {"s": {v: (v,) for v in LABELS} | {n: tuple(sorted(u)) for n, u in UNDER.items()}}
PEOPLE = ("unknown", "all", "grown")


def drawn(
    rng: np.random.Generator,
) -> tuple[Case, list[int], list[tuple[frozenset[str], list[str]]]]:
    """Draw a table, its groups, and the classes of an earlier release: whom each covers, values."""
    size = int(rng.integers(3, 8))
    names, values = list("PQRSTUVW")[:size], [str(v) for v in rng.choice(list("abcd"), size)]
    case = Case(
        columns={"who": list(names), "s": list(values)},
        quasi=("who",),
        sensitive=("s",),
        kinds={"who": "text", "s": "text"},
    )
    groups = np.unique(rng.integers(0, 3, size), return_inverse=True)[1].tolist()
    there: list[tuple[frozenset[str], list[str]]] = []
    inside = [n for n in range(size) if rng.random() < 0.7]  # others joined since
    for number in set(rng.integers(0, 2, max(len(inside), 1)).tolist()):
        own = [i for i in inside if int(rng.integers(2)) == number] or [int(rng.integers(size))]
        text = [values[i] if rng.random() < 0.8 else str(rng.choice(list("abcd"))) for i in own]
        shown = [LABELS[v] if rng.random() < 0.5 else v for v in text]
        there.append((frozenset(names[i] for i in own), shown))
    return case, groups, there


def attacked(
    case: Case,
    groups: Sequence[int],
    there: Sequence[tuple[frozenset[str], list[str]]],
    people: str,
    attack: Composition | Correspondence,
) -> AttackResult:
    rows = [("{" + ", ".join(sorted(w)) + "}", v) for w, shown in there for v in shown]
    frame = pd.DataFrame(rows, columns=["who", "s"], dtype=object)
    problem = case.problem()
    earlier = encode_earlier(
        Dataset.from_frame(frame, kinds={"who": "text", "s": "text"}),
        problem.dataset,
        problem.roles,
        problem.hierarchies,
        people,  # type: ignore[arg-type]
        MEANT,
    )
    problem = replace(problem, earlier=earlier)
    release = by_hand(problem, groups, (("who",), ("s",)))
    (one,) = attack.run(release.view, audience_of(problem), truth_of(problem, release), Context())
    return one


def candidates(
    case: Case, groups: Sequence[int], there: Sequence[tuple[frozenset[str], list[str]]]
) -> list[tuple[set[str], set[str]]]:
    """Return the values that each release leaves to each person; a label represents its values."""
    names, values = case.column("who"), case.column("s")
    found: list[tuple[set[str], set[str]]] = []
    for who, group in zip(names, groups, strict=True):
        here = {v for v, g in zip(values, groups, strict=True) if g == group}
        fits = [v for covers, shown in there if who in covers for v in shown]
        found.append((here, {u for v in fits for u in UNDER.get(v, {v})}))
    return found


def test_every_attack_on_two_releases_is_tried_here() -> None:
    known = {name for name, kind in family("attack").items() if kind.needs.earlier}
    assert known == {"composition", "correspondence"}


@pytest.mark.often
@pytest.mark.parametrize("people", PEOPLE)
def test_two_releases_never_tell_less_than_this_one(people: str) -> None:
    """Rates are at least what this release alone tells, and intervals are the right way round.

    Of people who fit no class of the earlier release, or of whom it says what cannot be, this
    release alone counts: they are not safe.
    """
    rng = np.random.default_rng([20, len(people)])
    apart = 0
    for _ in range(times(400)):
        case, groups, there = drawn(rng)
        own, size = case.column("s"), len(groups)
        answer = candidates(case, groups, there)
        left = [here & then or here for here, then in answer]
        certain = sum(one == {v} for one, v in zip(left, own, strict=True))
        alone = sum(here == {v} for (here, _), v in zip(answer, own, strict=True))
        found = attacked(case, groups, there, people, Composition())
        assert found.succeeded == certain, (case, groups, there)
        assert found.rate >= alone / size
        rows = Counter(groups)
        by_class = float(sum(Fraction(1, rows[g]) for g in groups) / size)
        second = attacked(case, groups, there, people, Correspondence())
        assert second.rate >= by_class - 1e-9, (case, groups, there)
        for one in (found, second):
            assert 0 <= one.rate <= 1
            assert one.rate >= one.baseline - 1e-9
            low, high = one.interval or (one.rate, one.rate)
            assert low <= high
            assert low <= one.rate <= high
        apart += any(not here & then for here, then in answer)
    assert apart > 20  # such people are there


@pytest.mark.often
@pytest.mark.parametrize("people", PEOPLE)
def test_the_table_as_it_is_tells_no_less_than_its_release(people: str) -> None:
    """Several people are alike; a class that holds others too leaves room for who joined."""
    alike = Case(
        columns={"who": list("PPPR"), "s": list("aaba")},
        quasi=("who",),
        sensitive=("s",),
        kinds={"who": "text", "s": "text"},
    )
    cases = [(alike, [0] * 4, [(frozenset("P"), list("aab"))])]
    rng = np.random.default_rng(22)
    for _ in range(times(100)):
        case, groups, there = drawn(rng)
        names = [str(v) for v in rng.choice(case.column("who")[:3], len(groups))]
        of = dict(zip(case.column("who"), names, strict=True))
        met = [(frozenset(of[n] for n in covers), shown) for covers, shown in there]
        cases.append((replace(case, columns={**case.columns, "who": list(names)}), groups, met))
    for case, groups, there in cases:
        for attack in (Composition(), Correspondence()):
            found = attacked(case, groups, there, people, attack)
            assert found.rate <= found.raw + 1e-9, (attack.name, case, groups, there)


@pytest.mark.often
def test_all_people_weighed_at_once_are_no_safer() -> None:
    rng = np.random.default_rng(21)
    for _ in range(times(120)):
        case, groups, there = drawn(rng)
        one = attacked(case, groups, there, "all", Composition())
        found = attacked(case, groups, there, "all", Composition(together=True))
        assert found.rate >= one.rate, (case, groups, there)
        low, high = found.interval or (found.rate, found.rate)
        assert low <= found.rate <= high <= 1
