"""What is refused before a search is impossible, whichever rows are suppressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.sensitive_share import largest_share
from anon_core.methods.lattice.nodes import rows_allowed, rows_removable
from anon_core.pipeline.runner import run
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.incognito import Incognito
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from tests import diversity_twin as twin
from tests import naive, naive_kernels
from tests.making import Case
from tests.often import often, times
from tests.property.test_lattice_presence import Asked, EveryNode
from tests.property.test_lattice_presence import asked as asked_of_presence
from tests.strategies import cases, with_column

Group = tuple[int, ...]
Keeps = Callable[[Sequence[Group], Case], bool]


def partitions(rows: Sequence[int]) -> Iterator[list[Group]]:
    """Yield every way to part rows into groups."""
    if not rows:
        yield []
        return
    first, *others = rows
    for parts in partitions(others):
        yield [(first,), *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], (first, *part), *parts[i + 1 :]]


def removals(rows: int) -> Iterator[tuple[int, list[Group]]]:
    """Yield every grouping of some of the rows, at least one, with how many are left out."""
    for kept in range(1, 1 << rows):
        chosen = [i for i in range(rows) if kept >> i & 1]
        for parts in partitions(chosen):
            yield rows - len(chosen), parts


def each(keeps: Callable[[Group, Case], bool]) -> Keeps:
    return lambda parts, case: all(keeps(part, case) for part in parts)


def sliced_keeps(parts: Sequence[Group], case: Case, least: int) -> bool:
    """Say whether slicing's l-diversity holds for some way of linking the columns."""
    cells = [tuple(v) for v in case.rows]
    alone = [("",)] * len(cells)
    s = case.column("s0")
    return any(
        naive_kernels.highest_posterior(parts, shown, star, s) * least <= 1
        for shown, star in (([cells], 0), ([alone, cells], 0))
    )


#: What `check` refuses of these is tested with them: no release keeps what it refuses, and of
#: distances and gains, which all rows as one group keep, it refuses nothing.
ELSEWHERE = {
    "average-risk",
    "beta-likeness",
    "delta-disclosure",
    "delta-presence",
    "epsilon-m-anonymity",
    "k-e-anonymity",
    "k-map",
    "k-map-by-size",
    "maximum-risk",
    "personalized",
    "population-uniques",
    "profitability",
    "share-at-risk",
    "t-closeness",
}


def asked(bound: int) -> dict[str, tuple[dict[str, object], Keeps, bool]]:
    """Return, by model, its parameters, what keeps it by definition, and if `check` is exact.

    Of promises about matches, classes of k rows keep them: that is enough to be possible, and
    below k rows nothing is.
    """
    k = each(lambda part, case: len(part) >= bound)
    values = each(lambda part, case: naive.keeps(part, 1, [(case.column("s0"), bound)]))
    shares = each(lambda part, case: naive.no_value_too_common(part, case.column("s0"), bound))
    of_s0: dict[str, object] = {"l": bound, "column": "s0"}
    about: dict[str, object] = {"column": "s0"}

    def spread(judge: Callable[[Sequence[str]], bool]) -> Keeps:
        """Keep what every part keeps by its values; a missing one is none, and some are needed."""

        def keeps(part: Group, case: Case) -> bool:
            known = [v for i in part if (v := case.column("s0")[i])]
            return bool(known) and judge(known)

        return each(keeps)

    return {
        "entropy-l-diversity": (
            of_s0,
            spread(lambda group: twin.keeps_entropy(group, Fraction(bound))),
            True,
        ),
        "recursive-l-diversity": (
            {"c": bound - 0.5, "l": 2, **about},
            spread(lambda group: twin.recursive(group, Fraction(2 * bound - 1, 2), 2)),
            True,
        ),
        "alpha-k-anonymity": (
            {"alpha": 0.5, "k": bound, **about},
            lambda parts, case: (
                k(parts, case)
                and spread(lambda group: 2 * twin.most_share(group) <= 1)(parts, case)
            ),
            False,  # each by itself can be kept of some rows, and both of none
        ),
        "background-bound": (
            {"factor": bound - 1, **about},
            spread(lambda group: twin.bounded(group, Fraction(bound - 1))),
            True,
        ),
        **dict.fromkeys(
            (
                "k-anonymity",
                "bucket-size",
                "k-one-anonymity",
                "one-k-anonymity",
                "k-k-anonymity",
                "global-one-k-anonymity",
            ),
            ({"k": bound}, k, True),
        ),
        "km-anonymity": (
            {"k": bound, "m": 2, **about},  # sets of one item; a missing one is an item
            each(
                lambda part, case: (
                    min(Counter(case.column("s0")[i] for i in part).values()) >= bound
                )
            ),
            False,
        ),
        "l-diversity": (of_s0, values, True),
        "frequency-l-diversity": (of_s0, shares, True),
        "slicing-l-diversity": (
            of_s0,
            lambda parts, case: sliced_keeps(parts, case, bound),
            False,
        ),
    }


