"""Classes at lattice nodes: roll-up against grouping from the table; models against loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest

from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.data.frequency import dense_rank
from anon_core.lattice.lattice import Lattice, layout_of
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.l_diversity import DistinctLDiversity
from anon_core.release.grouping import Grouping
from anon_core.release.reference import reference_of
from tests import naive
from tests.making import PATIENTS, random_case


@pytest.mark.parametrize("stops", [1, 4, 64])
def test_every_node_in_any_order_has_the_classes_of_its_definition(
    stops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_core.lattice.lattice._STOPS", stops)
    rng = np.random.default_rng(53)
    for _ in range(40):
        case = random_case(rng)
        rows, attributes = case.rows, case.attributes
        sensitive = [(), ("s0",), ("s0", "s1")][int(rng.integers(0, 3))]
        lattice = Lattice(case.problem(), sensitive)
        nodes = list(lattice.nodes())
        assert nodes == naive.every_node(attributes)
        assert lattice.size == len(nodes)
        for place in rng.permutation(len(nodes)).tolist() * 2:
            node = nodes[place]
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
                told = stats.histograms[name]
                assert dict(zip(texts, told.most.tolist(), strict=True)) == most
                assert dict(zip(texts, told.distinct.tolist(), strict=True)) == distinct
            member, first = lattice.runs_at(node)
            assert len(first) == len(found)
            assert member[first].tolist() == list(range(len(first)))


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
    monkeypatch.setattr("anon_core.lattice.lattice._STOPS", stops)
    monkeypatch.setattr("anon_core.lattice.lattice._SNAPSHOTS", sets)
    monkeypatch.setattr("anon_core.lattice.lattice._ROOM", room)
    rng = np.random.default_rng(61)
    case = random_case(rng, rows=60, quasi=4, kinds=("number", "ordered"))
    lattice = Lattice(case.problem())
    for node in [*lattice.nodes(), *lattice.nodes()]:
        found = naive.classes(case.rows, case.attributes, node)
        assert sorted(lattice.at(node).count) == sorted(len(m) for m in found.values())
        kept = lattice._store
        assert len(kept) <= sets
        assert sum(len(c.count) for c in kept.values()) <= max(room, len(set(case.rows)))


def codes_of(rng: np.random.Generator, rows: int, sizes: list[int]) -> list[npt.NDArray[np.int32]]:
    return [rng.integers(0, size, rows).astype(np.int32) for size in sizes]


@pytest.mark.parametrize(
    "sizes", [[1], [3, 2], [2**31 - 1, 2**31 - 1, 5], [2**20, 2**20, 2**20, 2**20, 3]]
)
def test_ranks_are_those_of_sorted_distinct_rows(sizes: list[int]) -> None:
    rng = np.random.default_rng([67, len(sizes)])
    for rows in (1, 2, 50):
        columns = codes_of(rng, rows, sizes)
        doubled = [np.concatenate([c, c[::-1]]) for c in columns]
        rank, first = dense_rank(doubled, sizes)
        table = list(zip(*(c.tolist() for c in doubled), strict=True))
        distinct = sorted(set(table))
        assert [distinct[r] for r in rank.tolist()] == table
        assert [table[f] for f in first.tolist()] == distinct


def test_ranks_of_nothing() -> None:
    rank, first = dense_rank([], [])
    assert (len(rank), len(first)) == (0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_merging_groups_or_removing_some_breaks_no_promise(seed: int) -> None:
    rng = np.random.default_rng([71, seed])
    groups, values = 12, 4
    group = rng.integers(0, groups, 80)
    value = rng.integers(0, values, 80).astype(np.int32)

    def stats(group: npt.NDArray[np.int64], groups: int) -> GroupStats:
        ones = np.ones(len(group), dtype=np.int64)
        told = histogram(group, value[: len(group)], ones, groups, values)
        return GroupStats(sizes=np.bincount(group, minlength=groups), histograms={"s": told})

    models = [KAnonymity(k=5), DistinctLDiversity(l=3)]
    reference = reference_of(PATIENTS.problem())  # these promises take nothing from it
    before = [m.per_group(stats(group, groups), reference) for m in models]
    # Which rows of which value: the histogram counts them as a loop does.
    told = stats(group, groups).histograms["s"]
    assert told.distinct.tolist() == [len(set(value[group == g].tolist())) for g in range(groups)]
    assert told.most.tolist() == [
        int(np.bincount(value[group == g], minlength=1).max()) for g in range(groups)
    ]
    target = rng.integers(0, 5, groups)
    merged = [m.per_group(stats(target[group], 5), reference) for m in models]
    for one, other, model in zip(before, merged, models, strict=True):
        assert model.monotone_merge
        # A merged group holds as soon as one of its parts does.
        assert not np.any(one & ~other[target])
    # Renumbering the groups renumbers the verdicts, and nothing else.
    shuffle = rng.permutation(groups)
    for one, model in zip(before, models, strict=True):
        again = model.per_group(stats(shuffle[group], groups), reference)
        assert again[shuffle].tolist() == one.tolist()


def test_rows_that_part_are_all_placed_once_and_by_chance() -> None:
    rng = np.random.default_rng(73)
    for _ in range(40):
        case = random_case(rng, rows=30, quasi=1, missing=False)
        frequency = case.problem().frequency
        key: list[int] = []
        member: list[int] = []
        count: list[int] = []
        for k, rows in enumerate(frequency.count.tolist()):
            cut = int(rng.integers(0, rows + 1))
            for part, c in (
                (cut, int(rng.integers(-1, 3))),
                (rows - cut, int(rng.integers(-1, 3))),
            ):
                if part or not rows:
                    key.append(k)
                    member.append(c)
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
