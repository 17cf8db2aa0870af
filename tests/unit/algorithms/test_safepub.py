"""SafePub: the guarantee by enumeration, what is refused, and what its releases look like."""

from __future__ import annotations

import io
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction as F
from math import ceil, comb, exp
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import anon_core.techniques.algorithms.safepub as module
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotVerified
from anon_core.base.secret import key
from anon_core.methods.differential_privacy.account import SampleRule, sample_rule
from anon_core.methods.differential_privacy.chosen_levels import Coins, draw_levels, score_of
from anon_core.methods.lattice.lattice import Lattice, Node
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.safepub import SafePub, SortedRows, canonical
from anon_core.techniques.models.differential_privacy import DifferentialPrivacy
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import Case, random_case, secret
from tests.often import times

Outcome = tuple[tuple[tuple[str, ...], int], ...]
Chances = dict[Outcome, F]
LEVELS = {
    "q": [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")],
    "r": [("1", "*"), ("2", "*")],
}
EPSILON, DELTA = F(1, 2), F(1, 10)
GROWTH = F(Decimal("0.5").exp()) - F(1, 10**20)


def counted(rows: Mapping[str, int]) -> Case:
    """Return a table of so many rows of each kind, such as ``a1``."""
    columns: dict[str, list[str | None]] = {"q": [], "r": []}
    for kind, count in rows.items():
        columns["q"] += [kind[0]] * count
        columns["r"] += [kind[1]] * count
    kinds = {"q": "text", "r": "text"}
    return Case(columns=columns, quasi=("q", "r"), kinds=kinds, levels=LEVELS)  # type: ignore[arg-type]


def one_more(rows: Mapping[str, int], kind: str) -> dict[str, int]:
    return {**rows, kind: rows.get(kind, 0) + 1}


def promises(epsilon: F = EPSILON, delta: F = DELTA) -> list[DifferentialPrivacy]:
    return [DifferentialPrivacy(epsilon=float(epsilon), delta=float(delta))]


def every_sample(problem: Problem, share: F) -> Iterator[tuple[npt.NDArray[np.int64], F]]:
    """Yield how many rows of each kind may be drawn, with the chance of that."""
    counts = problem.frequency.run_count.tolist()
    for drawn in itertools.product(*(range(n + 1) for n in counts)):
        chance = F(1)
        for n, j in zip(counts, drawn, strict=True):
            chance *= comb(n, j) * share**j * (1 - share) ** (n - j)
        yield np.array(drawn, dtype=np.int64), chance


def outcomes(rows: Mapping[str, int], node: Mapping[str, int], epsilon: F = EPSILON) -> Chances:
    """Return what the technique itself publishes for every sample, with its chance."""
    problem = counted(rows).problem()
    found: Chances = defaultdict(F)
    technique = SafePub(fixed_rules=True, levels=node)
    rule = sample_rule(epsilon, DELTA)
    with pytest.MonkeyPatch.context() as patch:
        for drawn, chance in every_sample(problem, rule.share):
            patch.setattr(SortedRows, "sampled", lambda *_, drawn=drawn: drawn)
            try:
                view = technique.run(problem, promises(epsilon), Context()).release.view
            except Infeasible:
                found[()] += chance
                continue
            (block,) = view.blocks
            texts = [
                tuple(view.vocabularies[n].texts[c] for n, c in zip(("q", "r"), codes, strict=True))
                for codes in block.codes.tolist()
            ]
            found[tuple(sorted(zip(texts, block.count.tolist(), strict=True)))] += chance
    assert sum(found.values()) == 1
    return found


def excess(one: Mapping[Any, Any], other: Mapping[Any, Any], growth: Any) -> Any:
    """Return the least δ for which `one` is at most `growth` times `other`, for all outcomes."""
    return sum(max(chance - growth * other.get(seen, 0), 0) for seen, chance in one.items())


# ---- the guarantee, by enumeration ---------------------------------------------------------------


ROWS = {"a1": 8, "b1": 1, "c1": 1}


@pytest.mark.parametrize("node", [{"q": 0, "r": 0}, {"q": 1, "r": 0}, {"q": 2, "r": 1}])
def test_no_row_changes_what_is_published_by_more_than_promised(node: dict[str, int]) -> None:
    """Every sample of a table, and of each table with one row more, also of a kind it lacks."""
    base = outcomes(ROWS, node)
    seen = []
    for kind in ("a1", "c1", "d2"):
        more = outcomes(one_more(ROWS, kind), node)
        seen += [excess(more, base, GROWTH), excess(base, more, GROWTH)]
    assert all(over <= DELTA for over in seen)
    assert max(seen) > 0  # δ is needed


def test_classes_smaller_than_asked_for_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above can fail."""
    rule = sample_rule(EPSILON, DELTA)
    small = SampleRule(share=rule.share, least=1, delta=rule.delta)
    monkeypatch.setattr(module, "sample_rule", lambda *_: small)
    node = {"q": 0, "r": 0}
    assert excess(outcomes(one_more(ROWS, "d2"), node), outcomes(ROWS, node), GROWTH) > 3 * DELTA


class EveryChoice:
    """Coins that take every candidate in turn: `chance` is that of the choices made so far."""

    def __init__(self, choices: Sequence[int]) -> None:
        self.choices, self.chance, self.open = list(choices), 1.0, 0

    def candidate(self, scores: Sequence[F], epsilon: F) -> int:
        weights = [exp(float(epsilon * s) / 2) for s in scores]
        if not self.choices:
            self.open = len(scores)
            raise StopIteration
        drawn = self.choices.pop(0)
        self.chance *= weights[drawn] / sum(weights)
        return drawn


def levels_drawn(problem: Problem, least: int, epsilon: F) -> dict[Node, float]:
    """Return the chance of every node to be drawn in one step, by all ways to get there."""
    lattice, found = Lattice(problem), defaultdict[Node, float](float)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        choices = waiting.pop()
        coins = EveryChoice(choices)
        try:
            drawn = draw_levels(lattice, least, "detail", 1, epsilon, cast(Coins, coins), Context())
        except StopIteration:
            waiting += [(*choices, i) for i in range(coins.open)]
            continue
        found[drawn.node] += coins.chance
    assert sum(found.values()) == pytest.approx(1)
    return found


def test_levels_that_are_drawn_cost_their_budget_and_no_more() -> None:
    """The whole mechanism: a node is drawn, then a sample; both budgets add up."""
    drawing, whole = F(2), EPSILON + 2
    least = ceil(sample_rule(EPSILON, DELTA).least / sample_rule(EPSILON, DELTA).share)
    rows = {"a1": 15, "c1": 3}
    mixed: list[dict[Outcome, float]] = []
    nodes: list[dict[Node, float]] = []
    for table in (rows, one_more(rows, "a1"), one_more(rows, "d2")):
        nodes.append(levels_drawn(counted(table).problem(), least, drawing))
        own: dict[Outcome, float] = defaultdict(float)
        for node, chance in nodes[-1].items():
            for seen, share in outcomes(table, dict(zip("qr", node, strict=True))).items():
                own[seen] += chance * float(share)
        mixed.append(own)
    for more_nodes, more in zip(nodes[1:], mixed[1:], strict=True):
        for one, other in ((more_nodes, nodes[0]), (nodes[0], more_nodes)):
            assert excess(one, other, exp(float(drawing))) <= 1e-12
        for one, other in ((more, mixed[0]), (mixed[0], more)):
            assert excess(one, other, exp(float(whole))) <= float(DELTA)
    assert nodes[1] != nodes[0]  # the row has a part in what is drawn


@pytest.mark.often
def test_one_row_changes_no_score_by_more_than_one() -> None:
    rng = np.random.default_rng(77)
    most = {"detail": F(0), "classes": F(0)}
    for _ in range(times(160)):
        case = random_case(rng, rows=int(rng.integers(3, 20)), missing=False)
        fewer = replace(case, columns={n: c[:-1] for n, c in case.columns.items()})
        least = int(rng.integers(1, 5))
        # The lattice is that of the hierarchies: it is the same for both.
        full = {n: case.levels.get(n) or [(str(v), "*") for v in set(c)] for n, c in
                case.columns.items() if n in case.quasi}  # fmt: skip
        more, less = (
            Lattice(replace(c, levels=full, kinds={**c.kinds}).problem()) for c in (case, fewer)
        )
        assert more.top == less.top
        for node in more.nodes():
            for score in most:
                values = [score_of(one, node, least, cast(Any, score)) for one in (more, less)]
                most[score] = max(most[score], abs(values[0] - values[1]))
    assert most == {"detail": 1, "classes": 1}


# ---- what it publishes -------------------------------------------------------------------------


def people(rows: int = 400, seed: int = 3) -> Case:
    rng = np.random.default_rng(seed)
    return Case(
        columns={
            "q": [str(v) for v in rng.choice([*"abcd"], rows, p=(0.4, 0.3, 0.2, 0.1))],
            "r": [str(v) for v in rng.choice(["1", "2"], rows)],
        },
        quasi=("q", "r"),
        kinds={"q": "text", "r": "text"},
        levels=LEVELS,
    )


BUDGET = {"name": "differential-privacy", "epsilon": 1.0, "delta": 1e-4}


def released(
    case: Case, models: Sequence[object] = (BUDGET,), seed: int = 0, **given: object
) -> Any:
    algorithm = {"name": "safepub", "fixed_rules": True, **given}
    plan = case.plan(algorithm=algorithm, models=list(models), seed=seed)
    return run(plan, case.dataset, case.levels, assess=False)


def published(result: Any) -> dict[tuple[str, ...], int]:
    frame = pd.read_csv(io.BytesIO(result.csv), dtype=str)
    return {cast(tuple[str, ...], k): int(n) for k, n in frame.value_counts().items()}


def test_what_is_stated_beside_a_release() -> None:
    result = released(people(), levels={"q": 1, "r": 0})
    (recipe,) = figures_of(result)["models"]
    assert recipe["holds"]
    assert (recipe["epsilon"], recipe["delta"], recipe["k"]) == (1.0, 1e-4, 47)
    assert recipe["sampling"] == pytest.approx(1 - exp(-1))
    assert recipe["unit"] == "one row"
    assert recipe["neighbours"] == "one row added or removed"
    assert recipe["trust"].startswith("central")
    assert recipe["epsilon_spent"] == {"rows": 1.0}
    assert recipe["delta_reached"] <= 1e-4
    assert "of fewer than 47 sampled rows were left out" in recipe["sentence"]
    assert min(published(result).values()) >= 47
    assert set(published(result)) <= {(q, r) for q in "xy" for r in "12"}


def test_the_same_secret_publishes_the_same_whatever_the_order_of_rows() -> None:
    case = people()
    turned = replace(case, columns={n: c[::-1] for n, c in case.columns.items()})
    one, two = (released(c, levels={"q": 1, "r": 0}) for c in (case, turned))
    assert one.csv == two.csv
    assert released(case, seed=1, levels={"q": 1, "r": 0}).csv != one.csv


def test_one_secret_tosses_other_coins_for_other_tables_and_plans() -> None:
    """Else two releases could be laid over each other, and their budgets would not add up."""
    case = people()
    more = replace(case, columns={"q": [*case.columns["q"], "a"], "r": [*case.columns["r"], "1"]})
    base = released(case, levels={"q": 2, "r": 1})
    others = [
        released(more, levels={"q": 2, "r": 1}),
        released(case, levels={"q": 2, "r": 1}, steps=11),
        released(case, [{**BUDGET, "delta": 2e-4}], levels={"q": 2, "r": 1}),
    ]
    sizes = {sum(published(r).values()) for r in (base, *others)}
    assert len(sizes) > 2  # of four even draws of 250 rows ± 10; fixed by the tests' secret
    plan = [{"a": 1.0, "b": [True, "x"]}]
    assert (
        canonical(plan)
        == canonical([{"b": [True, "x"], "a": 1}])
        != canonical([{"a": 1, "b": [1, "x"]}])
    )


@pytest.mark.often
def test_the_sample_has_the_share_of_every_kind() -> None:
    """Of 40 secrets; a share that is off by 2 % would be seen."""
    case = people()
    drawn = [released(case, seed=n, levels={"q": 2, "r": 1}) for n in range(times(80))]
    mean = float(np.mean([sum(published(r).values()) for r in drawn])) / 400
    spread = (0.632 * 0.368 / 400 / len(drawn)) ** 0.5
    assert mean == pytest.approx(1 - exp(-1), abs=4.5 * spread)


def test_levels_are_drawn_for_a_budget_of_their_own() -> None:
    result = released(people(2000), levels_epsilon=0.25, steps=4)
    (recipe,) = figures_of(result)["models"]
    assert recipe["epsilon_spent"] == {"levels": 0.25, "rows": 0.75}
    assert recipe["k"] == sample_rule(F(3, 4), F(1, 10**4)).least
    assert result.account.checked > 1
    assert set(result.account.node) == {"q", "r"}
    assert not {"score", "cost"} & {k for step in result.account.steps for k in step}


def test_other_promises_about_sizes_are_kept_beside() -> None:
    small, large = ({"name": "k-anonymity", "k": k} for k in (5, 90))
    assert min(published(released(people(), [BUDGET, small], levels={"q": 1})).values()) >= 47
    result = released(people(), [BUDGET, large], levels={"q": 1})
    assert min(published(result).values()) >= 90
    assert [v.holds for v in result.verdicts] == [True, True]


def test_no_large_class_is_an_outcome_like_others() -> None:
    with pytest.raises(Infeasible, match="nothing is published") as refused:
        released(people(40), levels={"q": 0, "r": 0})
    assert "budget is spent" in refused.value.message
    assert refused.value.best is not None


def test_a_verdict_without_a_mechanism_is_broken() -> None:
    problem = people().problem()
    found = SafePub(fixed_rules=True, levels={"q": 2}).run(
        problem, promises(F(1), F(1, 10)), Context()
    )
    bare = replace(found.release, guarantee=None)
    (verdict,) = DifferentialPrivacy().measure(
        bare.view, cast(Any, None), cast(Any, None), Context()
    )
    assert verdict.state == "broken"
    (verdict,) = DifferentialPrivacy(epsilon=0.5, delta=0.1).measure(
        found.release.view, cast(Any, None), cast(Any, None), Context()
    )
    assert verdict.state == "broken"  # it spent twice as much
    assert verdict.reached == 1


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fixed_rules": False}, "not confirmed"),
        ({"levels_epsilon": 1.0}, "no budget left"),
        ({"levels_epsilon": 1.5}, "no budget left"),
        ({"levels_epsilon": 0.5, "levels": {"q": 1}}, "levels are named"),
        ({"levels": {"q": 3}}, "levels 0 to 2"),
        ({"levels": {"z": 1}}, "'z'"),
        ({"share": 0.0}, "'share' is 0.0"),
        ({"steps": 0}, "'steps' is 0"),
    ],
)
def test_settings_that_guarantee_nothing_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(BadPlan, match=words):
        released(people(), **given)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 1e-6), (-1.0, 1e-6), (1.0, 0), (1.0, 1), (1.0, 2.0), (float("nan"), 1e-6), (1.0, -1e-6)],
)
def test_budgets_out_of_range_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(BadPlan, match="allowed is"):
        DifferentialPrivacy(epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_columns_published_row_by_row_are_refused(role: str) -> None:
    case = people()
    columns = {**case.columns, "s": cast("list[str | None]", ["u"] * 400)}
    case = replace(case, columns=columns, sensitive=("s",) if role == "sensitive" else ())
    with pytest.raises(BadPlan, match="'s' would be published row by row with the classes"):
        released(case)
    both = replace(case, quasi=("q", "r", "s"), sensitive=("s",))
    assert set(published(released(both, levels={"q": 2, "r": 1, "s": 0}))) == {("*", "*", "u")}


def test_what_the_rows_decide_is_refused() -> None:
    case = people()
    algorithm = {"name": "safepub", "fixed_rules": True}
    plan = case.plan(algorithm=algorithm, models=[BUDGET], data={"sample": 0.5})
    with pytest.raises(BadPlan, match=r"\[data\] sample"):
        run(plan, case.dataset, case.levels)
    spelled = Case(columns={"n": ["1", "1.0"] * 200}, quasi=("n",), kinds={"n": "number"})
    with pytest.raises(BadPlan, match="several spellings"):
        released(spelled, levels={"n": 0})


def test_promises_and_techniques_that_do_not_belong_together_are_refused() -> None:
    case = people()
    with pytest.raises(BadPlan, match="needs the budget of differential privacy"):
        released(case, [{"name": "k-anonymity", "k": 5}])
    with pytest.raises(BadPlan, match="a property of the way a release is made") as refused:
        run(case.plan(models=[BUDGET]), case.dataset, case.levels)
    assert "SafePub" in refused.value.remedy
    with pytest.raises(BadPlan, match="cannot be steered by"):
        released(case, [BUDGET, {"name": "one-k-anonymity", "k": 5}])
    with pytest.raises(BadPlan):
        SafePub(fixed_rules=True).run(case.problem(), [KAnonymity(k=5)], Context())


def test_a_short_seed_is_refused() -> None:
    with pytest.raises(BadPlan, match="SafePub publishes depends on chance"):
        released(people(), seed="7")


def test_a_large_delta_is_told() -> None:
    result = released(people(), [{**BUDGET, "delta": 0.01}], levels={"q": 1})
    assert any("δ = 0.01" in sentence and "1/400" in sentence for sentence in result.cautions)
    assert not released(people(), levels={"q": 1}).cautions


def test_a_hierarchy_that_is_the_tables_is_told() -> None:
    ages = [str(v) for v in range(30)]
    case = Case(
        columns={"age": cast("list[str | None]", ages * 20)},
        quasi=("age",),
        kinds={"age": "number"},
        levels={"age": [(a, "young" if int(a) < 15 else "old", "*") for a in ages]},
    )
    (caution,) = released(case, levels={"age": 1}).cautions
    assert "lists exactly the 30 values" in caution
    wider = replace(case, levels={"age": [*case.levels["age"], ("30", "old", "*")]})
    assert not released(wider, levels={"age": 1}).cautions


# ---- the second computation --------------------------------------------------------------------


def test_another_sample_breaks_the_second_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone who chooses the sample in place of the secret is found by drawing it again."""
    draw = SortedRows.sampled

    def chosen(rows: SortedRows, share: F, coins: Coins) -> npt.NDArray[np.int64]:
        found = draw(rows, share, coins)
        found[int(np.argmax(found))] += 1
        return found

    monkeypatch.setattr(SortedRows, "sampled", chosen)
    with pytest.raises(NotVerified, match="the sample has other classes"):
        released(people(), levels={"q": 1, "r": 0})


def test_too_small_classes_break_the_second_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = sample_rule(F(1), F(1, 10**4))
    small = SampleRule(share=rule.share, least=20, delta=rule.delta)
    monkeypatch.setattr(module, "sample_rule", lambda *_: small)
    with pytest.raises(NotVerified, match=r"k = 47 for ε = 1 and δ = 0\.0001 is broken"):
        released(people(), levels={"q": 0, "r": 0})


def test_the_key_of_a_seed_is_that_of_its_stream() -> None:
    assert key(secret(1), "protection") != key(secret(2), "protection")
    assert len(key(secret(1), "protection")) == 32
