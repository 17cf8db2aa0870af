"""Own k and guarding nodes: worked examples, what is refused, and both computations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput, BadPlan, Infeasible
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.release import raw_view
from anon_core.techniques.models.personalized import Personalized
from anon_core.verification.checks import verify
from tests.asked import measured
from tests.making import Case, random_case

#: Table N: a gastritis that stomach guards, one flu next to it, and a flu in a class of its own.
GUARDED = Case(
    columns={
        "qi": ["q1", "q2", "q2"],
        "s": ["flu", "gastritis", "flu"],
        "own": [None, "stomach", None],
    },
    quasi=("qi",),
    sensitive=("s",),
    identifier=("own",),
    kinds={"qi": "text", "s": "text", "own": "text"},
    levels={
        "qi": [("q1", "*"), ("q2", "*")],
        "s": [
            ("flu", "flu", "*"),
            ("gastritis", "stomach", "*"),
            ("ulcer", "stomach", "*"),
        ],
    },
)
#: Table K: people of q1 ask for 2 and 1 rows, of q2 for 3 and 1.
OWN = Case(
    columns={"qi": ["q1", "q1", "q2", "q2"], "s": [*"abab"], "own": ["2", "1", "3", "1"]},
    quasi=("qi",),
    sensitive=("s",),
    identifier=("own",),
    kinds={"qi": "text", "s": "text", "own": "number"},
)


def released(case: Case, at: dict[str, int], **promise: Any) -> Result:
    given = {"name": "personalized", "column": "own", **promise}
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": at, "max_suppression": 0.5},
        models=[given],
        hierarchies={name: f"{name}.csv" for name in case.levels},
    )
    return run(plan, case.dataset, case.levels)


def recomputed(case: Case, result: Result, **promise: Any) -> Any:
    """Return the second computation of another promise about what was released."""
    expected = {
        "name": "personalized",
        "column": "own",
        "level": "own-k",
        "p": 0.5,
        "sensitive": "",
    }
    recipe = result.plan.completed() | {"models": [expected | promise]}
    found = verify(recipe, case.frame, case.levels, dict(result.files))
    return next(c for c in found.checks if c.name == "personalized")


def test_a_guarded_value_is_one_of_two() -> None:
    """M-43: in q2 one of two rows lies under stomach."""
    result = released(GUARDED, {"qi": 0}, level="guard", p=0.5)
    assert result.release.suppressed == 0
    assert result.verdicts[0].reached == 0.5
    (check,) = [c for c in result.verification.checks if c.name == "personalized"]
    assert (check.holds, check.reached) == (True, 0.5)
    stricter = recomputed(GUARDED, result, level="guard", p=0.49)
    assert (stricter.holds, stricter.reached, stricter.rows) == (False, 0.5, (2, 3))


def test_merging_breaks_a_guard() -> None:
    """M-44: an unguarded ulcer merged with them makes it two of three."""
    case = replace(GUARDED, columns=GUARDED.columns | {"s": ["ulcer", "gastritis", "flu"]})
    assert released(case, {"qi": 0}, level="guard", p=0.5).verdicts[0].reached == 0.5
    with pytest.raises(Infeasible, match="with at most 1 of 3 rows"):
        released(case, {"qi": 1}, level="guard", p=0.5)


def test_two_rows_are_less_than_three() -> None:
    """M-46: q2 has two rows, and somebody there asks for three."""
    result = released(OWN, {"qi": 0})
    assert result.release.suppressed == 2
    whole = released(OWN, {"qi": 1})
    assert whole.release.suppressed == 0
    assert whole.verdicts[0].sentence == "Everyone is among as many rows as they require."
    check = recomputed(OWN, released(OWN, {"qi": 0}))
    assert check.holds
    # The exact table, as if it had been released with no promise kept.
    plan = OWN.plan(
        algorithm={"name": "fixed-levels", "levels": {"qi": 0}},
        models=[{"name": "k-anonymity", "k": 2}],
    )
    check = recomputed(OWN, run(plan, OWN.dataset))
    assert (check.holds, check.rows) == (False, (3, 4))


def test_the_private_column_is_nowhere_to_be_seen() -> None:
    result = released(GUARDED, {"qi": 0}, level="guard", p=0.5)
    for name, content in result.files.items():
        assert b"own" not in content, name
        assert b"stomach" not in content, name
    assert "own" not in result.release.view.vocabularies
    assert all("stomach" not in v.sentence for v in result.verdicts)
    shown = replace(GUARDED, identifier=())  # then its role publishes it
    with pytest.raises(BadPlan, match="its role publishes it"):
        released(shown, {"qi": 0}, level="guard", p=0.5)


@pytest.mark.parametrize(
    ("own", "kind", "error", "words"),
    [
        (["2", "1", "0", "1"], "number", BadInput, "1 cells of 'own' are not whole numbers"),
        (["2", "1.5", "1", "1"], "number", BadInput, "first in row 2"),
        (["2", None, "1", "1"], "number", BadInput, "every row needs a k of its own"),
        (["2", "plenty", "1", "1"], "text", BadInput, "not whole numbers from 1 up"),
        (["5", "1", "1", "1"], "number", Infeasible, "at most 3 of 4 rows can be in"),
    ],
)
def test_a_k_of_ones_own_is_a_whole_number(
    own: list[str | None], kind: Any, error: type[AnonError], words: str
) -> None:
    case = replace(OWN, columns={**OWN.columns, "own": own}, kinds={**OWN.kinds, "own": kind})
    plan = case.plan(models=[{"name": "personalized", "column": "own"}])
    with pytest.raises(error, match=words) as refused:
        run(plan, case.dataset)
    assert "plenty" not in str(refused.value)


def test_rows_that_ask_for_too_much_may_be_removed() -> None:
    case = replace(OWN, columns={**OWN.columns, "own": ["5", "1", "1", "1"]})
    plan = case.plan(
        algorithm={"name": "optimal", "max_suppression": 0.5},
        models=[{"name": "personalized", "column": "own"}],
    )
    result = run(plan, case.dataset)
    assert result.account.node == {"qi": 0}
    assert result.release.suppressed == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"column": "won"}, "the table lacks"),
        ({"column": ""}, "names no private column"),
        ({"column": "qi"}, "its role publishes it"),
        ({"level": "guard", "sensitive": "qi"}, "not marked as sensitive"),
        ({"level": "nothing"}, "one of 'own-k', 'guard'"),
        ({"level": "guard", "p": 2}, "a number from"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadPlan, match=words):
        released(GUARDED, {"qi": 0}, **({"level": "guard"} | given))


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ([None, "liver", None], "1 guards in 'own' name no node of the hierarchy"),
        (["stomach", "stomach", None], "name no node above their own value of 's'"),
    ],
)
def test_a_guard_stands_above_its_value(own: list[str | None], words: str) -> None:
    case = replace(GUARDED, columns={**GUARDED.columns, "own": own})
    with pytest.raises(BadInput, match=words) as refused:
        released(case, {"qi": 0}, level="guard", p=0.9)
    assert "liver" not in str(refused.value)
    assert refused.value.values


def test_guards_need_their_hierarchy() -> None:
    case = replace(GUARDED, levels={"qi": GUARDED.levels["qi"]})
    with pytest.raises(BadPlan, match="needs the hierarchy of 's'"):
        released(case, {"qi": 0}, level="guard", p=0.9)


def test_too_many_guards_of_one_node_are_impossible() -> None:
    """Of three rows two guard stomach: at least 2/3 of some class lie under it."""
    case = replace(
        GUARDED,
        columns={
            "qi": ["q1", "q2", "q2"],
            "s": ["gastritis", "ulcer", "flu"],
            "own": ["stomach", "stomach", None],
        },
    )
    problem = case.plan(models=[{"name": "personalized", "column": "own", "level": "guard"}])
    with pytest.raises(Infeasible, match="2 people guard the same node") as refused:
        run(replace(problem, hierarchies={"s": "s.csv", "qi": "qi.csv"}), case.dataset, case.levels)
    assert refused.value.best == pytest.approx(2 / 3)
    assert "0.6667" in refused.value.remedy


def test_it_is_measured_on_a_release_only() -> None:
    problem = OWN.problem()
    with pytest.raises(AnonError, match="for a release only"):
        Personalized(column="own").measure(*measured(problem, raw_view(problem)), Context())


@pytest.mark.parametrize("seed", range(4))
def test_a_private_column_moves_no_figure(seed: int) -> None:
    """Measures, attacks and published files are those of a run that does not know the column."""
    rng = np.random.default_rng([76, seed])
    case = random_case(rng, rows=30, quasi=2)
    case = replace(
        case,
        columns={**case.columns, "own": [str(1 + row % 2) for row in range(30)]},
        identifier=("own",),
        kinds={**case.kinds, "own": "number"},
    )
    algorithm = {"name": "fixed-levels", "levels": {}, "max_suppression": 0.0}
    k: dict[str, Any] = {"name": "k-anonymity", "k": 2}
    rows = [{"column": "own", "what": "repeats", "rows": 30}]  # a row is a person all the same
    plain = case.plan(algorithm=algorithm, models=[k], confirmed=rows)
    both = case.plan(algorithm=algorithm, models=[k, {"name": "personalized", "column": "own"}])
    without, with_column = (run(plan, case.dataset, case.levels) for plan in (plain, both))
    assert with_column.problem.private == ("own",)
    assert len(with_column.problem.frequency.count) > len(without.problem.frequency.count)
    assert dict(with_column.files) == dict(without.files)
    one, other = figures_of(without), figures_of(with_column)
    drawn = ("query-error",)  # its questions are drawn by the plan
    for key in ("metrics", "classes", "smallest_class", "unique_over_all_columns"):
        of = [dict(v[key]) if key == "metrics" else {key: v[key]} for v in (one, other)]
        kept = [{n: x for n, x in entry.items() if n not in drawn} for entry in of]
        assert kept[0] == pytest.approx(kept[1])
    assert [{**a, "sentence": ""} for a in one["attacks"]] == [
        {**a, "sentence": ""} for a in other["attacks"]
    ]
