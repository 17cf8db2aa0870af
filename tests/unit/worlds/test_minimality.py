"""Minimality: the attacker's worlds are the deals of values that the search really treats alike."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context, now
from anon_core.base.errors import Infeasible
from anon_core.base.registry import family, find
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.methods.consistent_tables.assignments import beliefs, failed_levels
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels
from anon_core.release.release import Release
from anon_core.techniques.attacks.minimality import Minimality, _people
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.every_table import UNEVEN, B
from tests.making import Case, Levels
from tests.often import times

Q: Levels = [("q1", "*"), ("q2", "*")]


def case(quasi: list[tuple[str, ...]], values: str, levels: list[Levels]) -> Case:
    names = "AB"[: len(levels)]
    return Case(
        columns={n: [row[d] for row in quasi] for d, n in enumerate(names)} | {"S": list(values)},
        quasi=tuple(names),
        sensitive=("S",),
        kinds=dict.fromkeys((*names, "S"), "text"),  # type: ignore[arg-type]
        levels=dict(zip(names, levels, strict=True)),
    )


def released(of: Case, models: list[Any], name: str = "optimal", metric: str = "") -> Release:
    matching: dict[str, Any] = {"max_suppression": 0.0} if name == "datafly" else {}
    matching |= {"metric": metric} if metric else {}
    algorithm: Any = find("algorithm", name).from_mapping(matching)
    return algorithm.run(of.problem(), models, Context()).release


def attacked(release: Release, context: Context | None = None) -> AttackResult:
    problem = release.problem
    (found,) = Minimality().run(
        release.view, audience_of(problem), truth_of(problem, release), context or Context()
    )
    return found


def test_the_class_that_made_the_search_go_on_is_known() -> None:
    of = case([("q1",)] * 2 + [("q2",)] * 3, "aabcd", [Q])
    release = released(of, [DistinctLDiversity(l=2)])
    found = attacked(release)
    assert (found.succeeded, found.baseline, found.at_risk, found.worst) == (2, 0, 2, 1)
    assert "certain of 'S' for 2 of 5 people" in found.sentence
    assert found.details[0].rows[0]["release alone"] == pytest.approx(2 / 5)
    problem = release.problem
    people = _people(release.view, audience_of(problem), truth_of(problem, release), "S")
    rule: Any = release.stopped
    failed = failed_levels(rule, people)
    assert failed == [(0,)]
    believed = beliefs(people, failed, Context())
    assert believed is not None
    assert believed == pytest.approx(np.array([[1, 0, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3]]))
    late = attacked(release, Context(deadline=now() - 1))
    assert (late.undecided, late.rate, late.interval) == (5, 1.0, (0.0, 1.0))


#: Promises, quasi-identifiers and values: of every deal of the values all are asked for.
TABLES: list[tuple[str, list[Any], str, str]] = [
    ("optimal", [DistinctLDiversity(l=2)], "112233", "aabcad"),
    ("optimal", [KAnonymity(k=2), DistinctLDiversity(l=2)], "112233", "aabcab"),
    ("optimal", [FrequencyLDiversity(l=2)], "112233", "aabbcd"),
    ("datafly", [KAnonymity(k=2), DistinctLDiversity(l=2)], "112233", "aabcaa"),
]


def shown(release: Release) -> tuple[object, ...]:
    block, rule = release.view.whole_quasi(), release.stopped
    assert isinstance(rule, CheapestLevels | RaisedLevels)
    assert block is not None
    return rule.levels, tuple(map(tuple, block.codes.tolist())), tuple(block.count.tolist())


@pytest.mark.parametrize(("name", "models", "ages", "values"), TABLES)
def test_beliefs_are_shares_of_the_deals_that_lead_to_the_release(
    name: str, models: list[Any], ages: str, values: str
) -> None:
    quasi = [(f"a{age}",) for age in ages]
    behind: dict[object, list[str]] = defaultdict(list)
    kept: dict[object, Release] = {}
    for deal in sorted({"".join(one) for one in permutations(values)}):
        release = released(case(quasi, deal, [UNEVEN]), models, name)
        kept.setdefault(shown(release), release)
        behind[shown(release)].append(deal)
    count = 0
    for key, release in kept.items():
        worlds, problem, rule = behind[key], release.problem, release.stopped
        assert isinstance(rule, CheapestLevels | RaisedLevels)
        people = _people(release.view, audience_of(problem), truth_of(problem, release), "S")
        believed = beliefs(people, failed_levels(rule, people) or [], Context())
        assert believed is not None
        rows = [[n for n, own in enumerate(ages) if own == age] for age in sorted(set(ages))]
        true = [
            [
                sum(world[n] == s for world in worlds for n in own) / len(worlds) / len(own)
                for s in sorted(set(values))
            ]
            for own in rows
        ]
        assert believed == pytest.approx(np.array(true))
        found = attacked(release)
        certain = sum(len(own) for own, row in zip(rows, true, strict=True) if max(row) == 1)
        assert (found.succeeded, found.undecided) == (certain, 0)
        alone = people.values / people.values.sum(axis=1, keepdims=True)
        count += not np.allclose(believed, alone[people.member])
    assert count


#: Metrics by which the optimal search chooses.
METRICS = [n for n, m in family("metric").items() if issubclass(m, CellCost | SizeCost)]


@pytest.mark.often
@pytest.mark.parametrize("metric", METRICS)
def test_by_every_metric_certain_is_what_all_deals_agree_on(metric: str) -> None:
    """Which choices came first is asked of the search's own metric, ties included."""
    certain = answer = 0
    for number in range(times(20, share=10)):
        rng = np.random.default_rng([77, number])
        kinds = rng.choice(["a1", "a2", "a3"], 5), rng.choice(["b1", "b2"], 5)
        quasi = sorted(zip(*(k.tolist() for k in kinds), strict=True))
        behind: dict[object, list[str]] = defaultdict(list)
        kept: dict[object, Release] = {}
        for deal in sorted({"".join(one) for one in permutations("ppqqr")}):
            try:
                release = released(
                    case(quasi, deal, [UNEVEN, B]), [DistinctLDiversity(l=2)], metric=metric
                )
            except Infeasible:
                continue
            kept.setdefault(shown(release), release)
            behind[shown(release)].append(deal)
        for key, release in kept.items():
            true = 0
            for n in range(5):
                alike = [m for m in range(5) if quasi[m] == quasi[n]]
                seen = {tuple(sorted(world[m] for m in alike)) for world in behind[key]}
                true += len(seen) == 1 and len(set(min(seen))) == 1
            found = attacked(release)
            assert (found.succeeded, found.undecided, found.at_risk) == (true, 0, true)
            certain += true
            answer += true > found.baseline * 5
    assert certain > answer > 0


def test_it_does_not_apply_without_sensitive_values_in_the_search() -> None:
    of = case([("q1",)] * 3 + [("q2",)] * 3, "abcabc", [Q])
    release = released(of, [KAnonymity(k=2)])
    reason = Minimality().reason_not_applicable(release.view, audience_of(release.problem))
    assert "No privacy model about sensitive values" in reason