def small_cases() -> st.SearchStrategy[Case]:
    """Draw up to five rows of one column and one sensitive one with gaps."""
    drawn = cases(rows=(2, 5), quasi=(1, 1), sensitive=["a", "b", "c", "d", None])
    return drawn.map(lambda case: with_column(case, "s0", case.columns["s0"], alone=True))


def refused(model: GroupModel, case: Case, removable: int) -> bool:
    try:
        model.check(case.problem(), removable)
    except Infeasible:
        return True
    return False


@pytest.mark.often
def test_a_check_refuses_what_no_removal_makes_possible_and_nothing_else() -> None:
    seen: dict[str, set[tuple[bool, bool]]] = {}
    found = {n: cast(type[GroupModel], m) for n, m in family("model").items()}
    models = {n: m for n, m in found.items() if not m.scope.mechanism}  # these are about no table

    @settings(max_examples=times(60))
    @given(case=small_cases())
    def tried(case: Case) -> None:
        rows = len(case.rows)
        ways = list(removals(rows))
        for bound in (2, 3):
            judged = asked(bound)
            assert set(judged) | ELSEWHERE == set(models)
            assert not set(judged) & ELSEWHERE
            for name, (asked_so, keeps, exact) in judged.items():
                model = models[name].from_mapping(asked_so)
                least = min((gone for gone, parts in ways if keeps(parts, case)), default=rows)
                for budget in range(rows + 1):
                    possible = least <= budget and least < rows
                    answer = refused(model, case, budget)
                    assert not (possible and answer), (name, bound, budget, case)
                    assert answer or possible or not exact, (name, bound, budget, case)
                    seen.setdefault(name, set()).add((possible, answer))

    tried()
    # Every promise was possible and let pass, and impossible and refused.
    assert all({(True, False), (False, True)} <= met for met in seen.values()), seen


@pytest.mark.often
def test_a_check_of_presence_refuses_nothing_that_a_node_keeps() -> None:
    possible = refusals = 0

    @settings(max_examples=times(160))
    @given(asked=asked_of_presence(), beyond=st.none() | st.sampled_from([1, 0, -1, 1, -2]))
    def tried(asked: Asked, beyond: int | None) -> None:
        nonlocal possible, refusals
        case, public, models, every = asked.case, asked.public, asked.models, asked.every
        if beyond is not None:  # more is asked than the table's share of the people, or nearly
            low = Fraction(min(len(case.rows) + beyond, public.rows), public.rows)
            models = [DeltaPresence(delta_min=float(low), delta_max=1.0)]
            every = EveryNode(case, public, low, Fraction(1), 1)
        problem = case.problem(public)
        for budget in (0.0, 0.3, 0.7, 1.0):
            keeps = bool(every.satisfied(budget))
            try:
                for model in models:
                    model.check(problem, rows_allowed(problem, budget))
            except Infeasible:
                assert not keeps
                refusals += 1
            possible += keeps

    tried()
    assert possible > 20
    assert refusals > 5


