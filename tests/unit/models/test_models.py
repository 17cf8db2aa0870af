"""Promises: what they need, what they refuse before the search, how they are worded."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel
from anon_core.release.private_reference import reference_of
from anon_core.release.release import raw_view
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.k_k_anonymity import KK
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from anon_core.techniques.models.slicing_l_diversity import SlicingLDiversity
from tests.asked import measured
from tests.making import PATIENTS

PROBLEM = PATIENTS.problem()
CONTEXT = Context()


def test_k_above_the_number_of_rows_is_infeasible() -> None:
    KAnonymity(k=6).check(PROBLEM)
    with pytest.raises(Infeasible) as refused:
        KAnonymity(k=7).check(PROBLEM)
    assert refused.value.best == 6
    assert "needs at least 7 rows; the table has 6" in refused.value.message
    assert "With k = 6, all rows would be alike" in refused.value.remedy


def test_k_anonymity_needs_no_sensitive_column() -> None:
    model = KAnonymity(k=3)
    assert model.needs(PROBLEM) == ()
    assert model.least_distinct(PROBLEM) == {}
    assert model.least_size() == 3
    stats = GroupStats(sizes=np.array([2, 3, 4]), histograms={})
    assert model.per_group(stats, reference_of(PROBLEM)).tolist() == [False, True, True]


def test_the_verdict_of_k_anonymity_on_the_raw_table() -> None:
    (verdict,) = KAnonymity(k=2).measure(*measured(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert (verdict.model, dict(verdict.parameters)) == ("k-anonymity", {"k": 2})
    assert (verdict.state, verdict.holds) == ("broken", False)
    assert (verdict.bound, verdict.reached, verdict.column) == (2, 1, "")
    assert verdict.sentence == "The smallest class has 1 rows; at least 2 were asked for."
    assert verdict.per_class.tolist() == [2, 1, 1, 2]


def test_the_verdict_of_l_diversity_on_the_raw_table() -> None:
    (verdict,) = DistinctLDiversity(l=2).measure(*measured(PROBLEM, raw_view(PROBLEM)), CONTEXT)
    assert (verdict.state, verdict.reached, verdict.column) == ("broken", 1, "illness")
    assert verdict.per_class.tolist() == [2, 1, 1, 2]
    assert "shows 1 values of 'illness'; at least 2" in verdict.sentence


def test_l_above_the_number_of_values_is_infeasible() -> None:
    DistinctLDiversity(l=3).check(PROBLEM)
    with pytest.raises(Infeasible) as refused:
        DistinctLDiversity(l=4).check(PROBLEM)
    assert refused.value.best == 3
    assert "'illness' is impossible: the column has only 3 distinct values" in str(refused.value)


def test_l_diversity_wants_a_sensitive_column() -> None:
    bare = dataclasses.replace(PATIENTS, sensitive=()).problem()
    with pytest.raises(BadPlan, match="needs a sensitive column, and none is marked"):
        DistinctLDiversity().check(bare)
    with pytest.raises(BadPlan) as refused:
        DistinctLDiversity(column="ilness").check(PROBLEM)
    assert "names 'ilness', which is not marked as sensitive" in refused.value.message
    assert "Did you mean 'illness'?" in refused.value.remedy
    with pytest.raises(BadPlan, match="sensitive are no columns"):
        DistinctLDiversity(column="illness").check(bare)


def test_l_diversity_cannot_protect_what_the_attacker_knows() -> None:
    both = dataclasses.replace(PATIENTS, sensitive=("zip", "illness")).problem()
    with pytest.raises(BadPlan, match="cannot protect 'zip': it is also a quasi-identifier"):
        DistinctLDiversity(column="zip").check(both)
    assert DistinctLDiversity().needs(both) == ("illness",)
    only = dataclasses.replace(PATIENTS, sensitive=("zip",)).problem()
    with pytest.raises(BadPlan, match="cannot protect 'zip': it is also a quasi-identifier"):
        DistinctLDiversity().check(only)


def test_every_sensitive_column_by_itself_or_one_by_name() -> None:
    two = dataclasses.replace(PATIENTS, sensitive=("illness", "note")).problem()
    every, one = DistinctLDiversity(l=3), DistinctLDiversity(l=3, column="note")
    assert every.needs(two) == ("illness", "note")
    assert every.least_distinct(two) == {"illness": 3, "note": 3}
    assert one.least_distinct(two) == {"note": 3}
    assert [v.column for v in every.measure(*measured(two, raw_view(two)), CONTEXT)] == [
        "illness",
        "note",
    ]
    group = np.array([0, 0, 0, 1, 1, 1])
    ones = np.ones(6, dtype=np.int64)
    stats = GroupStats(
        sizes=np.array([3, 3]),
        histograms={
            "illness": histogram(group, np.array([0, 0, 1, 0, 1, 2], np.int32), ones, 2, 3),
            "note": histogram(group, np.array([0, 1, 2, 3, 4, 5], np.int32), ones, 2, 6),
        },
    )
    assert every.per_group(stats, reference_of(two)).tolist() == [False, True]
    assert one.per_group(stats, reference_of(two)).tolist() == [True, True]


def test_a_model_asks_for_nothing_unless_it_says_so() -> None:
    class Open(GroupModel):
        name, title, summary = "open", "Open", "Promises nothing."

        def measure(self, view, audience, reference, context):  # type: ignore[no-untyped-def]
            return []

        def per_group(self, stats, reference):  # type: ignore[no-untyped-def]
            return stats.sizes > 0

    model = Open()
    model.check(PROBLEM)
    assert model.needs(PROBLEM) == ()
    assert model.least_size() == 1
    assert model.least_distinct(PROBLEM) == {}
    assert model.logic.monotone_merge
    assert model.logic.monotone_suppress
    account = Optimal().run(PROBLEM, [model], CONTEXT).account
    assert (account.node, account.cost) == ({"age": 0, "zip": 0}, 0)


@pytest.mark.parametrize(
    ("model", "size", "words"),
    [
        (
            KAnonymity(k=3),
            3,
            "Everyone will share their two quasi-identifiers with at least two others.",
        ),
        (BucketSize(k=20), 20, "Every group will have at least 20 rows."),
        (
            DistinctLDiversity(l=2, column="note"),
            0,
            "Every group will show at least two different values of 'note'.",
        ),
        (
            FrequencyLDiversity(l=4),
            0,
            "An attacker who finds a person's group will guess the value of every sensitive column "
            "right at most 1 time in 4.",
        ),
        (
            SlicingLDiversity(l=2),
            0,
            "An attacker who weighs all groups a person may be in will guess the value of every "
            "sensitive column right at most 1 time in 2.",
        ),
        (
            DeltaPresence(delta_min=0.1, delta_max=0.5),
            0,
            "An attacker who asks whether someone in the public table is also in this one will "
            "find a chance of at most 50% and at least 10%.",
        ),
        (KK(k=2), 2, f"(k, k)-anonymity (k = 2): {KK.summary}"),
    ],
    ids=lambda given: given.name if isinstance(given, GroupModel) else "",
)
def test_a_promise_tells_its_size_and_says_what_it_promises(
    model: GroupModel, size: int, words: str
) -> None:
    assert model.in_words(2, "group") == words
    assert model.size_asked == size
    other = model.with_size(7)
    assert other.size_asked == (7 if size else 0)
    assert (other == model) == (not size)
