"""What an attack answers follows from what is published and known; the truth only scores it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack
from anon_core.contracts.model import GroupModel, PrivacyModel
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import Audience, audience_of
from anon_core.release.release import View
from tests.making import Case, by_hand, random_case, with_numbers_in_one, with_weights
from tests.often import times

#: Attacks that reason from when a search stopped, or from changed values, are left out: no release
#: here comes from one or has some.
ATTACKS = [
    name
    for name, kind in family("attack").items()
    if not (cast(type[Attack], kind).needs.stop_rule or cast(type[Attack], kind).needs.changed)
]
TRIES = times(6, share=2)
#: What is drawn: those from which every attack's score moves come first.
NUMBERS = (5, 4, 3, 2, 1, 0)[:TRIES]
pytestmark = pytest.mark.often
Blocks = tuple[tuple[str, ...], ...]


def layouts(case: Case) -> dict[str, Blocks]:
    everything = (*case.quasi, *case.sensitive)
    return {
        "whole rows": (everything,),
        "two tables": (case.quasi, case.sensitive),
        "every column alone": tuple((name,) for name in everything),
    }


def drawn(number: int) -> tuple[Case, list[int]]:
    """Return a weighted table, a public one that holds it, and a group for each of its rows."""
    rng = np.random.default_rng([211, number])
    case = with_numbers_in_one(random_case(rng, rows=int(rng.integers(12, 30)), quasi=2))
    group = np.unique(rng.integers(0, 4, len(case.rows)), return_inverse=True)[1]
    return with_weights(case, rng).with_earlier(), group.tolist()


def redrawn(case: Case, group: Sequence[int], blocks: Blocks, number: int) -> Case:
    """Return a table of which nothing but the links between blocks inside groups is another's."""
    rng = np.random.default_rng([223, number])
    columns = dict(case.columns)
    for block in blocks:
        order = np.arange(len(group))
        for g in sorted(set(group)):
            rows = np.flatnonzero(np.asarray(group) == g)
            order[rows] = rng.permutation(rows)
        for name in block:
            columns[name] = [case.columns[name][i] for i in order.tolist()]
    return dataclasses.replace(case, columns=columns)


def contents(view: View) -> list[object]:
    """Return all that a view says, as plain values."""
    return [
        view.group_size.tolist(),
        view.quasi,
        view.sensitive,
        {name: v.texts for name, v in view.vocabularies.items()},
        [(b.columns, b.group.tolist(), b.codes.tolist(), b.count.tolist()) for b in view.blocks],
    ]


def known(audience: Audience) -> list[object]:
    """Return all that an audience knows, as plain values."""
    people = audience.population
    return [
        audience.roles,
        audience.kinds,
        {
            name: (h.leaves, h.labels, [s.tolist() for s in h.starts], h.counted.tolist())
            for name, h in audience.hierarchies.items()
        },
        people and people.size,
        people and people.codes is not None and people.codes.tolist(),
    ]


def answers(found: Sequence[AttackResult]) -> list[object]:
    """Return what an attacker says, and whom of; the rest of a result is how right that is."""
    return [
        (
            one.attack,
            one.column,
            one.attempted,
            one.eligible,
            one.undecided,
            one.threshold,
            one.estimated,
            one.hits and (one.hits.row.tolist(), one.hits.proven.tolist(), one.hits.group.tolist()),
        )
        for one in found
    ]


def scores(found: Sequence[AttackResult]) -> list[object]:
    return [(one.rate, one.raw, one.baseline, one.at_risk, one.sentence) for one in found]


def weighs(attack: str) -> bool:
    needs = cast(type[Attack], family("attack")[attack]).needs
    return needs.weights or needs.takes_weights


# What a class weighs is of its own release, and a wrong truth has none.
@pytest.mark.parametrize("attack", [name for name in ATTACKS if not weighs(name)])
def test_a_shuffled_truth_changes_only_the_score(attack: str) -> None:
    chosen = find("attack", attack)()
    assert isinstance(chosen, Attack)
    ran = moved = 0
    for number in NUMBERS:
        case, group = drawn(number)
        problem = case.problem(case.dataset)
        # Every column in an order of its own: other people, of whom no one was published.
        other = redrawn(case, [0] * len(group), layouts(case)["every column alone"], number)
        assert other.columns != case.columns
        for blocks in layouts(case).values():
            release = by_hand(problem, group, blocks)
            view, audience = release.view, audience_of(problem)
            if chosen.reason_not_applicable(view, audience):
                continue
            ran += 1
            right = chosen.run(view, audience, truth_of(problem, release), Context())
            wrong = chosen.run(view, audience, truth_of(other.problem(case.dataset)), Context())
            assert answers(right) == answers(wrong)
            moved += scores(right) != scores(wrong)
    assert ran >= TRIES
    # What the raw table would show is given with every attack; two columns' own do not move.
    assert moved or chosen.aim.discloses in ("attribute", "inferential")


@pytest.mark.parametrize("attack", ATTACKS)
def test_redrawing_the_permutation_changes_no_answer(attack: str) -> None:
    chosen = find("attack", attack)()
    assert isinstance(chosen, Attack)
    ran = other_tables = 0
    for number in NUMBERS:
        case, group = drawn(number)
        public = case.dataset
        for which in ("two tables", "every column alone"):
            blocks = layouts(case)[which]
            again = redrawn(case, group, blocks, number)
            other_tables += again.rows != case.rows or again.columns != case.columns
            one, two = case.problem(public), again.problem(public)
            first, second = by_hand(one, group, blocks), by_hand(two, group, blocks)
            assert contents(first.view) == contents(second.view)
            assert known(audience_of(one)) == known(audience_of(two))
            if chosen.reason_not_applicable(first.view, audience_of(one)):
                continue
            ran += 1
            ways = [
                chosen.run(r.view, audience_of(p), truth_of(p, r), Context())
                for p, r in ((one, first), (two, second))
            ]
            assert answers(ways[0]) == answers(ways[1])
    assert ran
    assert other_tables > TRIES


def test_an_audience_is_the_same_for_two_tables_of_one_domain() -> None:
    case, _ = drawn(3)
    other = redrawn(case, [0] * len(case.rows), layouts(case)["every column alone"], 1)
    assert case.problem().fingerprint != other.problem().fingerprint
    for population in (None, 400, case.dataset):
        mine, theirs = (known(audience_of(c.problem(population))) for c in (case, other))
        assert mine == theirs


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_is_told_of_a_problem(attack: str) -> None:
    kind = find("attack", attack)
    for method in ("run", "reason_not_applicable"):
        given = inspect.signature(getattr(kind, method)).parameters
        assert list(given) == list(inspect.signature(getattr(Attack, method)).parameters)
    assert not {"Problem", "Reference"} & set(vars(inspect.getmodule(kind)))


@pytest.mark.parametrize("model", list(family("model")))
def test_a_model_is_told_of_the_private_table_by_its_reference(model: str) -> None:
    kind = find("model", model)
    for name in ("measure", "per_group"):
        of = PrivacyModel if name == "measure" else GroupModel
        if hasattr(kind, name):
            given = inspect.signature(getattr(kind, name)).parameters
            assert list(given) == list(inspect.signature(getattr(of, name)).parameters)
