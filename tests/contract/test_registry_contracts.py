"""What every registered technique must offer, whichever it is."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core import table
from anon_core.context import Context
from anon_core.costs import CellCost, SizeCost
from anon_core.errors import AnonError, BadPlan, Cancelled, Infeasible
from anon_core.grouping import group_runs
from anon_core.kinds import Algorithm, Attack, GroupModel, Metric, Partitioner, PrivacyModel
from anon_core.params import Parameter, Technique
from anon_core.registry import FAMILIES, Family, family, find
from anon_core.release import Release, one_block, raw_view
from anon_core.runner import run
from anon_core.table import Dataset
from anon_core.verification import texts
from anon_core.verification.tables import BOUNDS, BUDGETS
from anon_core.vocabulary import of_level
from tests.making import PATIENTS, Case, random_case

KINDS: dict[Family, type[Technique]] = {
    "algorithm": Algorithm,
    "partitioner": Partitioner,
    "model": PrivacyModel,
    "metric": Metric,
    "attack": Attack,
}
EVERY = [(which, name) for which in FAMILIES for name in family(which)]
PARAMETERS = [
    (which, name, p.name) for which, name in EVERY for p in find(which, name).parameters()
]
ALGORITHMS, PARTITIONERS, MODELS, METRICS, ATTACKS = (list(family(f)) for f in FAMILIES)
# Prices of cells or of class sizes: for these, 1 is reached, and only there.
COSTS = [n for n in METRICS if issubclass(find("metric", n), CellCost | SizeCost)]


def technique(which: Family, name: str, **given: Any) -> Any:
    return find(which, name).from_mapping(given)


def parameter(which: Family, name: str, of: str) -> Parameter:
    return next(p for p in find(which, name).parameters() if p.name == of)


def distinct_rows(rows: int = 9) -> Case:
    """Return a table in which everyone is told apart by every column."""
    numbers = [str(20 + i) for i in range(rows)]
    words = [f"w{i}" for i in range(rows)]
    return Case(
        columns={"age": numbers, "job": words, "illness": list("ab" * rows)[:rows]},  # type: ignore[dict-item]
        quasi=("age", "job"),
        sensitive=("illness",),
        kinds={"age": "number", "job": "text", "illness": "text"},
        levels={
            "age": [(n, f"{i // 3}", "*") for i, n in enumerate(numbers)],
            "job": [(w, f"g{i // 3}", "*") for i, w in enumerate(words)],
        },
    )


def at_levels(case: Case, level: int | None, population: int | None = None) -> Release:
    """Return the release with every quasi-identifier at a level; None removes all rows."""
    problem = case.problem(population=population)
    codes = problem.frequency.run_codes
    runs, cells, vocabularies = [], {}, {}
    for d, name in enumerate(problem.quasi):
        h = problem.hierarchies[name]
        at = min(level or 0, h.height)
        vocabularies[name] = of_level(h, at)
        runs.append(h.node(at)[codes[:, d]])
    tuples = np.stack(runs, axis=1)
    distinct, member = np.unique(tuples, axis=0, return_inverse=True)
    member = member.ravel().astype(np.int64)
    if level is None:
        member, distinct = np.full_like(member, -1), distinct[:0]
    for d, name in enumerate(problem.quasi):
        cells[name] = distinct[:, d].astype(np.int32)
    return one_block(
        problem, group_runs(problem.frequency, member, len(distinct)), vocabularies, cells
    )


def test_the_second_computation_knows_the_budget_of_a_recipe_that_names_none() -> None:
    declared = {
        name: p.default
        for name in ALGORITHMS
        for p in find("algorithm", name).parameters()
        if p.name == "max_suppression" and p.default
    }
    assert declared == BUDGETS


def test_the_second_computation_knows_what_a_promise_without_a_number_says() -> None:
    declared = {
        name: {p.name: p.default for p in find("model", name).parameters() if p.name != "column"}
        for name in MODELS
    }
    assert declared == {name: dict(bounds) for name, bounds in BOUNDS.items()}


def test_every_family_has_techniques_in_order_of_names() -> None:
    for which in FAMILIES:
        names = list(family(which))
        assert names
        assert names == sorted(names)
        assert all(find(which, n).name == n for n in names)


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_words(which: Family, name: str) -> None:
    found = find(which, name)
    assert issubclass(found, KINDS[which])
    for word in ("name", "title", "summary", "formula", "source"):
        text = getattr(found, word)
        assert text
        assert text == text.strip()
    assert found.summary.endswith(".")
    assert "doi" in found.source or "19" in found.source or "20" in found.source
    assert found.__doc__
    if which == "algorithm":
        assert cast(type[Algorithm], found).when.endswith(".")
    if which == "metric":
        assert cast(type[Metric], found).unit


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_techniques_are_values(which: Family, name: str) -> None:
    found = find(which, name)
    one, other = found(), found.from_mapping({})
    assert one == other
    assert hash(one) == hash(other)
    assert found.from_mapping(one.as_mapping()) == one
    assert list(one.as_mapping()) == [p.name for p in found.parameters()]
    assert {f.name for f in dataclasses.fields(found)} == set(one.as_mapping())
    json.dumps(one.as_mapping(), allow_nan=False)
    for field in one.as_mapping():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, field, 3)
    with pytest.raises(TypeError):
        found(1)  # type: ignore[call-arg]


@pytest.mark.parametrize(("which", "name"), EVERY)
def test_an_unknown_parameter_is_refused(which: Family, name: str) -> None:
    with pytest.raises(BadPlan) as refused:
        technique(which, name, nothing_of_the_kind=3)
    assert refused.value.message.startswith(f"{name}: unknown parameter 'nothing_of_the_kind'")
    known = [p.name for p in find(which, name).parameters()]
    assert all(f"'{n}'" in refused.value.message for n in known)
    assert known or "it has no parameters" in refused.value.message


@pytest.mark.parametrize(("which", "name", "of"), PARAMETERS)
def test_declarations(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    assert p.help.endswith(".")
    assert p.allowed()
    assert p.accept(p.default, name) == p.default
    told = p.as_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["default"] == p.default
    assert told["type"] == p.kind
    near = of[:-1] + "_" if len(of) > 2 else of + of
    with pytest.raises(BadPlan, match="unknown parameter"):
        technique(which, name, **{near: p.default})


@pytest.mark.parametrize(("which", "name", "of"), PARAMETERS)
def test_bad_values_are_refused_with_what_is_allowed(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    bad: list[object] = [None, [], {}, object()]
    if p.kind in ("integer", "number"):
        bad += ["5", True, float("nan"), float("inf"), -float("inf"), 1 + 2j]
        bad += [p.low - 1] if p.low is not None else []
        bad += [p.high + 1, 10**400] if p.high is not None else []
        bad += [-(10**400)]
    if p.kind == "integer":
        bad += [float(cast(int, p.default)), cast(int, p.default) + 0.5]
    if p.kind == "choice":
        bad += ["", "nothing", 1]
    if p.kind == "column":
        bad += [1, True]
    for value in bad:
        with pytest.raises(BadPlan) as refused:
            technique(which, name, **{of: value})
        assert f"{name}: parameter '{of}' is" in refused.value.message
        assert p.allowed() in refused.value.message
        assert of in refused.value.remedy
        # The same where the class is used directly.
        with pytest.raises(BadPlan):
            find(which, name)(**{of: value})


@pytest.mark.parametrize(("which", "name", "of"), PARAMETERS)
def test_the_ends_of_a_range_belong_to_it(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    values = [p.low, p.high] if p.kind in ("integer", "number") else list(p.options)
    whole = int if p.kind == "integer" else float
    for value in values:
        if value is not None:
            given = value if isinstance(value, str) else whole(value)
            made = technique(which, name, **{of: given})
            assert made.as_mapping()[of] == given
            assert technique(which, name, **made.as_mapping()) == made


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_becomes_of_a_column_without_a_hierarchy_is_declared(algorithm: str) -> None:
    ages = [*(str(20 + i // 2) for i in range(10)), *["25"] * 10, *(str(26 + i) for i in range(5))]
    case = Case(
        columns={"age": list(ages), "illness": ["a", "b", "c", "d", "e"] * 5},
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "number", "illness": "text"},
        levels={},
    )
    chosen = cast(type[Algorithm], find("algorithm", algorithm))
    if chosen.permutes:
        assert not chosen.forms_ranges
        return
    limits = {"limits": "age = 24..26"} if algorithm == "top-bottom-coding" else {}
    plan = case.plan(
        algorithm={"name": algorithm, **limits}, models=[{"name": "k-anonymity", "k": 4}]
    )
    result = run(plan, case.dataset, {}, population=with_doubles(case))
    published = set(pd.read_csv(io.BytesIO(result.csv), dtype=str)["age"]) - {*ages, "*"}
    assert bool(published) == chosen.forms_ranges


def with_doubles(case: Case) -> Dataset:
    """Return a public table in which everyone of a case has a double."""
    return Dataset.from_frame(pd.concat([case.frame, case.frame]), kinds=case.kinds)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model", MODELS)
def test_every_algorithm_keeps_every_promise_or_says_so(algorithm: str, model: str) -> None:
    rng = np.random.default_rng(109)
    released, refused = 0, list[Infeasible]()
    chosen = cast(type[Algorithm], find("algorithm", algorithm))
    permutes = chosen.permutes
    settings = {"partition": "mpalm" if chosen.counts_public else "mondrian"} if permutes else {}
    # Of the columns drawn every second cell has the same value.
    promise = {"name": model} | ({"l": 2} if model == "frequency-l-diversity" else {})
    kind = cast(type[GroupModel], find("model", model))
    refuses = (
        "cannot be steered"
        if (kind.needs_public and not chosen.counts_public)
        # Its bounds lean on classes that stay broken however they are divided.
        or (algorithm == "k-optimize" and not kind.monotone_merge)
        else "permuted apart"
        if permutes and kind.needs_whole_rows
        else ""
    )
    for case in [PATIENTS, *(random_case(rng, rows=25, quasi=2) for _ in range(5))]:
        plan = case.plan(algorithm={"name": algorithm, **settings}, models=[promise])
        public = with_doubles(case)
        if refuses:
            # What no table of these values can keep is told first.
            with pytest.raises((BadPlan, Infeasible), match=f"{refuses}|not eligible"):
                run(plan, case.dataset, case.levels, population=public)
            continue
        try:
            result = run(plan, case.dataset, case.levels, population=public)
        except Infeasible as error:
            refused.append(error)
            continue
        released += 1
        assert all(v.holds and v.model == model for v in result.verdicts)
        assert result.verification.holds
        apply = {n for n in METRICS if not technique("metric", n).applies(result.problem)}
        assert set(result.measures) == apply
        for measure in result.measures.values():
            assert 0 <= measure.share <= 1
        assert {a.attack for a in result.attacks} <= set(ATTACKS)
        json.dumps(result.as_json(), allow_nan=False)
    assert released or refuses
    assert all(error.best is not None and error.remedy for error in refused)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_can_be_cancelled(algorithm: str) -> None:
    context = Context()
    context.cancel.set()
    # What merging may break is not for k-Optimize.
    promise = "l-diversity" if algorithm == "k-optimize" else "frequency-l-diversity"
    models = [cast(GroupModel, technique("model", promise, l=2))]
    with pytest.raises(Cancelled):
        technique("algorithm", algorithm).run(
            PATIENTS.problem(with_doubles(PATIENTS)), models, context
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_algorithm_leaves_the_problem_alone(algorithm: str) -> None:
    case = distinct_rows()
    settings: dict[str, object] = {}
    if cast(type[Algorithm], find("algorithm", algorithm)).permutes:
        settings = {"partition": "mondrian"}
    if algorithm == "top-bottom-coding":  # what lies between the tails stays as rare as it is
        case, settings = dataclasses.replace(case, quasi=("age",)), {"bottom": 0.4, "top": 0.4}
    problem = case.problem(with_doubles(case))
    before = problem.fingerprint, problem.frequency.codes.copy(), problem.frequency.count.copy()
    models = [cast(GroupModel, technique("model", "bucket-size", k=3))]
    made = technique("algorithm", algorithm, **settings)
    one = made.run(problem, models, Context())
    two = made.run(problem, models, Context())
    assert problem.fingerprint == before[0] == case.problem(with_doubles(case)).fingerprint
    assert np.array_equal(problem.frequency.codes, before[1])
    assert np.array_equal(problem.frequency.count, before[2])
    for name in problem.quasi:
        assert np.array_equal(one.release.cells[name], two.release.cells[name])


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_goes_from_0_unchanged_to_1_all_hidden(metric: str) -> None:
    case, measure = distinct_rows(), technique("metric", metric).measure
    unchanged, hidden, removed = (at_levels(case, level) for level in (0, 2, None))
    assert measure(unchanged.problem, unchanged, Context()).share == 0
    for release in (hidden, removed):
        share = measure(release.problem, release, Context()).share
        assert share == pytest.approx(1) if metric in COSTS else 0 < share <= 1
    between = measure(hidden.problem, at_levels(case, 1), Context())
    assert 0 < between.share < 1
    assert between.metric == metric
    assert all(0 < share < 1 for share in between.per_column.values())


@pytest.mark.parametrize("metric", METRICS)
def test_a_cost_never_falls_from_level_to_level(metric: str) -> None:
    rng = np.random.default_rng(113)
    applied = 0
    for _ in range(25):
        case = random_case(rng)
        if technique("metric", metric).applies(case.problem()):
            continue
        applied += 1
        shares = []
        for level in range(5):
            release = at_levels(case, level)
            found = technique("metric", metric).measure(release.problem, release, Context())
            shares.append(found.share)
            assert 0 <= found.share <= 1
            assert all(0 <= share <= 1 for share in found.per_column.values())
            if found.per_class is not None:
                assert len(found.per_class) == release.grouping.classes
        if metric in COSTS:
            assert np.all(np.diff(shares) >= -1e-12)
    assert applied > 5


@pytest.mark.parametrize("metric", METRICS)
def test_a_single_row_or_a_single_value_costs_nothing(metric: str) -> None:
    for column in (["a"], ["a", "a", "a"]):
        case = Case(
            columns={"q": column, "x": ["1"] * len(column), "s": column},  # type: ignore[dict-item]
            quasi=("q", "x"),
            sensitive=("s",),
            kinds={"q": "text", "x": "number"},
        )
        release = at_levels(case, 0)
        found = technique("metric", metric).measure(release.problem, release, Context())
        assert 0 <= found.share <= 1
        assert found.share == 0 or len(column) > 1


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("people", [None, 300, "table"])
def test_the_anchor_of_an_attack_is_itself_on_the_raw_table(attack: str, people: object) -> None:
    rng = np.random.default_rng(127)
    if attack == "fake-tuples":
        rows_stay_whole = raw_view(distinct_rows().problem())
        reason = cast(Attack, technique("attack", attack)).applies(
            PATIENTS.problem(), rows_stay_whole
        )
        assert "rows stay whole" in reason
        return
    for _ in range(10):
        case = random_case(rng, rows=30)
        known = case.dataset if people == "table" else cast("int | None", people)
        problem = case.problem(population=known)
        chosen = cast(Attack, technique("attack", attack))
        if chosen.applies(problem, raw_view(problem)):
            assert people is None or (attack == "membership" and people == 300)
            with pytest.raises(AnonError, match="population"):
                chosen.run(problem, raw_view(problem), Context())
            continue
        on_raw = chosen.run(problem, raw_view(problem), Context())
        for level in (1, 2, 3):
            release = at_levels(case, level)
            for one, raw in zip(chosen.run(problem, release.view, Context()), on_raw, strict=True):
                assert raw.rate == pytest.approx(raw.raw)
                assert one.raw == raw.rate
                assert one.rate <= raw.rate + 1e-12
                assert one.worst <= raw.worst + 1e-12
                assert 0 <= one.rate <= one.worst <= 1
                assert 0 <= one.baseline <= 1
                assert one.succeeded == pytest.approx(one.rate * one.attempted)
                assert one.attempted == one.eligible == problem.rows
                assert 0 <= one.at_risk <= one.eligible
                assert one.sentence.endswith(".")
                assert one.interval is None
                assert len(one.per_class) >= 1
                assert one.estimated == (attack in ("journalist", "marketer") and people == 300)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_without_what_it_needs_says_what(attack: str) -> None:
    case = dataclasses.replace(distinct_rows(), sensitive=())
    problem = case.problem()
    reason = cast(Attack, technique("attack", attack)).applies(problem, raw_view(problem))
    assert reason == "" or reason.startswith(("It needs a ", "It is about columns"))
    needing = ("attribute-inference", "fake-tuples", "homogeneity", "journalist", "membership")
    assert bool(reason) == (attack in needing)


def test_the_core_loads_no_user_interface() -> None:
    script = """
import pkgutil, sys, importlib
import anon_core
assert not {"numpy", "pandas", "numba", "pyarrow", "scipy"} & set(sys.modules), "not lazy"
for module in pkgutil.walk_packages(anon_core.__path__, "anon_core."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for name in dir(anon_core):
    getattr(anon_core, name)
assert not {"streamlit", "plotly", "altair"} & set(sys.modules)
assert all(callable(getattr(anon_core, name)) or name == "VERSION" for name in anon_core.__all__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_both_computations_take_the_same_texts_for_missing() -> None:
    assert table.MISSING_TOKENS == texts.MISSING_TOKENS
    assert {"n/a", "N/A"} < set(table.MISSING_TOKENS)
    assert not {"-", "na"} & set(table.MISSING_TOKENS)  # a category of some tables
