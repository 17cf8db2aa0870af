"""Promises against who knows the other sensitive values, against every choice of levels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import find
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.model import GroupModel
from anon_core.pipeline.runner import run
from anon_core.release.combined_values import COMBINED
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.private_reference import reference_of
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.verification.checks import verify
from tests import diversity_twin as twin
from tests import naive
from tests.making import Case
from tests.often import often, times
from tests.property.test_spread_searches import PROMISES as SPREAD
from tests.property.test_spread_searches import Judge
from tests.strategies import cases, cells_of, nodes_of

PROMISES: dict[str, tuple[dict[str, object], Judge]] = {
    "l-diversity": ({"l": 2}, lambda g, _: len(set(g)) >= 2),
    "frequency-l-diversity": ({"l": 2}, lambda g, _: twin.most_share(g) <= Fraction(1, 2)),
    **SPREAD,
}


@st.composite
def drawn(draw: st.DrawFn) -> Case:
    """Draw a table with a sensitive column of numbers, and one or two of few words."""
    case = draw(cases(rows=(6, 23), quasi=(2, 2), kinds=("text", "number")))
    rows = len(case.rows)
    columns = {
        "s0": draw(cells_of([*"1111222336"], rows)),
        "s1": draw(cells_of([*"xxxxxxyyy", ""], rows)),
        "s2": draw(cells_of([*"uv"], rows)),
    }
    kept = tuple(columns)[: draw(st.integers(2, 3))]
    kinds = {"s0": "number", "s1": "text", "s2": "text"}
    return replace(
        case,
        columns={**case.columns, **{n: columns[n] for n in kept}},
        kinds={**case.kinds, **{n: kinds[n] for n in kept}},
        sensitive=kept,
    )


def keeps(judge: Judge, case: Case, members: Sequence[int]) -> bool:
    """Say whether every part of a class whose rows share all others' values keeps a promise."""
    values = [int(v) for v in case.column("s0")]
    others = list(zip(*(case.column(n) for n in case.sensitive[1:]), strict=True))
    parts: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in members:
        parts[others[row]].append(values[row])
    return all(judge(part, values) for part in parts.values())


def promised(name: str) -> GroupModel:
    """Return a promise about the first sensitive column against who knows the others."""
    kind = find("model", name.split(",")[0])
    asked = {"column": "s0", "others_known": True, **PROMISES[name][0]}
    return kind.from_mapping(asked)  # type: ignore[return-value]


@pytest.mark.parametrize("name", PROMISES)
@often(16)
@given(case=drawn(), budget=st.sampled_from([0.0, 0.2, 0.5]))
def test_the_best_node_is_the_best_of_all(name: str, case: Case, budget: float) -> None:
    model, judge = promised(name), PROMISES[name][1]
    rows, attributes = case.rows, case.attributes
    problem = case.problem(combined=True)
    allowed = int(np.floor(budget * len(rows) + 1e-9))
    removed: dict[naive.Node, int] = {}
    costs: dict[naive.Node, Fraction] = {}
    for node in naive.every_node(attributes):
        found = naive.classes(rows, attributes, node)
        kept = {c: m for c, m in found.items() if keeps(judge, case, m)}
        removed[node] = len(rows) - sum(map(len, kept.values()))
        costs[node] = naive.cost("loss", rows, attributes, naive.covers_at(kept, attributes, node))
    within = [n for n in removed if removed[n] <= allowed and removed[n] < len(rows)]
    searches = [
        Optimal(max_suppression=budget),
        Optimal(max_suppression=budget, list_minimal=True),
        Incognito(max_suppression=budget),
    ]
    if not within:
        for search in searches:
            with pytest.raises(Infeasible):
                search.run(problem, [model], Context())
        return
    model.check(problem, allowed)  # what can be kept is not refused
    for search in searches:
        outcome = search.run(problem, [model], Context())
        node = tuple((outcome.account.node or {}).values())
        assert outcome.release.suppressed == removed[node] <= allowed
        if isinstance(search, Optimal):
            assert outcome.account.cost == pytest.approx(float(min(costs[n] for n in within)))
        if not isinstance(search, Optimal) or search.list_minimal:
            assert set(outcome.account.minimal) == naive.minimal_nodes(within)


