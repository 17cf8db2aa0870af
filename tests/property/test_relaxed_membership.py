"""Membership on relaxed partitions, whose buckets overlap: the joint model against listing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.methods.bucketized.permuted_release import bucket_release
from anon_core.methods.membership.decisions import UNKNOWN, YES, decide, find_members
from anon_core.methods.membership.membership_probabilities import grade
from anon_core.methods.partition.mondrian_cuts import relaxed_parts
from anon_core.release.release import View
from anon_core.techniques.models.bucket_size import BucketSize
from tests.making import Case
from tests.membership_twin import assigned, union
from tests.often import quarter as times

People = list[tuple[str, ...]]


def shown(view: View) -> list[list[list[tuple[str, ...]]]]:
    """Return what is published: per bucket and block the multiset of values."""
    found = []
    for g in range(len(view.group_size)):
        bucket = []
        for block in view.blocks:
            lines = np.flatnonzero(block.group == g)
            texts = [view.vocabularies[n].texts for n in block.columns]
            values = [
                tuple(t[c] for t, c in zip(texts, block.codes[i], strict=True)) for i in lines
            ]
            counts = block.count[lines].tolist()
            bucket.append([v for v, n in zip(values, counts, strict=True) for _ in range(n)])
        found.append(bucket)
    return found


@st.composite
def drawn(draw: st.DrawFn) -> tuple[People, People]:
    """Draw a public table of a few people, and a part of it."""
    value = st.sampled_from("123")
    public = draw(st.lists(st.tuples(value, value), min_size=6, max_size=9))
    places = st.integers(0, len(public) - 1)
    chosen = draw(st.sets(places, min_size=4, max_size=min(len(public), 7)))
    return public, [public[i] for i in sorted(chosen)]


def case_of(people: People) -> Case:
    return Case(
        columns={"a": [a for a, _ in people], "b": [b for _, b in people]},
        quasi=("a", "b"),
        kinds={"a": "number", "b": "number"},
    )


@pytest.mark.often
def test_joint_membership_on_relaxed_partitions_is_that_of_listing() -> None:
    overlapping = proven = sharper = 0

    @settings(max_examples=times(320))
    @given(drawn=drawn(), seed=st.integers(0, 99))
    def tried(drawn: tuple[People, People], seed: int) -> None:
        nonlocal overlapping, proven, sharper
        public, people = drawn
        problem = case_of(people).problem(population=case_of(public).dataset)
        context = Context(generator=np.random.default_rng(seed))
        buckets = relaxed_parts(problem, [BucketSize(k=2)], context)
        view = bucket_release(problem, buckets, (("a",), ("b",)), ()).view
        assert problem.population is not None
        found = find_members(view, problem.population, Context())
        assert problem.population.codes is not None
        leaves = [problem.population.hierarchies[n].leaves for n in "ab"]
        of_type = {
            tuple(known[c] for known, c in zip(leaves, t, strict=True)): i
            for i, t in enumerate(problem.population.codes.tolist())
        }
        answer = shown(view)
        keyed = [tuple((v,) for v in p) for p in public]
        truth = assigned(keyed, answer)
        assert truth.assignments
        # The thesis' union forgets which value stood where.
        merged, type_of = union(keyed, answer)
        weaker = decide(merged).all_present
        for i, person in enumerate(public):
            t = of_type[person]
            certain = truth.delta_worlds[i] == 1
            assert found.present[t] != UNKNOWN or not found.fits[t]
            assert (found.present[t] == YES) == certain
            by_union = type_of[i] >= 0 and weaker[type_of[i]] == YES
            assert certain or not by_union
            sharper += certain and not by_union
            proven += certain
        fits = Counter(found.published.joint.types.tolist())
        overlapping += any(n > 1 for n in fits.values())

    tried()
    assert overlapping > 20
    assert proven > 20
    assert sharper > 0


@pytest.mark.often
def test_graded_chances_are_those_of_listing_and_brackets_hold_them() -> None:
    open_ones = counted = estimated = 0

    @settings(max_examples=times(160))
    @given(drawn=drawn(), seed=st.integers(0, 99))
    def tried(drawn: tuple[People, People], seed: int) -> None:
        nonlocal open_ones, counted, estimated
        public, people = drawn
        problem = case_of(people).problem(population=case_of(public).dataset)
        population = problem.population
        assert population is not None
        assert population.row_tuple is not None
        context = Context(generator=np.random.default_rng(seed))
        parts = relaxed_parts(problem, [BucketSize(k=2)], context)
        release = bucket_release(problem, parts, (("a",), ("b",)), ())
        published = shown(release.view)
        truth = assigned([tuple((v,) for v in p) for p in public], published).delta_assignments
        found = find_members(release.view, population, Context())
        whole = grade(found, Context(), max_states=10_000)
        late = Context(deadline=0.0)
        hurried = grade(find_members(release.view, population, late), late, max_states=10_000)
        guessed = grade(found, Context(), max_states=1)
        for person, kind in enumerate(population.row_tuple.tolist()):
            exact = float(truth[person])
            assert whole.counted[kind]
            assert whole.chance[kind] == pytest.approx(exact)
            assert whole.sure[kind] == (exact == 1)
            assert whole.never[kind] == (exact == 0)
            for graded in (whole, hurried, guessed):
                assert graded.low[kind] - 1e-9 <= exact <= graded.high[kind] + 1e-9
                assert not graded.sure[kind] or exact == 1
                assert not graded.never[kind] or exact == 0
                assert np.isnan(graded.chance[kind]) == (
                    not graded.counted[kind] and not graded.estimated[kind]
                )
            if guessed.estimated[kind]:
                assert guessed.chance[kind] == pytest.approx(exact, abs=1e-6)  # nothing is thinned
        open_ones += int(hurried.unknown.sum())
        estimated += int(guessed.estimated.sum())
        counted += int((whole.counted & ~whole.sure & ~whole.never).sum())

    tried()
    assert open_ones
    assert counted
    assert estimated
