"""deFinetti: the worked example, what it finds, and what it must not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled
from anon_core.methods.inference.definetti import Settled, rows_of, settle, values_of_groups
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release, raw_view
from anon_core.techniques.attacks.definetti import DeFinetti
from tests.asked import attacked
from tests.making import PATIENTS, Case, by_hand

CONTEXT = Context()
W_11 = [("yn", "cf"), ("yn", "cf"), ("yy", "cc"), ("nn", "ff")]


def bucketized(groups: Sequence[tuple[Sequence[str], Sequence[str | None]]]) -> Release:
    """Return groups of quasi-identifiers with their sensitive values, the link between them cut."""
    case = Case(
        columns={
            "q": [v for quasi, _ in groups for v in quasi],
            "s": [v for _, secret in groups for v in secret],
        },
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    number = [g for g, (quasi, _) in enumerate(groups) for _ in quasi]
    return by_hand(case.problem(), number, (("q",), ("s",)))


def settled(release: Release, tolerance: float, rounds: int = 200) -> Settled:
    view = release.view
    block = rows_of(view, view.block_of("q"), values_of_groups(view, "s"))
    texts = len(view.vocabularies["s"].texts)
    return settle(block, texts, rounds, CONTEXT, tolerance)


def attack(release: Release, **given: object) -> AttackResult:
    problem, by = release.problem, DeFinetti.from_mapping(given)
    (found,) = by.run(release.view, audience_of(problem), truth_of(problem, release), CONTEXT)
    return found


def test_w_11_two_groups_are_undone_by_two_others() -> None:
    found = settled(bucketized(W_11), 1e-10)
    # Rows of a group stand as its lines: n before y; values c before f.
    assert found.share[2] == pytest.approx(0.952536, abs=5e-7)
    assert np.exp(found.says)[1] == pytest.approx([0.817512, 0.182488], abs=5e-7)
    assert (found.rounds, found.converged) == (16, True)
    same = settled(bucketized(W_11[:1] * 4), 1e-10)
    assert same.share == pytest.approx(0.5)  # nothing tells y from n


def test_w_11_by_every_world() -> None:
    """The exact chance under a flat prior, of which the iteration is too sure."""
    worlds: dict[tuple[str, str], Fraction] = {}
    for one, two in itertools.product(itertools.permutations("cf"), repeat=2):
        pairs = list(zip("ynynyynn", [*one, *two, *"ccff"], strict=True))
        weight = Fraction(1)
        for value in "cf":
            own = [sum(p == (q, value) for p in pairs) for q in "yn"]
            weight *= Fraction(factorial(own[0]) * factorial(own[1]), factorial(sum(own) + 1))
        worlds["".join(one), "".join(two)] = weight
    right = sum(weight for (one, _), weight in worlds.items() if one == "cf")
    assert right / sum(worlds.values()) == Fraction(153, 166)
    assert settled(bucketized(W_11), 1e-10).share[2] > 153 / 166


def test_whom_it_guesses() -> None:
    found = attack(bucketized(W_11))
    # Of the first two groups the right ones, y with c, of four people each; the others are sure.
    assert (found.succeeded, found.baseline) == (8, 0.5)
    assert found.per_class[0] == pytest.approx(0.9525, abs=1e-4)
    assert found.at_risk == 8
    assert "the commonest value of each group is right for 6 (75%)" in found.sentence
    tied = attack(bucketized(W_11[:1] * 4))
    assert tied.succeeded == pytest.approx(4)  # one of two, by chance
    ended = attack(bucketized(W_11), rounds=2)
    assert "Not converged in 2 rounds." in ended.sentence


def drawn(number: int, groups: int, *, depends: bool, size: int = 4, kinds: int = 6) -> Release:
    """Draw groups of different values each, whose rows go with them in 9 of 10 cases or never."""
    rng = np.random.default_rng([379, number])
    made: list[tuple[list[str], list[str | None]]] = []
    for _ in range(groups):
        values = rng.permutation(kinds)[:size]
        other = rng.integers(0, kinds, size)
        quasi = np.where(rng.random(size) < 0.9, values, other) if depends else other
        made.append(([f"q{v}" for v in quasi], [f"s{v}" for v in values]))
    return bucketized(made)


def test_it_beats_one_over_l_where_columns_depend() -> None:
    assert attack(drawn(1, 60, depends=True)).rate > 0.7
    assert attack(drawn(2, 60, depends=False)).rate == pytest.approx(0.25, abs=0.08)
    scaled = attack(drawn(3, 60, depends=True, size=10, kinds=14))
    assert scaled.rate > 0.7


def test_columns_that_are_permuted_apart_are_taken_together() -> None:
    rng = np.random.default_rng(383)
    rows = 240
    secret = np.concatenate([rng.permutation(6)[:4] for _ in range(rows // 4)])
    first = np.where(rng.random(rows) < 0.7, secret % 2, rng.integers(0, 2, rows))
    second = np.where(rng.random(rows) < 0.7, secret // 2, rng.integers(0, 3, rows))
    case = Case(
        columns={
            "a": [str(v) for v in first],
            "b": [str(v) for v in second],
            "s": [str(v) for v in secret],
        },
        quasi=("a", "b"),
        sensitive=("s",),
        kinds=dict.fromkeys("abs", "text"),  # type: ignore[arg-type]
    )
    problem, group = case.problem(), [i // 4 for i in range(rows)]
    rate = {}
    for name, blocks in {
        "one apart": (("a", "b"), ("s",)),
        "all apart": (("a",), ("b",), ("s",)),
        "beside": (("a",), ("b", "s")),
    }.items():
        rate[name] = attack(by_hand(problem, group, blocks)).rate
    assert min(rate.values()) > 0.4  # 1 in 4 by the groups


def test_values_that_are_absent_are_neither_guessed_nor_scored() -> None:
    gaps: list[tuple[Sequence[str], Sequence[str | None]]] = [
        ("ynn", ["c", "f", None]), *((q, list(s)) for q, s in W_11)
    ]  # fmt: skip
    found = attack(bucketized(gaps))
    assert (found.attempted, found.eligible) == (11, 10)
    assert found.succeeded <= 10
    none = attack(bucketized([("yn", [None, None])]))
    assert (none.eligible, none.rate, none.worst) == (0, 0, 0)


def test_whom_it_cannot_attack() -> None:
    problem = PATIENTS.problem()
    whole = raw_view(problem)
    reason = DeFinetti().reason_not_applicable(whole, audience_of(problem))
    assert "here rows stay whole" in reason
    with pytest.raises(AnonError, match="rows stay whole"):
        DeFinetti().run(*attacked(problem, whole), CONTEXT)


def test_it_can_be_cancelled() -> None:
    context = Context()
    context.cancel.set()
    release = bucketized(W_11)
    with pytest.raises(Cancelled):
        DeFinetti().run(*attacked(release.problem, release.view), context)


def test_people_of_no_part_in_it_are_guessed_without_a_group() -> None:
    rng = np.random.default_rng(389)
    secret = rng.integers(0, 4, 800)
    quasi = np.where(rng.random(800) < 0.8, secret, rng.integers(0, 4, 800))
    case = Case(
        columns={"q": [str(v) for v in quasi], "s": [str(v) for v in secret]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    plan = case.plan(
        algorithm={"name": "anatomy"},
        models=[{"name": "frequency-l-diversity", "l": 3}],
        attacks=[{"name": "definetti"}],
        data={"sample": 0.5},
    )
    result = run(plan, case.dataset)
    (found,) = (a for a in result.attacks if a.attack == "definetti")
    assert found.control is not None
    assert found.rate > found.control > 0.6 > found.baseline
    assert found.interval is not None