@often(400)
@given(many=st.lists(st.integers(1, 5), min_size=1, max_size=3), data=st.data())
def test_the_largest_l_is_that_of_every_way_to_remove_rows(
    many: list[int], data: st.DataObject
) -> None:
    rows, budget = np.array(many, np.int64), data.draw(st.integers(0, sum(many)))
    ways = np.stack(np.meshgrid(*[np.arange(n + 1) for n in rows]), axis=-1)
    left = ways.reshape(-1, len(rows))
    left = left[(left.sum(axis=1) > 0) & (rows.sum() - left.sum(axis=1) <= budget)]
    best = int((left.sum(axis=1) // left.max(axis=1)).max())
    assert largest_share(rows, budget) == best


EXAMPLE = Case(
    columns={"a": list("AABBBB"), "s": list("121111")},
    quasi=("a",),
    sensitive=("s",),
    kinds={"a": "text", "s": "text"},
    levels={"a": [("A", "*"), ("B", "*")]},
)
NEEDS: dict[str, dict[str, object]] = {"fixed-levels": {"levels": "a=0"}}


def with_budget() -> list[str]:
    """Return techniques that choose what to remove; where parts are given, nothing is chosen."""
    found = [(n, t) for n, t in family("algorithm").items() if not t.needs.earlier_parts]
    return [n for n, t in found if any(p.name == "max_suppression" for p in t.parameters())]


@pytest.mark.parametrize("name", with_budget())
def test_a_technique_that_removes_rows_finds_what_only_they_make_possible(name: str) -> None:
    """The four rows of B have one value: without them, and only so, the rest keeps l = 2."""
    share = [{"name": "frequency-l-diversity", "l": 2}]
    given = {"name": name, "max_suppression": 0.7, **NEEDS.get(name, {})}
    plan = EXAMPLE.plan(algorithm=given, models=share)
    found = run(plan, EXAMPLE.dataset, EXAMPLE.levels, assess=False)
    assert found.csv.decode().splitlines() == ["a,s", "A,1", "A,2"]
    assert found.verification.holds
    with pytest.raises(Infeasible) as stopped:
        run(
            EXAMPLE.plan(algorithm={**given, "max_suppression": 0.6}, models=share),
            EXAMPLE.dataset,
            EXAMPLE.levels,
        )
    # Three rows fewer leave the common value in two of three at best.
    assert (stopped.value.best, stopped.value.best_of) == (1, "largest l")


def test_without_a_budget_the_refusal_names_what_the_rows_allow() -> None:
    plan = EXAMPLE.plan(
        algorithm={"name": "optimal"}, models=[{"name": "frequency-l-diversity", "l": 2}]
    )
    with pytest.raises(Infeasible) as stopped:
        run(plan, EXAMPLE.dataset, EXAMPLE.levels)
    assert (stopped.value.best, stopped.value.best_of) == (1, "largest l")
    assert "occurs in 5 of 6 rows" in stopped.value.message
    assert "allow it more suppression" in stopped.value.remedy


def test_rows_that_may_go_are_those_of_the_technique_as_it_is_set() -> None:
    problem = EXAMPLE.problem()
    assert rows_removable(problem, Optimal(max_suppression=0.5)) == 3
    assert rows_removable(problem, Optimal(max_suppression=0.5, transformation="AG")) == 0
    mondrian = cast(Algorithm, family("algorithm")["mondrian"]())
    assert rows_removable(problem, mondrian) == 0


def least_removed(case: Case, least: int) -> dict[naive.Node, int]:
    """Return what has to go at every node, by definition."""
    found: dict[naive.Node, int] = {}
    s = case.column("s0")
    for node in naive.every_node(case.attributes):
        classes = naive.classes(case.rows, case.attributes, node).values()
        kept = [c for c in classes if naive.no_value_too_common(c, s, least)]
        found[node] = len(case.rows) - sum(map(len, kept))
    return found


def searched(search: Algorithm, problem: Problem, model: GroupModel) -> Outcome | Infeasible:
    try:
        return search.run(problem, [model], Context())
    except Infeasible as stopped:
        return stopped


@pytest.mark.often
def test_searches_find_what_removing_rows_makes_possible_and_name_the_best() -> None:
    met = missed = only_so = 0

    @settings(max_examples=times(120))
    @given(case=cases(rows=(4, 11), quasi=(1, 3)), least=st.integers(2, 3))
    def tried(case: Case, least: int) -> None:
        nonlocal met, missed, only_so
        case = replace(case, sensitive=("s0",))
        problem, rows = case.problem(), len(case.rows)
        model = FrequencyLDiversity(l=least)
        removed = least_removed(case, least)
        fewest = min(removed.values())
        for share in (0.0, 0.3, 0.6, 1.0):
            budget = rows_allowed(problem, share)
            good = {n for n, gone in removed.items() if gone <= budget and gone < rows}
            for search in (
                Optimal(max_suppression=share),
                Samarati(max_suppression=share),
                Incognito(max_suppression=share),
            ):
                found = searched(search, problem, model)
                if isinstance(found, Infeasible):
                    assert not good
                    assert found.best == pytest.approx(fewest / rows)
                    missed += 1
                    continue
                assert found.account.node is not None
                node = tuple(found.account.node.values())
                assert node in good
                assert found.release.suppressed == removed[node]
                met += 1
            only_so += bool(good) and refused(model, case, 0)

    tried()
    assert min(met, missed, only_so) > 5
