"""What every registered technique must offer, whichever it is."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import re
import subprocess
import sys
import tomllib
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
import tomli_w

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, Cancelled, Infeasible, NotFound
from anon_core.base.params import Parameter, Technique
from anon_core.base.registry import FAMILIES, Family, family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.attack import Attack
from anon_core.contracts.change import Change
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, PrivacyModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.contracts.search_cost import CellCost, SizeCost
from anon_core.data import table
from anon_core.data.table import Dataset
from anon_core.methods.bucketized.permuted_release import forms_groups
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.release.ground_truth import truth_of
from anon_core.release.grouping import group_runs
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release, one_block, raw_view
from anon_core.release.vocabulary import of_level
from anon_core.verification.recipe import read_shape
from anon_core.verification.registry import second_computations
from anon_core.verification.rows.changes import MADE_AGAIN
from anon_core.verification.text import texts
from tests.asked import attacked
from tests.contract.settings import asked_of_each, formed, forming_parameters, tails_at
from tests.making import (
    BUDGET,
    MECHANISM,
    PATIENTS,
    Case,
    for_mechanisms,
    random_case,
    with_numbers_in_one,
    with_weights,
)
from tests.often import EVERY as EVERY_EXAMPLE
from tests.often import crossed, times

KINDS: dict[Family, type[Technique]] = {
    "algorithm": Algorithm,
    "partitioner": Partitioner,
    "model": PrivacyModel,
    "metric": Metric,
    "attack": Attack,
    "change": Change,
}
EVERY = [(which, name) for which in FAMILIES for name in family(which)]
PARAMETERS = [
    (which, name, p.name) for which, name in EVERY for p in find(which, name).parameters()
]
ALGORITHMS, PARTITIONERS, MODELS, METRICS, ATTACKS, CHANGES = (list(family(f)) for f in FAMILIES)
# Tables here change no values; what is about changed ones: test_attacks_on_changed_values.py.
METRICS = [n for n in METRICS if not cast(type[Metric], find("metric", n)).needs.changed]
ATTACKS = [n for n in ATTACKS if not cast(type[Attack], find("attack", n)).needs.changed]
# Prices of cells or of class sizes: for these, 1 is reached, and only there.
USUAL = [n for n in METRICS if cast(type[Metric], find("metric", n)).use.by_default]
COSTS = [n for n in METRICS if issubclass(find("metric", n), CellCost | SizeCost)]


#: What few values, half of them the same, can keep.
EASY: dict[str, dict[str, object]] = {
    "k-map-by-size": {"share": 0.5},
    "personalized": {"column": "own"},
    "population-uniques": {"people": 1000},
    "profitability": {"benefit": 10.0, "loss": 9.0, "gain": 8.0, "cost": 4.0},
    "frequency-l-diversity": {"l": 2},
    "alpha-k-anonymity": {"alpha": 0.7, "k": 2},
    "background-bound": {"factor": 5},
    "recursive-l-diversity": {"c": 5},
    "entropy-l-diversity": {"l": 1.5},
    "epsilon-m-anonymity": {"m": 1.5},
    "km-anonymity": {"k": 2, "m": 2},
}
OWN_IS_NO_PERSON = {"column": "own", "what": "repeats", "rows": 1000}
ABOUT_NUMBERS = ("k-e-anonymity", "epsilon-m-anonymity")
ABOUT_SETS = ("km-anonymity",)


def technique(which: Family, name: str, **given: Any) -> Any:
    return find(which, name).from_mapping(given)


def parameter(which: Family, name: str, of: str) -> Parameter:
    return next(p for p in find(which, name).parameters() if p.name == of)


def distinct_rows(rows: int = 9) -> Case:
    """Return a table in which everyone is distinguished by every column."""
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


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_second_computation_reads_what_a_release_looks_like(name: str) -> None:
    algorithm = cast(Algorithm, technique("algorithm", name))
    shape = {"least_box": 0, **algorithm.release_shape()}  # few promise a box
    read = read_shape(shape)
    assert {**dataclasses.asdict(read), "sets": [list(s) for s in read.sets]} == shape
    assert read.permuted == algorithm.shape.permutes
    assert tomllib.loads(tomli_w.dumps({"release": shape}))["release"] == shape


@pytest.mark.parametrize("name", CHANGES)
def test_the_second_computation_makes_every_change_again(name: str) -> None:
    assert name in MADE_AGAIN


def test_every_family_has_techniques_in_order_of_names() -> None:
    for which in FAMILIES:
        names = list(family(which))
        assert names
        assert names == sorted(names)
        assert all(find(which, n).name == n for n in names)


@asked_of_each(EVERY)
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
        assert cast(type[Algorithm], found).offer.when.endswith(".")
    if which == "change":
        assert cast(type[Change], found).leaves.endswith(".")
        assert re.search(r"; never .*\.$", cast(type[Change], found).when)
    if which == "metric":
        assert cast(type[Metric], found).scale.unit


@dataclasses.dataclass(frozen=True)
class OneOfEach:
    """A table with one quasi-identifier and one sensitive column."""

    quasi: tuple[str, ...] = ("age",)
    sensitive: tuple[str, ...] = ("illness",)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_promised_of_sensitive_values_does_not_stop_identity(name: str) -> None:
    model = technique("model", name)
    if isinstance(model, GroupModel) and model.needs(OneOfEach()):
        assert model.aim.stops != "identity", f"{type(model).__module__}: say `stops`"


@asked_of_each(EVERY)
def test_techniques_are_values(which: Family, name: str) -> None:
    found = find(which, name)
    one, other = found(), found.from_mapping({})
    assert one == other
    assert hash(one) == hash(other)
    assert found.from_mapping(one.as_mapping()) == one
    assert list(one.as_mapping()) == [p.name for p in found.parameters() if not p.quiet]
    quiet = {p.name for p in found.parameters() if p.quiet}
    assert {f.name for f in dataclasses.fields(found)} == {*one.as_mapping(), *quiet}
    json.dumps(one.as_mapping(), allow_nan=False)
    for field in one.as_mapping():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, field, 3)
    with pytest.raises(TypeError):
        found(1)  # type: ignore[call-arg]


@asked_of_each(EVERY)
def test_an_unknown_parameter_is_refused(which: Family, name: str) -> None:
    with pytest.raises(BadPlan) as refused:
        technique(which, name, nothing_of_the_kind=3)
    assert refused.value.message.startswith(f"{name}: unknown parameter 'nothing_of_the_kind'")
    known = [p.name for p in find(which, name).parameters()]
    assert all(f"'{n}'" in refused.value.message for n in known)
    assert known or "it has no parameters" in refused.value.message


@asked_of_each(PARAMETERS)
def test_declarations(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    assert p.help.endswith(".")
    assert p.allowed()
    usual = p.plain(p.accept(p.default, name))
    assert usual == (p.default if p.kind == "technique" else p.plain(p.default))
    content = p.as_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["default"] == usual
    assert content["type"] == p.kind
    near = of[:-1] + "_" if len(of) > 2 else of + of
    with pytest.raises(BadPlan, match="unknown parameter"):
        technique(which, name, **{near: p.default})


@asked_of_each(PARAMETERS)
def test_bad_values_are_refused_with_what_is_allowed(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    bad: list[object] = [None, [], {}, object()]
    if p.kind == "technique":
        bad += ["", "nothing", 1, {"name": "nothing"}, find("model", "k-anonymity")()]
    if p.kind == "columns":
        bad = [None, object(), {}, 1, "age", [1], [""], ["a", "a"], [["a"]]]
    if p.kind in ("by-column", "by-value", "column-sets"):
        bad = [
            None,
            object(),
            1,
            "age = 2",
            "age+zip",
            [1],
            [[1]],
            [[]],
            [["a"], ["a"]],
            {"a": None},
        ]
        bad += [{"a": "x"}, {"": 1}, {1: 1}]
    if p.kind == "queries":
        bad = [None, object(), 1, "age", [1], [{}], [{"a": {}}], [{"a": []}], [{"a": [1]}]]
        bad += [[{"a": {"least": 1}}], [{"": ["x"]}], [{"a": ["x", "x"]}]]
    if p.kind in ("integer", "number"):
        bad += ["5", True, float("nan"), float("inf"), -float("inf"), 1 + 2j]
        bad += [p.low - 1] if p.low is not None else []
        bad += [p.high + 1, 10**400] if p.high is not None else []
        bad += [-(10**400)]
    if p.kind == "integer":
        bad += [float(cast(int, p.default)), cast(int, p.default) + 0.5]
    if p.kind == "choice":
        bad += ["", "nothing", 1]
    if p.kind in ("column", "private-column"):
        bad += [1, True]
    for value in bad:
        with pytest.raises(BadPlan) as refused:
            technique(which, name, **{of: value})
        assert f"{name}: parameter '{of}" in refused.value.message
        of_each = p.each.allowed() if p.each is not None else p.allowed()
        assert of_each in refused.value.message
        assert of in refused.value.remedy
        # The same where the class is used directly.
        with pytest.raises(BadPlan):
            find(which, name)(**{of: value})


def drawn(p: Parameter, rng: np.random.Generator) -> Any:
    """Draw a value that a declaration allows, as a recipe has it."""
    names = [str(n) for n in rng.permutation(["age", "zip code", "a|b", "c = d", "é"])]
    if p.kind == "technique":
        option = str(rng.choice(p.options))
        own = [q for q in p.part(option).parameters() if q.name not in p.governed]
        return {"name": option, **{q.name: drawn(q, rng) for q in own if rng.random() < 0.5}}
    if p.kind in ("by-column", "by-value"):
        assert p.each is not None
        return {name: drawn(p.each, rng) for name in names[: int(rng.integers(0, 5))]}
    if p.kind == "columns":
        return names[: int(rng.integers(0, 5))]
    if p.kind == "column-sets":
        cuts = sorted({0, 5, *rng.integers(0, 6, 2).tolist()})
        return [names[a:b] for a, b in itertools.pairwise(cuts)]
    if p.kind == "queries":
        values = [
            {names[0]: names[2:4], names[1]: {"low": 1.5}},
            {names[0]: {"high": "2020-01-31"}},
        ]
        return values[: int(rng.integers(0, 3))]
    if p.kind == "limits":
        ends = {"low": 1.5, "high": "2020-01-31"}
        return dict([list(ends.items())[int(rng.integers(2))]]) if rng.random() < 0.5 else ends
    if p.kind in ("choice", "flag"):
        return (
            p.options[int(rng.integers(len(p.options)))] if p.options else bool(rng.random() < 0.5)
        )
    if p.kind in ("column", "private-column"):
        return "illness"
    if p.kind == "text":
        return ["", "a text", "of two\nlines: 1/2"][int(rng.integers(3))]
    low, high = p.low or 0, min(p.high or 50, (p.low or 0) + 50)
    return int(rng.integers(low, high + 1)) if p.kind != "number" else float(rng.uniform(low, high))


@asked_of_each(EVERY)
def test_whatever_is_allowed_comes_back_from_toml_and_json(which: Family, name: str) -> None:
    rng = np.random.default_rng(331)
    declared = find(which, name).parameters()
    for _ in range(8 if declared else 0):
        made = technique(which, name, **{p.name: drawn(p, rng) for p in declared})
        recipe = made.as_mapping()
        for again in (tomllib.loads(tomli_w.dumps(recipe)), json.loads(json.dumps(recipe))):
            back = technique(which, name, **again)
            assert back == made
            assert hash(back) == hash(made)
            assert back.as_mapping() == recipe


NESTED = [(w, n, of) for w, n, of in PARAMETERS if parameter(w, n, of).kind == "technique"]


@pytest.mark.parametrize(("which", "name", "of"), NESTED)
def test_what_a_part_is_told_is_judged_by_its_own_declarations(
    which: Family, name: str, of: str
) -> None:
    p = parameter(which, name, of)
    assert p.options[0] == p.default
    for option in p.options:
        usual = technique(which, name, **{of: option})
        assert usual.as_mapping()[of] == option
        assert technique(which, name, **{of: {"name": option}}) == usual
        assert technique(which, name, **{of: getattr(usual, of)}) == usual
        for own in p.part(option).parameters():
            table = {"name": option, own.name: own.default}
            if own.name in p.governed:
                with pytest.raises(BadPlan, match=f"{name}: {of}: '{own.name}' of '{option}'"):
                    technique(which, name, **{of: table})
                continue
            assert technique(which, name, **{of: table}) == usual
            with pytest.raises(BadPlan, match=f"{name}: {of}: {option}: parameter '{own.name}'"):
                technique(which, name, **{of: table | {own.name: object()}})
            if own.kind == "integer":
                other = table | {own.name: cast(int, own.default) + 1}
                made = technique(which, name, **{of: other})
                assert made != usual
                assert hash(made) != hash(usual)
                assert cast(Any, made.as_mapping()[of]).items() >= other.items()
                assert technique(which, name, **made.as_mapping()) == made
        with pytest.raises(BadPlan, match=f"{name}: {of}: {option}: unknown parameter 'nothing'"):
            technique(which, name, **{of: {"name": option, "nothing": 1}})


def test_every_technique_that_forms_groups_is_offered_wherever_one_is_chosen() -> None:
    forming = [n for n in ALGORITHMS if forms_groups(find("algorithm", n))]
    assert set(forming) >= {"k-member", "rtree", "spatial-order", "utility-halving", "optimal"}
    kinds = [cast(type[Algorithm], find("algorithm", n)) for n in ALGORITHMS]
    choosing = {k.name: forming_parameters(k) for k in kinds if forming_parameters(k)}
    assert {"anatomy", "bucketization", "slicing"} <= set(choosing)
    for name, chosen in choosing.items():
        assert find("algorithm", name).shape.permutes
        for p in chosen:
            assert set(p.options) == {*PARTITIONERS, *forming}


@asked_of_each(PARAMETERS)
def test_the_ends_of_a_range_belong_to_it(which: Family, name: str, of: str) -> None:
    p = parameter(which, name, of)
    if p.kind not in ("integer", "number", "choice"):
        return
    values = [p.low, p.high] if p.kind in ("integer", "number") else list(p.options)
    whole = int if p.kind == "integer" else float
    for value in values:
        if value is not None:
            given = value if isinstance(value, str) else whole(value)
            made = technique(which, name, **{of: given})
            assert made.as_mapping().get(of, p.plain(p.default)) == given
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
    if chosen.shape.permutes or chosen.shape.mechanism:  # a mechanism publishes no range of its own
        assert not chosen.shape.forms_ranges
        return
    limits = tails_at(chosen, "age", 24, 26)
    boxed = {"seconds": 0.5} if any(p.name == "seconds" for p in chosen.parameters()) else {}
    plan = case.plan(
        algorithm={"name": algorithm, **limits, **boxed}, models=[{"name": "k-anonymity", "k": 4}]
    )
    result = run(plan, case.dataset, {}, population=with_doubles(case))
    published = set(pd.read_csv(io.BytesIO(result.csv), dtype=str)["age"]) - {*ages, "*"}
    assert bool(published) == chosen.shape.forms_ranges


def with_numbers(case: Case) -> Case:
    """Return a case whose sensitive values are numbers, equal where they were."""
    numbers = {
        name: [None if v is None else str(10 * len(v) + ord(v[0]) % 7) for v in case.columns[name]]
        for name in case.sensitive
    }
    return dataclasses.replace(
        case,
        columns={**case.columns, **numbers},
        kinds={**case.kinds, **dict.fromkeys(case.sensitive, "number")},
    )


def with_sets(case: Case) -> Case:
    """Return a case whose sensitive values are one of two sets."""
    bags = {
        name: [None if v is None else ("a|b" if ord(v[0]) % 2 else "a") for v in case.columns[name]]
        for name in case.sensitive
    }
    return dataclasses.replace(case, columns={**case.columns, **bags})


def with_own_levels(case: Case) -> Case:
    """Return a case whose people ask for one or two rows, in a column that is not published."""
    own = [str(1 + row % 2) for row in range(len(case.rows))]
    return dataclasses.replace(
        case,
        columns={**case.columns, "own": own},
        identifier=(*case.identifier, "own"),
        kinds={**case.kinds, "own": "number"},
    )


def with_doubles(case: Case) -> Dataset:
    """Return a public table in which everyone of a case has a double."""
    return Dataset.from_frame(pd.concat([case.frame, case.frame]), kinds=case.kinds)


def assessing(algorithm: str, model: str) -> bool:
    """Say whether metrics and attacks look at the releases of a pair.

    In the long run at all of them, else at each technique's under every third promise: what they
    find depends on what is published, and not on what was promised.
    """
    if EVERY_EXAMPLE or algorithm not in ALGORITHMS:  # that of the documentation is looked at whole
        return True
    return (ALGORITHMS.index(algorithm) + MODELS.index(model)) % 3 == 0


@crossed("algorithm, model", ALGORITHMS, MODELS, share=8)
def test_every_algorithm_keeps_every_promise_or_says_so(algorithm: str, model: str) -> None:
    rng = np.random.default_rng(109)
    released, refused = 0, list[Infeasible | NotFound]()
    chosen = cast(type[Algorithm], find("algorithm", algorithm))
    looked = chosen.shape.mechanism or assessing(algorithm, model)
    permutes = chosen.shape.permutes
    settings = formed(chosen)
    # The column of own levels looks like one of persons, and every row is a person here.
    confirmed = [OWN_IS_NO_PERSON] if model == "personalized" else []
    # Of the columns drawn every second cell has the same value.
    promise = {"name": model, **EASY.get(model, {})}
    kind = cast(type[GroupModel], find("model", model))
    if chosen.shape.mechanism:
        settings, promise = MECHANISM, BUDGET if kind.scope.mechanism else promise
    refuses = (
        "cannot be steered|needs the budget of differential privacy"
        if chosen.shape.mechanism and not kind.scope.mechanism
        else "a property of the way a release is made"
        if kind.scope.mechanism and not chosen.shape.mechanism
        else "not defined for averages"
        if (kind.scope.public or model == "personalized") and chosen.shape.averages
        else "permuted separately"
        if permutes and kind.scope.whole_rows
        else "knows only once its classes are formed"
        if kind.scope.by_cells and not chosen.shape.one_level
        else ""
    )
    for case in [PATIENTS, random_case(rng, rows=25, quasi=2)]:
        case = with_numbers(case) if model in ABOUT_NUMBERS else case
        case = with_sets(case) if model in ABOUT_SETS else case
        case = for_mechanisms(case, 4) if chosen.shape.mechanism else case
        case = with_own_levels(case) if model == "personalized" else case
        public = with_doubles(case)
        if model == "population-uniques":
            promise = {**promise, "people": 2 * len(case.frame)}
        if kind.scope.by_cells and chosen.needs.levels_parameter:  # the top earns nothing
            settings = {chosen.needs.levels_parameter: dict.fromkeys(case.quasi, 0)}
        plan = case.plan(
            algorithm={"name": algorithm, **settings}, models=[promise], confirmed=confirmed
        )
        if refuses:
            # What no table of these values can keep is shown first.
            with pytest.raises((BadPlan, Infeasible), match=f"{refuses}|not eligible"):
                run(plan, case.dataset, case.levels, population=public)
            continue
        try:
            result = run(plan, case.dataset, case.levels, population=public, assess=looked)
        except (Infeasible, NotFound) as error:
            refused.append(error)
            continue
        released += 1
        assert all(v.holds and v.model == model for v in result.verdicts)
        assert result.verification.holds
        json.dumps(figures_of(result), allow_nan=False)
        if not looked:
            continue
        apply = {
            n
            for n in METRICS
            if (m := technique("metric", n)).use.by_default
            and not m.reason_not_applicable(result.problem)
            and not m.not_defined_for(result.release)
        }
        assert set(result.measures) == apply
        for measure in result.measures.values():
            assert 0 <= measure.share <= 1
        assert {a.attack for a in result.attacks} <= set(ATTACKS)
    # "Not found" is said only where finished releases are tested.
    assert not chosen.needs.counts_public or not any(isinstance(e, NotFound) for e in refused)
    # With a double of everyone exact cells leave each of them a chance of one half or of none.
    assert released or refuses or (kind.scope.public and not chosen.needs.counts_public)
    assert all(error.remedy for error in refused)
    assert all(error.best is not None for error in refused if isinstance(error, Infeasible))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_can_be_cancelled(algorithm: str) -> None:
    context = Context()
    context.cancel.set()
    models = [cast(GroupModel, technique("model", "frequency-l-diversity", l=2))]
    with pytest.raises(Cancelled):
        technique("algorithm", algorithm).run(
            PATIENTS.problem(with_doubles(PATIENTS)), models, context
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_algorithm_leaves_the_problem_alone(algorithm: str) -> None:
    case = distinct_rows()
    chosen = cast(type[Algorithm], find("algorithm", algorithm))
    settings = formed(chosen)
    models = [cast(GroupModel, technique("model", "bucket-size", k=3))]
    if chosen.shape.mechanism:
        case, settings = for_mechanisms(case, 20), MECHANISM
        models = [cast(GroupModel, find("model", str(BUDGET["name"]))())]
    if not chosen.needs.models:  # nothing is coarsened, so everyone stays as rare as they are
        models = []
    if chosen.shape.codes_tails:  # what lies between the tails stays as rare as it is
        case, settings = dataclasses.replace(case, quasi=("age",)), tails_at(chosen, "age", 23, 25)
    problem = case.problem(with_doubles(case))
    before = problem.fingerprint, problem.frequency.codes.copy(), problem.frequency.count.copy()
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
    case, measure = distinct_rows(27), technique("metric", metric).measure
    if technique("metric", metric).reason_not_applicable(case.problem()):
        pytest.skip("measured on a table of its own")
    unchanged, hidden, removed = (at_levels(case, level) for level in (0, 2, None))
    assert measure(unchanged.problem, unchanged, Context()).share == 0
    for release in (hidden, removed):
        assert measure(release.problem, release, Context()).share == pytest.approx(1)
    between = measure(hidden.problem, at_levels(case, 1), Context())
    assert 0 < between.share < 1
    assert between.metric == metric
    # Neighbours that become one can go together with a label as much as before.
    strict = metric != "correlation-change"
    assert all(0 < share < 1 or not strict for share in between.per_column.values())


@pytest.mark.often
@pytest.mark.parametrize("metric", USUAL)
def test_a_cost_never_falls_from_level_to_level(metric: str) -> None:
    rng = np.random.default_rng(113)
    applied = 0
    for _ in range(times(25, share=2)):
        case = random_case(rng)
        if technique("metric", metric).reason_not_applicable(case.problem()):
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
    assert applied > times(5, share=2)


@pytest.mark.parametrize("metric", USUAL)
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


#: Attacks that need a table of the population; its size alone is not enough.
OF_A_TABLE = ("membership", "singling-out")


@pytest.mark.often
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("people", [None, 300, "table"])
def test_the_anchor_of_an_attack_is_itself_on_the_raw_table(attack: str, people: object) -> None:
    rng = np.random.default_rng(127)
    if cast(type[Attack], find("attack", attack)).needs.permuted:
        rows_stay_whole = raw_view(distinct_rows().problem())
        reason = cast(Attack, technique("attack", attack)).reason_not_applicable(
            rows_stay_whole, audience_of(PATIENTS.problem())
        )
        assert "rows stay whole" in reason
        return
    if cast(type[Attack], find("attack", attack)).needs.stop_rule:
        reason = cast(Attack, technique("attack", attack)).reason_not_applicable(
            raw_view(distinct_rows().problem()), audience_of(PATIENTS.problem())
        )
        assert "stopped" in reason
        return
    for _ in range(times(5, share=2)):
        case = with_numbers_in_one(random_case(rng, rows=30)).with_earlier()
        weighs = cast(type[Attack], find("attack", attack)).needs.weights
        if weighs:
            case = with_weights(case, rng)
        known = case.dataset if people == "table" else cast("int | None", people)
        problem = case.problem(population=known)
        chosen = cast(Attack, technique("attack", attack))
        if chosen.reason_not_applicable(raw_view(problem), audience_of(problem)):
            assert people is None or (attack in OF_A_TABLE and people == 300)
            with pytest.raises(AnonError, match="population"):
                chosen.run(*attacked(problem, raw_view(problem)), Context())
            continue
        on_raw = chosen.run(*attacked(problem, raw_view(problem)), Context())
        for level in (1, 2, 3):
            release = at_levels(case, level)
            view, audience, truth = attacked(problem, release.view)
            if weighs:  # what a class weighs is of its own release
                truth = truth_of(problem, release)
            for one, raw in zip(chosen.run(view, audience, truth, Context()), on_raw, strict=True):
                assert raw.rate == pytest.approx(raw.raw)
                assert one.raw == raw.rate
                if not chosen.aim.learns:
                    assert one.rate <= raw.rate + 1e-12
                    assert one.worst <= raw.worst + 1e-12
                assert 0 <= one.rate <= one.worst <= 1
                assert 0 <= one.baseline <= 1
                assert one.exposed == pytest.approx(one.rate * one.attempted)
                assert one.attempted == one.eligible == problem.rows
                assert 0 <= one.at_risk <= one.eligible
                assert one.sentence.endswith(".")
                assert one.interval is None or one.undecided
                assert len(one.per_class) >= 1
                # Of a population only its size is known: what says nothing fits all of it, exactly.
                says = any(level < h.height for h in release.problem.quasi_hierarchies)
                modelled = attack in ("journalist", "marketer") and people == 300 and says
                assert one.estimated == (modelled or weighs or chosen.aim.learns)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_without_what_it_needs_says_what(attack: str) -> None:
    case = dataclasses.replace(distinct_rows(), sensitive=())
    problem = case.problem()
    reason = cast(Attack, technique("attack", attack)).reason_not_applicable(
        raw_view(problem), audience_of(problem)
    )
    assert reason == "" or reason.startswith(("It needs a", "It needs columns"))
    kind = cast(type[Attack], find("attack", attack))
    needing = ("attribute", "inferential") if not kind.needs.permuted else (kind.aim.discloses,)
    attacked = (
        attack in ("journalist", "log-linear", *OF_A_TABLE)
        or kind.needs.earlier
        or kind.needs.stop_rule
    )
    attacked |= kind.needs.weights
    assert bool(reason) == (kind.aim.discloses in needing or attacked)


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


def test_every_second_computation_is_of_a_model() -> None:
    """That a model has one is asked when the registry is loaded."""
    assert sorted(second_computations()) == MODELS


def test_both_computations_take_the_same_texts_for_missing() -> None:
    assert table.MISSING_TOKENS == texts.MISSING_TOKENS
    assert {"n/a", "N/A"} < set(table.MISSING_TOKENS)
    assert not {"-", "na"} & set(table.MISSING_TOKENS)  # a category of some tables


@pytest.mark.parametrize(
    "name",
    [n for n, m in family("model").items() if cast(type[GroupModel], m).aim.stops == "attribute"],
)
def test_models_of_sensitive_values_say_what_a_missing_one_is(name: str) -> None:
    """There are two rules, and each has its reason next to it."""
    formula = family("model")[name].formula
    assert "missing" in formula
    assert any(reason in formula for reason in ("since", "refused", "asks for nothing"))
