"""Releases with several link blocks: what an attacker sees, against counting the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.pipeline.publish.published_table import draw_rows
from anon_core.release.grouping import group_runs
from anon_core.release.release import Release, one_block, raw_view, view
from anon_core.release.vocabulary import of_level
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.attacks.journalist import Journalist
from anon_core.techniques.attacks.marketer import Marketer
from anon_core.techniques.attacks.prosecutor import Prosecutor
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.asked import attacked, measured
from tests.making import PATIENTS, Case, by_hand
from tests.often import often, times
from tests.strategies import cases, groups_of, layouts


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Case, list[int]]:
    """Draw a table and a group for each of its rows."""
    case = draw(cases())
    return case, draw(groups_of(len(case.rows)))


def grouped_by_hand(blocks: str) -> tuple[Case, list[int], Release]:
    group = [0, 0, 1, 1, 1, 2]
    return PATIENTS, group, by_hand(PATIENTS.problem(), group, layouts(PATIENTS)[blocks])


def texts(release: Release, columns: Sequence[str], codes: np.ndarray) -> list[tuple[str, ...]]:
    pools = [release.vocabularies[name].texts for name in columns]
    return [tuple(p[c] for p, c in zip(pools, row, strict=True)) for row in codes.tolist()]


def counted(case: Case, group: Sequence[int], columns: Sequence[str]) -> Counter[object]:
    """Count (group, cells of some columns) row by row."""
    cells = list(zip(*(case.column(n) for n in columns), strict=True)) or [()] * len(group)
    return Counter(zip(group, cells, strict=True))


NAMES = ["whole rows", "anatomy", "a block per column", "slicing"]


@pytest.mark.parametrize("blocks", NAMES)
@often(48)
@given(drawn=grouped())
def test_the_view_counts_what_is_published(blocks: str, drawn: tuple[Case, list[int]]) -> None:
    case, group = drawn
    release = by_hand(case.problem(), group, layouts(case)[blocks])
    view = release.view
    assert view.published
    assert view.rows == len(group)
    assert view.group_size.tolist() == [group.count(g) for g in range(max(group) + 1)]
    for block, names in zip(view.blocks, layouts(case)[blocks], strict=True):
        assert (np.diff(block.group) >= 0).all()
        assert set(block.columns) == set(names)
        values = zip(block.group.tolist(), texts(release, block.columns, block.codes), strict=True)
        found = dict(zip(values, block.count.tolist(), strict=True))
        assert found == counted(case, group, block.columns)
        persons = view.persons(block)
        matched = [n for n in block.columns if n in case.quasi]
        assert list(persons.columns) == matched
        values = zip(persons.group.tolist(), texts(release, matched, persons.codes), strict=True)
        assert dict(zip(values, persons.sizes.tolist(), strict=True)) == counted(
            case, group, matched
        )
        for entry, person in enumerate(persons.of_entry.tolist()):
            place = [block.columns.index(n) for n in matched]
            assert block.codes[entry, place].tolist() == persons.codes[person].tolist()
            assert block.group[entry] == persons.group[person]
    with pytest.raises(AnonError, match="Column 'nobody' is not published"):
        view.block_of("nobody")


@pytest.mark.parametrize("blocks", NAMES)
@often(40)
@given(drawn=grouped())
def test_promises_and_attacks_on_blocks(blocks: str, drawn: tuple[Case, list[int]]) -> None:
    case, group = drawn
    release = by_hand(case.problem(), group, layouts(case)[blocks])
    problem, view, context = release.problem, release.view, Context()
    linked = {n: block for block in layouts(case)[blocks] for n in block}
    people: dict[str, list[list[int]]] = {}
    for name in case.sensitive:
        known = [n for n in case.quasi if n in linked[name]]
        rows = list(zip(group, *(case.column(n) for n in known), strict=True))
        people[name] = [
            [i for i, row in enumerate(rows) if row == one] for one in dict.fromkeys(rows)
        ]
    verdicts = DistinctLDiversity(l=2).measure(*measured(problem, view), context)
    assert [v.column for v in verdicts] == list(case.sensitive)
    for verdict in verdicts:
        fewest = naive.fewest_values(people[verdict.column], case.column(verdict.column))
        assert verdict.reached == fewest
        assert verdict.holds == (fewest >= 2)
    for result in Homogeneity().run(*attacked(problem, view), context):
        column = case.column(result.column)
        certain = naive.certain_people(people[result.column], column)
        assert result.succeeded == certain == result.at_risk
        assert result.attempted == result.eligible == len(group)
        shares = [
            max(naive.posterior([column[i] for i in g]).values()) for g in people[result.column]
        ]
        assert result.worst == pytest.approx(float(max(shares)))
        assert sorted(result.per_class.tolist()) == pytest.approx(sorted(map(float, shares)))
    if view.whole_quasi() is None:
        for technique in (Prosecutor(), Marketer()):
            with pytest.raises(AnonError, match="permuted separately"):
                technique.run(*attacked(problem, view), context)
        with pytest.raises(AnonError, match="not defined where quasi-identifiers are permuted"):
            KAnonymity().measure(*measured(problem, view), context)
    else:
        sizes = list(counted(case, group, case.quasi).values())
        (verdict,) = KAnonymity(k=2).measure(*measured(problem, view), context)
        assert verdict.reached == min(sizes)
        # Who knows a person's values does not know the group: equal rows of all groups fit.
        fitting = list(Counter(case.rows).values())
        for technique in (Prosecutor(), Marketer(threshold=0.0)):
            (result,) = technique.run(*attacked(problem, view), context)
            assert result.rate == pytest.approx(len(fitting) / len(group))
            assert result.rate == pytest.approx(result.raw)
        (result,) = Prosecutor().run(*attacked(problem, view), context)
        assert result.worst == 1 / min(fitting)
        assert result.at_risk == sum(s for s in fitting if 1 / s > 0.2)


def test_a_journalist_needs_whole_rows_too() -> None:
    blocks = layouts(PATIENTS)["a block per column"]
    release = by_hand(PATIENTS.problem(population=40), [0] * 6, blocks)
    with pytest.raises(AnonError, match="permuted separately"):
        Journalist().run(*attacked(release.problem, release.view), Context())


@pytest.mark.often
@pytest.mark.parametrize("blocks", NAMES)
def test_redrawing_the_permutation_changes_rows_but_nothing_that_is_known(blocks: str) -> None:
    moved = 0

    @settings(max_examples=times(40))
    @given(drawn=grouped())
    def tried(drawn: tuple[Case, list[int]]) -> None:
        nonlocal moved
        case, group = drawn
        release = by_hand(case.problem(), group, layouts(case)[blocks])
        columns = (*case.quasi, *case.sensitive)
        before = release.view
        drafts: list[list[tuple[str, ...]]] = []
        for draw in (1, 2):
            made = draw_rows(release, np.random.default_rng(draw))
            codes, member = made.codes, made.member
            # Which of several equal rows goes into which group is drawn as well.
            placed = release.grouping.group[member].tolist()
            assert Counter(placed) == Counter(group)
            rows = texts(release, columns, np.stack([codes[n] for n in columns], axis=1))
            for block in layouts(case)[blocks]:
                place = [columns.index(n) for n in block]
                shown = Counter(
                    (g, tuple(row[p] for p in place)) for g, row in zip(placed, rows, strict=True)
                )
                assert shown == counted(case, group, block)
            drafts.append(rows)
        again = by_hand(release.problem, group, layouts(case)[blocks]).view
        for one, other in zip(before.blocks, again.blocks, strict=True):
            assert np.array_equal(one.codes, other.codes)
            assert np.array_equal(one.count, other.count)
        moved += drafts[0] != drafts[1]

    tried()
    assert moved == 0 if blocks == "whole rows" else moved > 3


def test_the_same_generator_draws_the_same_rows() -> None:
    case, _, release = grouped_by_hand("a block per column")
    drafts = [draw_rows(release, np.random.default_rng(5)).codes for _ in range(2)]
    for name in case.quasi:
        assert np.array_equal(drafts[0][name], drafts[1][name])


def test_unpublished_groups_are_told_apart_by_their_cells_only() -> None:
    """Two groups that say the same are one class to an attacker."""
    case = Case(
        columns={"q": ["a", "a", "a", "b"], "s": list("uvww")},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text"},
    )
    problem, blocks = case.problem(), (("q", "s"),)
    hidden = by_hand(problem, [0, 1, 1, 2], blocks, published=False).view
    assert sorted(hidden.group_size.tolist()) == [1, 3]
    shown = by_hand(problem, [0, 1, 1, 2], blocks).view
    assert sorted(shown.group_size.tolist()) == [1, 1, 2]
    (verdict,) = KAnonymity(k=2).measure(*measured(problem, hidden), Context())
    assert verdict.per_class.tolist() == [3.0, 1.0]
    assert verdict.state == "broken"


def test_removed_rows_are_not_seen() -> None:
    case, group, _ = grouped_by_hand("whole rows")
    gone = [-1 if i % 3 == 0 else g for i, g in enumerate(group)]
    kept = [g for g in gone if g >= 0]
    release = by_hand(case.problem(), gone, layouts(case)["anatomy"])
    assert release.suppressed == len(group) - len(kept)
    assert release.view.rows == len(kept)
    made = draw_rows(release, np.random.default_rng(0))
    assert len(made.member) == len(kept)
    assert {len(c) for c in made.codes.values()} == {len(kept)}


def test_nothing_published_is_no_success_for_anyone() -> None:
    case, group, _ = grouped_by_hand("whole rows")
    release = by_hand(case.problem(population=500), [-1] * len(group), layouts(case)["whole rows"])
    view, context = release.view, Context()
    for verdict in (
        *KAnonymity(k=2).measure(*measured(release.problem, view), context),
        *DistinctLDiversity(l=2).measure(*measured(release.problem, view), context),
    ):
        assert verdict.holds
        assert verdict.sentence == "No row is published."
    for attack in (Prosecutor(), Journalist(), Marketer(), Homogeneity()):
        for result in attack.run(*attacked(release.problem, view), context):
            assert (result.eligible, result.succeeded, result.rate) == (0, 0.0, 0.0)
            assert (result.worst, result.at_risk) == (0.0, 0)


@often(60)
@given(case=cases())
def test_the_raw_view_is_that_of_a_release_that_changes_nothing(case: Case) -> None:
    problem = case.problem()
    frequency = problem.frequency
    runs = np.arange(len(frequency.run_count), dtype=np.int64)
    exact = {name: of_level(problem.hierarchies[name], 0) for name in problem.quasi}
    cells = {name: frequency.run_codes[:, d] for d, name in enumerate(problem.quasi)}
    made = view(one_block(problem, group_runs(frequency, runs, len(runs)), exact, cells))
    raw = raw_view(problem)
    (own,), (other,) = raw.blocks, made.blocks
    assert own.columns == other.columns
    assert raw.group_size.tolist() == made.group_size.tolist()
    assert {n: v.texts for n, v in raw.vocabularies.items()} == {
        n: v.texts for n, v in made.vocabularies.items()
    }
    for name in ("group", "codes", "count"):
        assert getattr(own, name).tolist() == getattr(other, name).tolist()
    mine, theirs = raw.persons(own), made.persons(other)
    assert mine.columns == theirs.columns
    for name in ("of_entry", "sizes", "group", "codes"):
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()
