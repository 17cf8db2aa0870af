"""The lattice for drawing: every node's numbers and fate, against single looks at the nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.methods.lattice import lattice_picture as pictures
from anon_core.methods.lattice.lattice_picture import FATES, LatticePicture, lattice_picture
from anon_core.methods.lattice.nodes import Nodes, rows_allowed
from anon_core.pipeline.runner import run
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem
from tests.making import PATIENTS, random_case

SEARCHES = ("optimal", "samarati", "incognito", "datafly", "annealing", "genetic")


def model(name: str = "k-anonymity", **given: object) -> GroupModel:
    return cast(GroupModel, find("model", name).from_mapping(given))


def searched(problem: Problem, name: str, k: int, **given: object) -> tuple[Algorithm, Outcome]:
    algorithm = cast(Algorithm, find("algorithm", name).from_mapping(given))
    return algorithm, algorithm.run(
        problem, [model(k=k)], Context(generator=np.random.default_rng(5))
    )


def picture_of(problem: Problem, name: str, k: int = 2, **given: object) -> LatticePicture:
    algorithm, outcome = searched(problem, name, k, **given)
    settings = algorithm.as_mapping()
    return lattice_picture(
        problem,
        [model(k=k)],
        outcome.account,
        Context(),
        max_suppression=cast(float, settings["max_suppression"]),
        transformation=cast(str, settings.get("transformation", "AG_TS")),
        seconds=60,
    )


def problems(count: int = 6) -> list[Problem]:
    rng = np.random.default_rng(11)
    return [random_case(rng, rows=30, quasi=3).problem() for _ in range(count)]


@pytest.mark.parametrize("budget", [0.0, 0.3])
def test_the_lowest_nodes_are_marked_as_the_search_lists_them(budget: float) -> None:
    marked = 0
    for problem in problems():
        given = {"max_suppression": budget, "list_minimal": True}
        try:
            _, outcome = searched(problem, "optimal", 3, **given)
        except Infeasible:
            continue
        account = outcome.account
        for asked in (True, False):  # listed by the search, or found from the nodes that hold
            picture = picture_of(problem, "optimal", 3, **{**given, "list_minimal": asked})
            minimal = {n.levels for n in picture.nodes if n.minimal}
            on_paths = {n.levels for n in picture.nodes if n.locally_minimal}
            assert minimal == set(account.minimal)
            assert on_paths == set(account.locally_minimal) >= minimal
            marked += len(on_paths - minimal)
    assert marked


@pytest.mark.parametrize("search", SEARCHES)
def test_every_node_has_the_numbers_of_its_release(search: str) -> None:
    for problem in problems():
        budget = {"max_suppression": 0.2}
        try:
            picture = picture_of(problem, search, **budget)
        except Infeasible:
            continue
        nodes = Nodes(problem, [model(k=2)], rows_allowed(problem, 0.2), Context())
        assert [n.levels for n in picture.nodes] == sorted(
            nodes.lattice.nodes(), key=lambda n: (sum(n), n)
        )
        loss = cast(Metric, find("metric", "loss")())
        for node in picture.nodes:
            removed = nodes.removed(node.levels)
            assert node.removed == removed
            assert node.holds == nodes.within(removed)
            assert node.holds == (node.fate in ("satisfied", "must hold")) or (
                node.fate == "not looked at"
            )
            release = nodes.release(node.levels)
            assert node.classes == len(release.grouping.sizes)
            assert node.cost == pytest.approx(loss.measure(problem, release, Context()).value)


@pytest.mark.parametrize(
    "promise",
    [
        model("delta-presence", delta_max=0.5),
        model("l-diversity", l=2, column="s0"),
        model("frequency-l-diversity", l=2, column="s0"),
    ],
)
def test_other_promises_are_counted_as_the_search_counts_them(promise: GroupModel) -> None:
    rng = np.random.default_rng(5)
    holding = 0
    for _ in range(6):
        case = random_case(rng, rows=30, quasi=2)
        public = Dataset.from_frame(pd.concat([case.frame, case.frame]), kinds=case.kinds)
        problem = case.problem(public)
        algorithm = cast(Any, find("algorithm", "optimal"))(max_suppression=0.2)
        try:
            outcome = algorithm.run(problem, [promise], Context())
        except Infeasible:
            continue
        picture = lattice_picture(
            problem, [promise], outcome.account, Context(), max_suppression=0.2, seconds=60
        )
        chosen = next(n for n in picture.nodes if n.chosen)
        assert chosen.removed == outcome.release.suppressed
        assert chosen.classes == len(outcome.release.grouping.sizes)
        assert chosen.cost == pytest.approx(outcome.account.cost)
        for node in picture.nodes:
            if node.fate == "not looked at":
                continue
            assert node.removed is not None
            assert (node.removed <= picture.budget) == node.holds
            holding += bool(node.holds)
            if node.levels in outcome.account.looked:
                assert node.removed == outcome.account.looked[node.levels]
    assert holding


@pytest.mark.parametrize("search", SEARCHES)
def test_what_became_of_nodes_adds_up(search: str) -> None:
    for problem in problems(3):
        _, outcome = searched(problem, search, 2, max_suppression=0.5)
        picture = picture_of(problem, search, max_suppression=0.5)
        fates = [n.fate for n in picture.nodes]
        assert sum(f in ("satisfied", "failed") for f in fates) == len(outcome.account.looked)
        for height, counts in enumerate(picture.by_height):
            for fate in FATES:
                here = [n for n in picture.nodes if n.height == height and n.fate == fate]
                assert counts[fate] == len(here)
        chosen = [n for n in picture.nodes if n.chosen]
        assert [dict(zip(picture.columns, n.levels, strict=True)) for n in chosen] == [
            outcome.account.node
        ]
        assert chosen[0].holds


def test_links_are_single_steps() -> None:
    picture = picture_of(problems(1)[0], "optimal")
    for low, high in picture.links:
        steps = np.subtract(picture.nodes[high].levels, picture.nodes[low].levels)
        assert sorted(steps.tolist()) == [0] * (len(steps) - 1) + [1]
    shape = np.max([n.levels for n in picture.nodes], axis=0) + 1
    links = sum(picture.size // int(s) * (int(s) - 1) for s in shape)
    assert len(picture.links) == links


def test_a_large_lattice_shows_the_chosen_node_and_its_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problems(1)[0]
    every = picture_of(problem, "optimal", max_suppression=0.2)
    monkeypatch.setattr(pictures, "MOST_DRAWN", 1)
    some = picture_of(problem, "optimal", max_suppression=0.2)
    assert not some.whole
    chosen = next(n for n in some.nodes if n.chosen)
    apart = [np.abs(np.subtract(n.levels, chosen.levels)).sum() for n in every.nodes]
    near = [n for n, a in zip(every.nodes, apart, strict=True) if a <= 1]
    unmarked = {"minimal": False, "locally_minimal": False}  # shown only where all nodes are drawn
    assert [replace(n, **unmarked) for n in some.nodes] == [replace(n, **unmarked) for n in near]
    assert some.by_height == every.by_height
    monkeypatch.setattr(pictures, "MOST_COUNTED", 1)
    assert picture_of(problem, "optimal", max_suppression=0.2).by_height == ()


def test_without_time_only_the_chosen_node_is_counted() -> None:
    problem = problems(1)[0]
    _, outcome = searched(problem, "optimal", 2, max_suppression=0.2)
    picture = lattice_picture(
        problem, [model(k=2)], outcome.account, Context(), max_suppression=0.2, seconds=0
    )
    assert [n.chosen for n in picture.nodes if n.classes is not None] == [True]
    for node in picture.nodes:
        if node.levels in outcome.account.looked:
            assert node.removed == outcome.account.looked[node.levels]


@pytest.mark.parametrize("transformation", ["AG", "TS", "AS"])
def test_the_levels_are_those_of_the_given_hierarchies(transformation: str) -> None:
    problem = PATIENTS.problem()
    picture = picture_of(problem, "optimal", transformation=transformation, max_suppression=0.9)
    heights = [h.height for h in problem.quasi_hierarchies]
    for node in picture.nodes:
        for level, height in zip(node.levels, heights, strict=True):
            assert level in {"AG": range(height + 1), "TS": (0,), "AS": (0, height)}[transformation]
    assert picture.budget == (0 if transformation != "TS" else rows_allowed(problem, 0.9))


# ---- making a node the release -------------------------------------------------------------------


def fixed(levels: str, k: int = 2, share: float = 0.0) -> Any:
    return PATIENTS.plan(
        algorithm={"name": "fixed-levels", "levels": levels, "max_suppression": share},
        models=[{"name": "k-anonymity", "k": k}],
    )


def test_every_node_that_holds_can_be_made_the_release() -> None:
    problem = PATIENTS.problem()
    picture = picture_of(problem, "optimal", max_suppression=0.3)
    assert {n.holds for n in picture.nodes} == {True, False}
    for node in picture.nodes:
        text = " | ".join(
            f"{c} = {level}" for c, level in zip(picture.columns, node.levels, strict=True)
        )
        if not node.holds:
            with pytest.raises(Infeasible, match="levels do not satisfy the privacy models"):
                run(fixed(text, share=0.3), PATIENTS.dataset, PATIENTS.levels, assess=False)
            continue
        result = run(fixed(text, share=0.3), PATIENTS.dataset, PATIENTS.levels, assess=False)
        assert result.verification.holds
        assert result.account.node == dict(zip(picture.columns, node.levels, strict=True))
        assert result.release.suppressed == node.removed
        assert len(result.class_sizes) == node.classes


def test_the_chosen_node_made_the_release_is_the_searchs_release() -> None:
    found = run(
        PATIENTS.plan(algorithm={"name": "optimal"}),
        PATIENTS.dataset,
        PATIENTS.levels,
        assess=False,
    )
    assert found.account.node is not None
    text = " | ".join(f"{c} = {level}" for c, level in found.account.node.items())
    again = run(fixed(text), PATIENTS.dataset, PATIENTS.levels, assess=False)
    assert again.csv == found.csv


def test_columns_that_are_not_named_stand_at_their_top() -> None:
    result = run(fixed(""), PATIENTS.dataset, PATIENTS.levels, assess=False)
    heights = {h.column: h.height for h in PATIENTS.problem().quasi_hierarchies}
    assert result.account.node == heights


def test_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(BadPlan, match="fixed-levels: the level of 'age' is 9"):
        run(fixed("age = 9"), PATIENTS.dataset, PATIENTS.levels, assess=False)


def test_nodes_closed_by_rare_rows_are_told_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._FEW", 1)
    monkeypatch.setattr("anon_core.methods.lattice.node_decisions._WORTH", 10**6)
    closed = 0
    for problem in problems(12):
        try:
            picture = picture_of(problem, "optimal", 4)
        except Infeasible:
            continue
        nodes = Nodes(problem, [model(k=4)], 0, Context())
        for node in picture.nodes:
            assert node.fate != "not looked at"
            assert node.holds == nodes.satisfied(node.levels)
            closed += node.fate == "must fail"
        assert sum(level["not looked at"] for level in picture.by_height) == 0
    assert closed > 20
