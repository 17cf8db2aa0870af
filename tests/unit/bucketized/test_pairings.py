"""Attribute inference and fake tuples: golden values, and the listing with plain loops."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.methods.bucketized.slice_chances import pairings
from anon_core.release.knowledge.audience import audience_of
from anon_core.techniques.attacks.attribute_inference import AttributeInference
from anon_core.techniques.attacks.fake_tuples import FakeTuples
from tests.asked import attacked
from tests.chances_twin import lemma_value
from tests.golden.test_permutation_family import GROUPS, LI
from tests.making import Case, by_hand
from tests.often import times
from tests.slicing_twin import SlicedBucket, matching_buckets
from tests.strategies import blocks_of, cases, groups_of

FIGURE_2_1 = Case(
    columns={
        "Zip": ["5370", "5370", "5370", "5371", "5371", "5372", "5372", "5373"],
        "Age": ["25", "25", "27", "27", "27", "25", "25", "25"],
        "Salary": ["30k", "15k", "30k", "40k", "42k", "25k", "45k", "9k"],
    },
    quasi=("Zip", "Age"),
    sensitive=("Salary",),
    kinds={"Zip": "number", "Age": "number", "Salary": "text"},
)


def test_t21_fake_tuples_of_figure_3_9() -> None:
    groups = [0, 0, 0, 0, 1, 1, 1, 1]
    release = by_hand(FIGURE_2_1.problem(), groups, (("Zip",), ("Age", "Salary")))
    (found,) = FakeTuples().run(*attacked(release.problem, release.view), Context())
    assert found.sentence.startswith(
        "Of the 20 combinations that the groups could hold, 8 are in the table and 12 are fake: "
        "taking one for real is right 40.0% of the time. "
    )
    assert "A real one fits 1 group on average, a fake one 1 group." in found.sentence
    assert (found.rate, found.succeeded, found.raw) == (8 / 20, 3.2, 1.0)
    answer = pairings(release.view)
    assert answer is not None
    listed = answer.listed(release.view, release.problem.frequency)
    assert (len(listed.original), len(listed.fake)) == (8, 12)
    assert Counter(listed.original.tolist()) == {1: 8}
    assert Counter(listed.fake.tolist()) == {1: 12}


def test_p08_attribute_inference_and_p09_the_lemma_value() -> None:
    release = by_hand(LI.problem(), GROUPS, (("Age",), ("Sex",), ("Disease",)))
    (found,) = AttributeInference().run(*attacked(release.problem, release.view), Context())
    # Five and four rows with different diseases: 1/5 and 1/4, whatever was permuted.
    assert found.per_class.tolist() == [0.2, 0.25]
    assert (found.succeeded, found.worst, found.at_risk) == (2.0, 0.25, 0)
    assert found.raw == 1.0
    (fake,) = FakeTuples().run(*attacked(release.problem, release.view), Context())
    listed = pairings(release.view).listed(release.view, release.problem.frequency)  # type: ignore[union-attr]
    sexes = [
        Counter(s for s, g in zip(LI.columns["Sex"], GROUPS, strict=True) if g == n) for n in (0, 1)
    ]
    own = [
        lemma_value([1, sexes[g][s]], sum(sexes[g].values()))
        for s, g in zip(LI.columns["Sex"], GROUPS, strict=True)
    ]
    assert float(own[0].fixed_row) == 2 / 25  # Bob
    assert listed.lemma == pytest.approx(float(max(o.fixed_row for o in own)))
    assert listed.expected == pytest.approx(float(sum(o.expected for o in own)) / 9)
    assert "no bound on presence" in fake.sentence


@pytest.mark.often
def test_the_listing_is_that_of_plain_loops() -> None:
    checked = several = 0

    @settings(max_examples=times(160))
    @given(case=cases(rows=(4, 19), quasi=(2, 2)), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        nonlocal checked, several
        rows = len(case.rows)
        group, blocks = data.draw(groups_of(rows, most=4)), data.draw(blocks_of(case))
        release = by_hand(case.problem(), group, blocks)
        answer = pairings(release.view)
        if len(blocks) < 2:
            assert answer is None
            assert "rows stay whole" in FakeTuples().reason_not_applicable(
                release.view, audience_of(release.problem)
            )
            return
        assert answer is not None
        lines = [list(zip(*(case.column(n) for n in block), strict=True)) for block in blocks]
        buckets = [
            SlicedBucket(
                columns=tuple(
                    tuple(line[i] for i in range(rows) if group[i] == g) for line in lines
                )
            )
            for g in range(max(group) + 1)
        ]
        expected = matching_buckets(buckets, list(zip(*lines, strict=True)))
        listed = answer.listed(release.view, release.problem.frequency)
        assert Counter(listed.original.tolist()) == expected.original
        assert Counter(listed.fake.tolist()) == expected.fake
        assert answer.total == sum(len(list(product(*map(set, b.columns)))) for b in buckets)
        several += any(n > 1 for n in expected.original)
        checked += 1
        (attack,) = FakeTuples().run(*attacked(release.problem, release.view), Context())
        assert attack.rate <= attack.worst <= 1
        assert attack.rate == expected.originals / (expected.originals + expected.fakes)

    tried()
    assert checked > 12
    assert several > 5


def test_too_many_combinations_are_not_listed_and_the_reason_is_told() -> None:
    release = by_hand(FIGURE_2_1.problem(), [0] * 8, (("Zip",), ("Age",), ("Salary",)))
    assert FakeTuples().reason_not_applicable(release.view, audience_of(release.problem)) == ""
    reason = FakeTuples(most=50).reason_not_applicable(release.view, audience_of(release.problem))
    assert reason == "The groups could hold 56 combinations; 50 are listed at most."
    with pytest.raises(AnonError, match="56 combinations"):
        FakeTuples(most=50).run(*attacked(release.problem, release.view), Context())
