"""First cuts by counts of single columns: the parts that cuts of all tuples find."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadInput, Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.data.frequency import dense_rank
from anon_core.methods.partition.box_release import hulls
from anon_core.methods.partition.mondrian_cuts import strict_parts
from anon_core.methods.partition.out_of_core_cuts import Classes, classes_in_pieces
from anon_core.release.problem import Problem
from anon_core.release.table_pieces import Counted, Piece, Pieces
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.making import Case
from tests.often import times
from tests.strategies import KINDS, cases

pytestmark = pytest.mark.kernels


class _Held(Pieces):
    """Pieces of a frequency set that is there."""

    def __init__(self, problem: Problem, room: int) -> None:
        self.room, self.quasi = room, len(problem.quasi)
        self.codes, self.count = problem.frequency.codes, problem.frequency.count
        self.keys: list[I64] = []
        self.part: dict[tuple[int, ...], int] = {}
        self.first_cuts = 0
        self.key: I64 | None = None

    def whole(self) -> Piece:
        return self._piece(np.arange(len(self.count)))

    def counted(self, piece: Piece, columns: Sequence[int]) -> Counted:
        keys = self.keys[int(piece.name)]
        own = [self.codes[keys, d] for d in columns]
        rank, first = dense_rank(own, [int(column.max(initial=0)) + 1 for column in own])
        count = np.bincount(rank, weights=self.count[keys]).astype(np.int64)
        codes = np.stack([column[first] for column in own], axis=1)
        shuffled = np.random.default_rng(len(count)).permutation(len(count))
        return Counted(codes=codes[shuffled], count=count[shuffled])

    def cut(self, piece: Piece, column: int, ends: Sequence[tuple[int, int]]) -> list[Piece]:
        keys = self.keys[int(piece.name)]
        code = self.codes[keys, column]
        found = [keys[(low <= code) & (code <= high)] for low, high in ends]
        assert sum(map(len, found)) == len(keys)
        self.first_cuts += 1
        return [self._piece(own) for own in found]

    def settle(self, piece: Piece, codes: I32, part: I64) -> None:
        for own, number in zip(codes.tolist(), part.tolist(), strict=True):
            assert self.part.setdefault(tuple(own), number) == number

    def finish(self, key: I64) -> None:
        self.key = key

    def _piece(self, keys: I64) -> Piece:
        self.keys.append(keys)
        own = self.codes[keys, : self.quasi]
        return Piece(
            name=str(len(self.keys) - 1),
            tuples=len(keys),
            rows=int(self.count[keys].sum()),
            low=own.min(axis=0),
            high=own.max(axis=0),
        )


def _told(problem: Problem, group: I64, low: I32, high: I32) -> list[object]:
    """Return ends, and what is sensitive in them with its rows, of every part."""
    frequency = problem.frequency
    found: list[object] = []
    for part in range(len(low)):
        inside = group == part
        shown: dict[tuple[int, ...], int] = {}
        rows = frequency.codes[inside, len(problem.quasi) :].tolist()
        for own, count in zip(rows, frequency.count[inside].tolist(), strict=True):
            shown[tuple(own)] = shown.get(tuple(own), 0) + count
        found.append((low[part].tolist(), high[part].tolist(), sorted(shown.items())))
    return sorted(found, key=repr)


@pytest.mark.often
@pytest.mark.parametrize("quasi", [1, 3, 6])
def test_parts_and_classes_are_those_of_all_tuples(quasi: int) -> None:
    first_cuts = 0

    @settings(max_examples=times(80))
    @given(
        case=cases(rows=(6, 90), quasi=(quasi, quasi), kinds=KINDS, sensitive="abcd"),
        least=st.integers(2, 4),
        asked=st.sampled_from(["size", "values", "shares"]),
        room=st.integers(1, 30),
        quarters=st.lists(st.integers(1, 7), min_size=quasi, max_size=quasi),
        trees=st.lists(st.booleans(), min_size=quasi, max_size=quasi),
    )
    def tried(
        case: Case, least: int, asked: str, room: int, quarters: list[int], trees: list[bool]
    ) -> None:
        nonlocal first_cuts
        models: list[GroupModel] = [BucketSize(k=least)]
        if asked == "values":
            models.append(DistinctLDiversity(l=2, column="s0"))
        if asked == "shares":
            models.append(FrequencyLDiversity(l=2, column="s1"))
        problem = case.problem()
        by_tree = [a.tree and tree for a, tree in zip(case.attributes, trees, strict=True)]
        weights = np.array(quarters) / 4
        try:
            part = strict_parts(problem, models, Context(), by_tree=by_tree, weights=weights)
        except Infeasible:
            with pytest.raises(Infeasible):
                _cut(problem, _Held(problem, room), models, by_tree, weights)
            return
        whole = run_buckets(problem, part)
        held = _Held(problem, room)
        try:
            found = _cut(problem, held, models, by_tree, weights)
        except BadInput:  # what does not fit cannot be cut, and so is a part
            keys = np.bincount(part[problem.frequency.run])
            assert keys.max() > room
            return
        first_cuts += held.first_cuts
        ends = hulls(problem, whole)
        expected = _told(problem, whole.group, *ends)
        assert _told(found.problem, found.parts.group, found.low, found.high) == expected
        assert held.key is not None
        for own, number in held.part.items():
            key = found.problem.frequency.codes[held.key[number], :quasi]
            assert key.tolist() == found.low[number].tolist()
            assert np.all(found.low[number] <= own)
            assert np.all(own <= found.high[number])

    tried()
    assert first_cuts > 0


def _cut(
    problem: Problem,
    held: _Held,
    models: Sequence[GroupModel],
    by_tree: Sequence[bool],
    weights: npt.NDArray[np.float64],
) -> Classes:
    return classes_in_pieces(
        dataclasses.replace(problem, pieces=held),
        held,
        models,
        Context(),
        by_tree=by_tree,
        weights=weights,
    )