@often(40)
@given(case=drawn(), data=st.data())
def test_the_facts_that_searches_lean_on(case: Case, data: st.DataObject) -> None:
    """What is said of merging holds, and good groups lie only in groups said to be possible."""
    problem = case.problem(combined=True)
    reference, frequency = reference_of(problem), problem.frequency
    part = data.draw(cells_of([0, 1, 2], len(case.rows)))
    one, other = ([i for i, p in enumerate(part) if p == own] for own in (0, 1))
    assume(one and other)
    groups = [one, other, one + other]
    together = frequency.codes[:, frequency.columns.index(COMBINED)][frequency.row_key]
    pairs = [np.unique(together[own], return_counts=True) for own in groups]
    stats = GroupStats(
        sizes=np.array([len(own) for own in groups]),
        histograms={
            COMBINED: Histogram(
                group=np.repeat(np.arange(3), [len(v) for v, _ in pairs]),
                value=np.concatenate([v for v, _ in pairs]).astype(np.int32),
                count=np.concatenate([c for _, c in pairs]),
                groups=3,
            )
        },
    )
    for name, (_, judge) in PROMISES.items():
        model = promised(name)
        good = model.per_group(stats, reference).tolist()
        assert good == [keeps(judge, case, own) for own in groups], name
        possible = model.relaxed_per_group(stats, reference).tolist()
        assert all(p for p, g in zip(possible, good, strict=True) if g), name
        assert possible[2] or not (good[0] or good[1]), name
        assert not model.logic.monotone_merge
        if model.unions_keep() and good[0] and good[1]:
            assert good[2], name


@pytest.mark.often
def test_the_second_computation_agrees_with_the_definition() -> None:
    met = set[tuple[bool, bool]]()

    @settings(max_examples=times(32))
    @given(case=drawn(), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        top = tuple(a.height for a in case.attributes)
        node = data.draw(st.just(top) | nodes_of(case))
        algorithm = {"name": "fixed-levels", "levels": dict(zip(case.quasi, node, strict=True))}
        plan = case.plan(algorithm=algorithm, models=[{"name": "entropy-l-diversity", "l": 1}])
        levels = {n: [list(line) for line in lines] for n, lines in case.levels.items()}
        try:
            result = run(plan, case.dataset, levels, assess=False)
        except Infeasible:  # a class without a value is diverse to no degree
            reject()
        classes = naive.classes(case.rows, case.attributes, node)
        problem = case.problem(combined=True)
        values = [int(v) for v in case.column("s0")]
        recipe, frame = plan.completed(), case.dataset.frame()
        for name, (asked, judge) in PROMISES.items():
            promise = {"name": name.split(",")[0], "column": "s0", "others_known": True, **asked}
            found = verify({**recipe, "models": [promise]}, frame, levels, dict(result.files))
            check = next(c for c in found.checks if c.name == promise["name"])
            held = all(keeps(judge, case, m) for m in classes.values())
            assert check.holds == held, (name, check)
            (verdict,) = promised(name).measure(
                result.release.view, audience_of(result.problem), reference_of(problem), Context()
            )
            assert (verdict.state == "holds") == held, (name, verdict, check)
            met.add((all(judge([values[i] for i in m], values) for m in classes.values()), held))

    tried()
    assert met >= {(True, True), (True, False), (False, False)}  # and it is a matter of others


@pytest.mark.parametrize("name", ["bucketization", "permutation"])
def test_columns_that_stand_alone_tell_nothing_of_each_other(name: str) -> None:
    """Rows (a, x) and (b, y) are enough where the columns are permuted apart, and only there."""
    columns = {"q": ["p", "q"], "s": ["a", "b"], "t": ["x", "y"]}
    case = Case(
        columns=columns, quasi=("q",), sensitive=("s", "t"), kinds=dict.fromkeys("qst", "text")
    )  # type: ignore[arg-type]
    promise = {"name": "frequency-l-diversity", "l": 2, "others_known": True}
    algorithm = {"name": name, "partition": "mondrian"}
    plan = case.plan(algorithm=algorithm, models=[promise])
    if name == "bucketization":  # it keeps the sensitive columns of a row together
        with pytest.raises(Infeasible):
            run(plan, case.dataset, assess=False)
        return
    result = run(plan, case.dataset, assess=False)
    assert result.verification.holds
    assert [v.reached for v in result.verdicts] == [2, 2]


@pytest.mark.often
@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "mondrian"},
        {"name": "anatomy", "partition": {"name": "mondrian"}},
        {"name": "bucketization", "partition": {"name": "optimal"}},
        {"name": "permutation", "partition": {"name": "mondrian"}},
        {"name": "k-member"},
    ],
    ids=lambda a: a["name"],
)
def test_whole_runs_are_verified(algorithm: dict[str, object]) -> None:
    held = 0

    @settings(max_examples=times(20, share=4))
    @given(case=drawn())
    def tried(case: Case) -> None:
        nonlocal held
        promise = {"name": "l-diversity", "l": 2, "column": "s0", "others_known": True}
        plan = case.plan(algorithm=algorithm, models=[promise])
        levels = {n: [list(line) for line in lines] for n, lines in case.levels.items()}
        try:
            result = run(plan, case.dataset, levels, assess=False)
        except Infeasible:
            return
        held += 1
        assert result.verification.holds
        verdict = [v for v in result.verdicts if v.model == "l-diversity"]
        assert verdict
        assert all(v.state == "holds" for v in verdict)

    tried()
    assert held
