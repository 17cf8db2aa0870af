"""A missing sensitive value is no value: no class is more diverse for it, whoever computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np
import pytest

from anon_core.attacks.attribute_inference import AttributeInference
from anon_core.attacks.homogeneity import Homogeneity
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.job.result import Result
from anon_core.job.runner import run
from anon_core.permuted.slice_chances import matching, sliced_posteriors
from anon_core.release.release import raw_view
from anon_core.verification.checks import verify
from tests import naive, naive_kernels
from tests.asked import attacked, measured
from tests.making import Case, by_hand, random_case
from tests.property.test_sliced import checked, random_blocks

CODES = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")


def gappy(rng: np.random.Generator, rows: int) -> Case:
    case = random_case(rng, rows=rows, quasi=2)
    s0 = [None if rng.random() < 0.3 else v for v in case.columns["s0"]]
    s0[:3] = ["a", "b", "c"]
    columns = {n: c for n, c in case.columns.items() if n != "s1"}
    kinds = {n: k for n, k in case.kinds.items() if n != "s1"}
    return replace(case, columns={**columns, "s0": s0}, sensitive=("s0",), kinds=kinds)


def test_one_value_beside_every_code_for_missing_is_not_diverse() -> None:
    cells: list[str | None] = ["flu", *CODES]
    table = Case(
        columns={"q": ["x"] * len(cells), "s": cells},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    problem = table.problem()
    for name in ("l-diversity", "frequency-l-diversity", "slicing-l-diversity"):
        model = cast(type[GroupModel], family("model")[name]).from_mapping({"l": 2})
        with pytest.raises(Infeasible):
            model.check(problem, problem.rows)
        (verdict,) = model.measure(*measured(problem, raw_view(problem)), Context())
        assert not verdict.holds
        assert verdict.reached == 1
        recipe = table.plan(models=[{"name": name, "l": 2}]).as_mapping()
        published = "q,s\n" + "x,\n" * len(CODES) + "x,flu\n"
        found = verify(recipe, table.frame, {}, {"release.csv": published.encode()})
        (told,) = [c for c in found.checks if c.name == name]
        assert not told.holds


def test_a_class_without_any_value_is_not_diverse() -> None:
    table = Case(
        columns={"q": list("xxyyy"), "s": [None, None, "a", "b", None]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    problem = table.problem()
    recipe = table.plan(models=[{"name": "frequency-l-diversity", "l": 2}]).as_mapping()
    whole = b"q,s\nx,\nx,\ny,\ny,a\ny,b\n"
    (told,) = [
        c
        for c in verify(recipe, table.frame, {}, {"release.csv": whole}).checks
        if c.name == "frequency-l-diversity"
    ]
    assert not told.holds
    model = cast(type[GroupModel], family("model")["frequency-l-diversity"]).from_mapping({"l": 2})
    (verdict,) = model.measure(*measured(problem, raw_view(problem)), Context())
    assert not verdict.holds
    assert verdict.per_class.tolist() == [0, 2]


def test_attacks_guess_among_the_rows_that_have_a_value() -> None:
    table = Case(
        columns={"q": list("xxxyyy"), "s": ["flu", None, None, "flu", "cold", None]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    problem = table.problem()
    view = raw_view(problem)
    (certain,) = Homogeneity().run(*attacked(problem, view), Context())
    assert (certain.eligible, certain.succeeded, certain.worst) == (3, 1, 1)
    (guess,) = AttributeInference().run(*attacked(problem, view), Context())
    assert (guess.eligible, guess.succeeded, guess.worst, guess.at_risk) == (3, 2, 1, 1)
    assert guess.per_class.tolist() == [1, 0.5]


TECHNIQUES: list[tuple[str, Mapping[str, object]]] = [
    ("optimal", {}),
    ("mondrian", {}),
    ("mondrian", {"cuts": "relaxed"}),
    ("top-down", {}),
    ("k-member", {}),
    ("anytime", {"seconds": 0.3}),
    ("anatomy", {"partition": "anatomize"}),
    ("bucketization", {"partition": "bisection"}),
    ("bucketization", {"partition": "balanced"}),
    ("bucketization", {"partition": "mondrian"}),
    ("slicing", {"partition": "tuple-partition"}),
]


@pytest.mark.parametrize("place", range(len(TECHNIQUES)))
def test_runs_keep_it_by_both_computations(place: int) -> None:
    name, given = TECHNIQUES[place]
    algorithm = cast(type, family("algorithm")[name])
    known = {p.name for p in algorithm.parameters()}
    if not set(given) <= known:
        given = {k: v for k, v in given.items() if k in known}
    rng = np.random.default_rng([1012, place])
    done = 0
    for _ in range(6):
        case = gappy(rng, int(rng.integers(8, 24)))
        promise = "slicing-l-diversity" if name == "slicing" else "frequency-l-diversity"
        models = [{"name": promise, "l": 2}]
        if name in ("optimal", "mondrian", "k-member", "anytime"):
            models.append({"name": "l-diversity", "l": 2})
        plan = case.plan(algorithm={"name": name, **given}, models=models)
        try:
            result = run(plan, case.dataset, case.levels, assess=False)
        except (Infeasible, NotFound):
            continue
        assert result.verification.holds
        assert by_definition_holds(case, result, promise)
        done += 1
    assert done >= 2


def by_definition_holds(case: Case, result: Result, promise: str) -> bool:
    if promise == "slicing-l-diversity":
        return True  # the second computation is compared with the definition below
    s0 = case.column("s0")
    if result.problem.rows != len(s0):
        return False
    groups = [
        np.flatnonzero(result.row_group == g).tolist()
        for g in range(int(result.row_group.max()) + 1)
    ]
    return all(naive.no_value_too_common(members, s0, 2) for members in groups)


def test_posteriors_are_of_the_rows_that_have_a_value() -> None:
    rng = np.random.default_rng(1013)
    broken = held = 0
    for _ in range(80):
        case = gappy(rng, int(rng.integers(6, 20)))
        rows = range(len(case.rows))
        group = np.unique(rng.integers(0, 2, len(rows)), return_inverse=True)[1].tolist()
        blocks = random_blocks(rng, case)
        release = by_hand(case.problem(), group, blocks)
        problem = release.problem
        buckets = [[i for i in rows if group[i] == g] for g in range(max(group) + 1)]
        known = [b for b in blocks if "s0" in b or any(n in case.quasi for n in b)]
        cell = {n: case.column(n) for n in case.quasi}
        shown = [[tuple(cell[n][i] for n in b if n in case.quasi) for i in rows] for b in known]
        star = next(i for i, b in enumerate(known) if "s0" in b)
        index = matching(release.view, problem.frequency.run_codes, "s0")
        values = len(release.view.vocabularies["s0"].texts)
        found = sliced_posteriors(index, values, 2, Context())
        person = problem.frequency.run[problem.frequency.row_key]
        worst = Fraction(0)
        for i in rows:
            t = [block[i] for block in shown]
            truth = naive_kernels.posterior_of(t, buckets, shown, star, case.column("s0"))
            assert found.highest[person[i]] == pytest.approx(float(truth), abs=1e-12)
            assert (found.state[person[i]] > 0) == (2 * truth <= 1)
            worst = max(worst, truth)
        (told,) = [
            c
            for c in checked(case, release, l=2, column="s0").checks
            if c.name == "slicing-l-diversity"
        ]
        assert told.holds == (2 * worst <= 1)
        held, broken = held + told.holds, broken + (not told.holds)
    assert min(held, broken) > 3


def test_codes_that_usually_stand_for_a_missing_value_are_cautioned() -> None:
    """They count until they are named, since only the table's owner knows; nobody misses them."""
    table = Case(
        columns={"q": list("xxxyyy"), "s": ["flu", "unknown", "-9", "flu", "cold", "99"]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    promise = [{"name": "l-diversity", "l": 2}]
    plan = table.plan(models=promise)
    (told,) = run(plan, table.dataset, table.levels, assess=False).cautions
    assert "'s' has 3 rows with codes" in told
    assert "unknown" not in told
    named = ("unknown", "-9", "99")
    read = Dataset.from_frame(table.frame, kinds=table.kinds, missing=named)
    recipe = table.plan(models=promise, data={"missing_values": list(named)})
    found = run(recipe, read, table.levels, assess=False)
    assert found.cautions == ()
    assert found.account.node == {"q": 1}  # the class of one flu and two codes is not diverse
    assert run(table.plan(), table.dataset, table.levels, assess=False).cautions == ()
