"""Steps are reported to a listener, and what is found does not depend on whether there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anon_core.base.context import Context, Event, part_of
from anon_core.base.secret import stream
from anon_core.methods.partition.mondrian_cuts import relaxed_parts, strict_parts
from anon_core.methods.partition.parallel_split import GRAIN
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.slicing_l_diversity import SlicingLDiversity
from anon_core.techniques.partitioners.anatomize import Anatomize
from anon_core.techniques.partitioners.tuple_partition import diverse_buckets
from tests.making import PATIENTS, Case, random_case


def heard() -> tuple[Context, list[Event]]:
    """Return a context with a listener, and what it hears; its chance is always the same."""
    events: list[Event] = []
    return Context(generator=stream(7, "test"), listener=events.append), events


def cuts(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind == "cut"]


def quiet(context: Context) -> Context:
    return replace(context, generator=stream(7, "test"), listener=None)


def test_where_nobody_listens_nothing_happens() -> None:
    context = Context()
    assert not context.listening
    context.event("cut", pieces=object())


def test_a_listener_is_told_of_a_step_with_its_facts() -> None:
    context, events = heard()
    assert context.listening
    part_of(context, 0.2, 0.4).event("bucket", number=3)
    assert events == [Event(kind="bucket", facts={"number": 3})]


@pytest.mark.parametrize("by_tree", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_cuts_lead_from_all_tuples_to_the_parts(seed: int, by_tree: bool) -> None:
    case = random_case(np.random.default_rng([229, seed]), rows=60, quasi=3)
    problem, models = case.problem(), [KAnonymity(k=2 + seed)]
    trees = [by_tree] * len(problem.quasi)
    context, events = heard()
    found = strict_parts(problem, models, context, by_tree=trees)
    assert found.tolist() == strict_parts(problem, models, quiet(context), by_tree=trees).tolist()
    parts = {frozenset(range(len(found)))}
    assert {event.kind for event in events} <= {"tuples", "part", "cut"}
    matching = [event for event in events if event.kind == "part"]
    assert sum(t["cut"] for e in matching for t in e.facts["tries"]) == len(cuts(events))  # type: ignore[attr-defined]
    for event in cuts(events):
        pieces = [frozenset(piece.tolist()) for piece in event.facts["pieces"]]  # type: ignore[attr-defined]
        assert len(pieces) > 1
        parts.remove(frozenset().union(*pieces))  # was a part, whole
        assert sum(len(piece) for piece in pieces) == len(frozenset().union(*pieces))
        parts |= set(pieces)
    assert parts == {frozenset(np.flatnonzero(found == p).tolist()) for p in np.unique(found)}


def test_a_table_cut_on_all_cores_is_cut_the_same_where_somebody_listens() -> None:
    rng = np.random.default_rng(233)
    numbers = {f"q{d}": rng.integers(0, 400, 2 * GRAIN).astype(str).tolist() for d in range(2)}
    case = Case(columns=numbers, quasi=("q0", "q1"), kinds={"q0": "number", "q1": "number"})  # type: ignore[arg-type]
    context, events = heard()
    assert len(case.problem().frequency.count) > GRAIN
    found = strict_parts(case.problem(), [KAnonymity(k=50)], context)
    assert found.tolist() == strict_parts(case.problem(), [KAnonymity(k=50)], Context()).tolist()
    assert len(cuts(events)) == len(np.unique(found)) - 1  # all columns are cut in two


def test_relaxed_cuts_are_told_too() -> None:
    context, events = heard()
    found = relaxed_parts(PATIENTS.problem(), [KAnonymity(k=2)], context)
    again = relaxed_parts(PATIENTS.problem(), [KAnonymity(k=2)], quiet(context))
    assert found.group.tolist() == again.group.tolist()
    assert len(cuts(events)) == len(np.unique(found.group)) - 1


@pytest.mark.parametrize("search", [Optimal(), Optimal(max_suppression=0.3), Samarati()])
def test_nodes_are_told_in_the_order_they_were_looked_at(search: Optimal | Samarati) -> None:
    problem = random_case(np.random.default_rng(239), rows=40, quasi=3, kinds=("text",)).problem()
    context, events = heard()
    account = search.run(problem, [KAnonymity(k=3)], context).account
    matching = [event.facts for event in events if event.kind == "node"]
    assert {event.kind for event in events} <= {"node", "height"}
    assert {facts["levels"]: facts["removed"] for facts in matching} == dict(account.looked)
    assert list(dict.fromkeys(facts["levels"] for facts in matching)) == list(account.looked)
    budget = int(search.max_suppression * problem.rows + 1e-9)
    for facts in matching:
        removed = int(str(facts["removed"]))
        assert facts["holds"] == (removed <= budget and removed < problem.rows)
    alone = search.run(problem, [KAnonymity(k=3)], quiet(context)).account
    assert (alone.node, alone.checked, alone.looked) == (
        account.node,
        account.checked,
        account.looked,
    )


def test_buckets_are_told_as_they_are_made() -> None:
    case = Case(
        columns={"q": [str(i) for i in range(11)], "s": list("aaaabbbccdd")},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "number"},
    )
    problem, models = case.problem(), [FrequencyLDiversity(l=2)]
    context, events = heard()
    found = Anatomize().split(problem, models, context)
    alone = Anatomize().split(problem, models, quiet(context))
    assert (found.key.tolist(), found.group.tolist()) == (alone.key.tolist(), alone.group.tolist())
    assert [event.kind for event in events] == ["bucket"] * 5
    value = problem.frequency.codes[:, problem.frequency.columns.index("s")]
    for number, event in enumerate(events):
        keys, values = event.facts["keys"], event.facts["values"]
        assert event.facts["number"] == number
        assert len(set(values)) == len(values) == 2  # type: ignore[arg-type]
        assert sorted(value[keys].tolist()) == sorted(values)  # type: ignore[call-overload]
        assert set(keys) <= set(found.key[found.group == number].tolist())  # type: ignore[call-overload]


def test_buckets_are_the_same_whether_cuts_are_told_one_by_one_or_not() -> None:
    case = random_case(np.random.default_rng([16, 1]), rows=40, quasi=2)
    problem = case.problem()
    sensitive = problem.sensitive[0]
    blocks = [(name,) for name in (*problem.quasi, *problem.sensitive)]
    models = [SlicingLDiversity(l=2, column=sensitive)]
    context, events = heard()
    found = diverse_buckets(problem, models, blocks, context)
    alone = diverse_buckets(problem, models, blocks, quiet(context))
    assert found.key.tolist() == alone.key.tolist()
    assert found.group.tolist() == alone.group.tolist()
    parts = {frozenset(range(problem.rows))}
    for event in cuts(events):
        pieces = [frozenset(piece.tolist()) for piece in event.facts["pieces"]]  # type: ignore[attr-defined]
        parts.remove(frozenset().union(*pieces))
        parts.update(pieces)
    assert len(parts) == int(found.group.max()) + 1 > 1
