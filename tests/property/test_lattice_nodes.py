"""Classes at lattice nodes: roll-up against grouping from the table; models against loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.methods.lattice.lattice import Lattice, layout_of
from anon_core.release.grouping import Grouping
from anon_core.release.private_reference import reference_of
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests import naive
from tests.making import PATIENTS, Case, random_case
from tests.often import often, times
from tests.strategies import cases, cells_of


@pytest.mark.often
@pytest.mark.parametrize("stops", [1, 4, 64])
def test_every_node_in_any_order_has_the_classes_of_its_definition(
    stops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.lattice._STOPS", stops)

    @settings(max_examples=times(120))
    @given(
        case=cases(),
        sensitive=st.sampled_from([(), ("s0",), ("s0", "s1")]),
        data=st.data(),
    )
    def tried(case: Case, sensitive: tuple[str, ...], data: st.DataObject) -> None:
        rows, attributes = case.rows, case.attributes
        lattice = Lattice(case.problem(), sensitive)
        nodes = list(lattice.nodes())
        assert nodes == naive.every_node(attributes)
        assert lattice.size == len(nodes)
        for node in data.draw(st.permutations(nodes)) * 2:
            classes, stats = lattice.stats(node)
            cells = [lattice.field(classes, d).tolist() for d in range(len(node))]
            texts = [
                tuple(
                    a.labels[a.leaves[leaf]][n]
                    for a, leaf, n in zip(attributes, row, node, strict=True)
                )
                for row in zip(*cells, strict=True)
            ]
            found = naive.classes(rows, attributes, node)
            assert dict(zip(texts, stats.sizes.tolist(), strict=True)) == {
                c: len(m) for c, m in found.items()
            }
            assert len(texts) == len(found)
            for name in sensitive:
                column = case.column(name)
                most = {c: max(Counter(column[i] for i in m).values()) for c, m in found.items()}
                distinct = {c: len({column[i] for i in m}) for c, m in found.items()}
                histogram = stats.histograms[name]
                assert dict(zip(texts, histogram.most.tolist(), strict=True)) == most
                assert dict(zip(texts, histogram.distinct.tolist(), strict=True)) == distinct
            member, first = lattice.runs_at(node)
            assert len(first) == len(found)
            assert member[first].tolist() == list(range(len(first)))

    tried()


def test_wide_keys_take_several_words() -> None:
    layout = layout_of([2**20, 2**20, 2**20, 2**20, 2, 1, 2**41])
    assert layout.words == 3
    assert layout.word.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert layout.shift.tolist() == [0, 20, 40, 0, 20, 21, 0]
    assert layout.mask.tolist() == [2**20 - 1] * 4 + [1, 1, 2**41 - 1]


def test_a_lattice_of_many_columns_needs_two_words() -> None:
    rng = np.random.default_rng(59)
    case = random_case(rng, rows=25, quasi=48, kinds=("ordered",))
    lattice = Lattice(case.problem())
    assert lattice.at((0,) * 48).words.shape[1] == 2
    for _ in range(20):
        node = tuple(int(rng.integers(0, n)) for n in lattice.shape)
        sizes = sorted(lattice.at(node).count.tolist())
        found = naive.classes(case.rows, case.attributes, node)
        assert sizes == sorted(len(m) for m in found.values())


@pytest.mark.parametrize("stops", [1, 4])
@pytest.mark.parametrize(("sets", "room"), [(3, 10**6), (500, 90), (500, 40), (4, 120)])
def test_kept_class_sets_are_bounded(
    sets: int, room: int, stops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_core.methods.lattice.lattice._STOPS", stops)
    monkeypatch.setattr("anon_core.methods.lattice.lattice._SNAPSHOTS", sets)
    monkeypatch.setattr("anon_core.methods.lattice.lattice._ROOM", room)
    rng = np.random.default_rng(61)
    case = random_case(rng, rows=60, quasi=4, kinds=("number", "ordered"))
    lattice = Lattice(case.problem())
    for node in [*lattice.nodes(), *lattice.nodes()]:
        found = naive.classes(case.rows, case.attributes, node)
        assert sorted(lattice.at(node).count) == sorted(len(m) for m in found.values())
        kept = lattice._store
        assert len(kept) <= sets
        assert sum(len(c.count) for c in kept.values()) <= max(room, len(set(case.rows)))


@often(80)
@given(data=st.data())
def test_merging_groups_or_removing_some_breaks_no_promise(data: st.DataObject) -> None:
    groups, values, rows = 12, 4, data.draw(st.integers(1, 80))
    group = np.array(data.draw(cells_of(list(range(groups)), rows)))
    value = np.array(data.draw(cells_of(list(range(values)), rows)), dtype=np.int32)

    def stats(group: npt.NDArray[np.int64], groups: int) -> GroupStats:
        ones = np.ones(len(group), dtype=np.int64)
        histograms = histogram(group, value[: len(group)], ones, groups, values)
        return GroupStats(sizes=np.bincount(group, minlength=groups), histograms={"s": histograms})

    models = [KAnonymity(k=5), DistinctLDiversity(l=3)]
    reference = reference_of(PATIENTS.problem())  # these promises take nothing from it
    before = [m.per_group(stats(group, groups), reference) for m in models]
    # Which rows of which value: the histogram counts them as a loop does.
    histograms = stats(group, groups).histograms["s"]
    assert histograms.distinct.tolist() == [
        len(set(value[group == g].tolist())) for g in range(groups)
    ]
    assert histograms.most.tolist() == [
        int(np.bincount(value[group == g], minlength=1).max()) for g in range(groups)
    ]
    target = np.array(data.draw(cells_of(list(range(5)), groups)))
    merged = [m.per_group(stats(target[group], 5), reference) for m in models]
    for one, other, model in zip(before, merged, models, strict=True):
        assert model.logic.monotone_merge
        # A merged group holds as soon as one of its parts does.
        assert not np.any(one & ~other[target])
    # Renumbering the groups renumbers the verdicts, and nothing else.
    shuffle = np.array(data.draw(st.permutations(range(groups))))
    for one, model in zip(before, models, strict=True):
        again = model.per_group(stats(shuffle[group], groups), reference)
        assert again[shuffle].tolist() == one.tolist()


@often(100)
@given(case=cases(quasi=(1, 1), missing=False), data=st.data())
def test_rows_that_part_are_all_placed_once_and_by_chance(case: Case, data: st.DataObject) -> None:
    frequency = case.problem().frequency
    key: list[int] = []
    member: list[int] = []
    count: list[int] = []
    for k, rows in enumerate(frequency.count.tolist()):
        cut = data.draw(st.integers(0, rows))
        for part in (cut, rows - cut):
            if part:
                key.append(k)
                member.append(data.draw(st.integers(-1, 2)))
                count.append(part)
    grouping = Grouping(
        key=np.array(key),
        member=np.array(member),
        count=np.array(count),
        group=np.arange(3),
    )
    placed = grouping.of_rows(frequency, np.random.default_rng(1))
    expected = Counter()  # type: ignore[var-annotated]
    for k, c, n in zip(key, member, count, strict=True):
        expected[k, c] += n
    assert Counter(zip(frequency.row_key.tolist(), placed.tolist(), strict=True)) == expected
    assert grouping.removed == int(np.count_nonzero(placed < 0))
    assert grouping.sizes.tolist() == [int(np.count_nonzero(placed == c)) for c in range(3)]
    again = grouping.of_rows(frequency, np.random.default_rng(1))
    assert np.array_equal(again, placed)
