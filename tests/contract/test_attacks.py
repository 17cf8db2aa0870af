"""What holds of every attack, whichever it is: it knows the view and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.data.table import Dataset
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.grouping import group_runs
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_level
from tests.contract.test_who_knows_what import drawn, layouts
from tests.making import Case, by_hand, random_case, with_numbers_in_one
from tests.often import times

#: Attacks that reason from when a search stopped are left out: no release here comes from one. So
#: are those on changed values: `tests/golden/test_attacks_on_changed_values.py` has them.
KINDS = {
    n: kind
    for n, found in family("attack").items()
    if not ((kind := cast(type[Attack], found)).needs.stop_rule or kind.needs.changed)
}
#: Attacks of which a vaguer release may by chance teach more are left out of what must not rise.
COUNTING = [n for n, kind in KINDS.items() if not kind.aim.learns or kind.needs.permuted]
pytestmark = pytest.mark.often
TABLES = times(6, share=3)


def run(name: str, release: Release) -> Sequence[AttackResult]:
    """Return what an attack finds, an empty list where it does not apply."""
    problem = release.problem
    attack = cast(Attack, find("attack", name)())
    view, audience = release.view, audience_of(problem)
    if not_applicable(attack, view, audience):
        return []
    return attack.run(view, audience, truth_of(problem, release), Context())


def at_node(problem: Problem, levels: Sequence[int]) -> Release:
    """Return the full-domain release at some levels."""
    codes = problem.frequency.run_codes
    pools = {
        name: of_level(problem.hierarchies[name], level)
        for name, level in zip(problem.quasi, levels, strict=True)
    }
    nodes = [
        problem.hierarchies[name].node(level)[codes[:, d]]
        for d, (name, level) in enumerate(zip(problem.quasi, levels, strict=True))
    ]
    distinct, member = np.unique(np.stack(nodes, axis=1), axis=0, return_inverse=True)
    cells = {name: distinct[:, d].astype(np.int32) for d, name in enumerate(problem.quasi)}
    grouping = group_runs(problem.frequency, member.ravel().astype(np.int64), len(distinct))
    return one_block(problem, grouping, pools, cells)


def tables(seed: int) -> Iterator[tuple[Problem, np.random.Generator]]:
    for number in range(TABLES):
        rng = np.random.default_rng([seed, number])
        case: Case = with_numbers_in_one(random_case(rng, rows=int(rng.integers(8, 40)), quasi=3))
        one_more = case.frame.iloc[[*range(len(case.frame)), 0]]
        for people in (None, Dataset.from_frame(one_more, kinds=case.kinds)):
            yield case.with_earlier().problem(population=people), rng


@pytest.mark.parametrize("name", COUNTING)
def test_no_truthful_release_beats_the_raw_copy(name: str) -> None:
    """Nothing is suppressed, and no two cells overlap; equal rows may stand in several groups."""
    seen = 0
    for problem, rng in tables(17):
        heights = [h.height for h in problem.quasi_hierarchies]
        levels = [int(rng.integers(0, h + 1)) for h in heights]
        for found in run(name, at_node(problem, levels)):
            assert found.rate <= found.raw + 1e-9
            seen += 1
    for number in range(TABLES):
        case, group = drawn(number)
        for blocks in layouts(case).values():
            for found in run(name, by_hand(case.problem(case.dataset), group, blocks)):
                assert found.rate <= found.raw + 1e-9
                seen += 1
        who: list[str | None] = [f"person {row * 3 % 7}" for row in range(len(group))]
        weights: list[str | None] = [f"{3 + row * 3 % 7}" for row in range(len(group))]
        own = {**case.columns, "who": who, "w": weights}  # a person has one weight
        people = replace(case, columns=own, person="who")
        for population in (None, 60, people.dataset):
            released = by_hand(people.problem(population), group, layouts(case)["whole rows"])
            for found in run(name, released):
                assert found.rate <= found.raw + 1e-9
    assert seen >= TABLES


@pytest.mark.parametrize("name", list(KINDS))
def test_where_every_cell_is_hidden_an_attack_is_a_guess(name: str) -> None:
    seen = 0
    for problem, _ in tables(19):
        for found in run(name, at_node(problem, [h.height for h in problem.quasi_hierarchies])):
            # Of equal people of a register the one left out may be who is in the table.
            tolerance = 1 / problem.rows if problem.population is not None else 0.0
            assert found.rate == pytest.approx(found.baseline, rel=max(tolerance, 1e-9))
            seen += found.raw > found.baseline
    # What is about columns that are permuted apart does not apply to rows that are one class, and a
    # population of one person more than the table has no light predicates. How many people the
    # weights of a whole survey represent is an estimate as well: tests/golden/test_survey_weights.
    without = KINDS[name].needs.permuted or KINDS[name].needs.weights or name == "singling-out"
    assert seen or without


@pytest.mark.parametrize("name", [n for n, kind in KINDS.items() if kind.report.worst_case])
def test_merging_classes_never_raises_the_chance_of_anyone_known_to_be_in(name: str) -> None:
    risen = fallen = 0
    for problem, rng in tables(23):
        heights = [h.height for h in problem.quasi_hierarchies]
        low = [int(rng.integers(0, h + 1)) for h in heights]
        high = [int(rng.integers(at, h + 1)) for at, h in zip(low, heights, strict=True)]
        (before,), (after,) = (run(name, at_node(problem, node)) for node in (low, high))
        risen += after.rate > before.rate + 1e-12 or after.worst > before.worst + 1e-12
        fallen += after.rate < before.rate
    assert not risen
    assert fallen


@pytest.mark.parametrize("name", list(KINDS))
def test_whoever_is_undecided_counts_as_exposed(name: str) -> None:
    seen = 0
    for number in range(times(3, share=2)):
        case, group = drawn(number)
        hidden = [-1 if i % 5 == 0 else g for i, g in enumerate(group)]
        for blocks in layouts(case).values():
            for own in (group, hidden):
                own = np.unique(own, return_inverse=True)[1] - (min(own) < 0)
                release = by_hand(case.problem(case.dataset), own.tolist(), blocks)
                for found in run(name, release):
                    seen += 1
                    assert found.at_risk >= found.undecided
                    assert found.worst == 1 or not found.undecided
                    if KINDS[name].aim.discloses == "identity":
                        assert found.exposed == pytest.approx(found.rate * found.attempted)
                        assert 0 <= found.rate <= 1 + 1e-12
                        assert found.eligible <= found.attempted
                    if found.undecided:
                        assert found.rate * found.attempted >= found.undecided - 1e-9
    assert seen
