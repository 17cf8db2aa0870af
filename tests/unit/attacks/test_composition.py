"""Two releases together: the worked example, and every world of small cases by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadInput
from anon_core.data.hierarchy import from_rows
from anon_core.data.table import Dataset
from anon_core.methods.matching.composition import Classes
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.knowledge.earlier_release import Overlap, encode_earlier
from anon_core.release.problem import Problem
from anon_core.techniques.attacks.composition import Composition
from anon_core.techniques.attacks.correspondence import rows_left
from tests.making import Case, by_hand

Groups = Sequence[int]


def after_release(case: Case, groups: Groups, people: Overlap = "all") -> Problem:
    """Return a table next to an earlier release of it: the value sets of groups of its rows."""
    names = case.column("who")
    sets = {
        g: "{" + ", ".join(sorted({n for n, h in zip(names, groups, strict=True) if h == g})) + "}"
        for g in set(groups)
    }
    frame = pd.DataFrame({"who": [sets[g] for g in groups], "s": case.column("s")}, dtype=object)
    problem = case.problem()
    earlier = encode_earlier(
        Dataset.from_frame(frame), problem.dataset, problem.roles, problem.hierarchies, people
    )
    return replace(problem, earlier=earlier)


def found(problem: Problem, groups: Groups, *, together: bool = False) -> AttackResult:
    release = by_hand(problem, groups, (("who",), ("s",)))
    attack = Composition(together=together)
    assert not attack.reason_not_applicable(release.view, audience_of(problem))
    (one,) = attack.run(release.view, audience_of(problem), truth_of(problem, release), Context())
    return one


def known(result: AttackResult) -> list[object]:
    return [row["people certain"] for row in result.details[0].rows][:4]


def people(names: str, values: str) -> Case:
    columns = {"who": list(names), "s": list(values)}
    return Case(
        columns=columns, quasi=("who",), sensitive=("s",), kinds=dict.fromkeys(columns, "text")
    )


def test_the_worked_example() -> None:
    """Four people in two releases; none alone, two intersected, all four where all are weighed."""
    problem = after_release(people("PQRT", "baac"), [0, 1, 0, 1])
    assert known(found(problem, [0, 0, 1, 1])) == [0, 0, 2, 2]
    assert known(found(problem, [0, 0, 1, 1], together=True)) == [0, 0, 4, 4]


def test_where_nobody_says_who_stood_in_both_it_is_a_bracket() -> None:
    result = found(after_release(people("PQRT", "baac"), [0, 1, 0, 1], "unknown"), [0, 0, 1, 1])
    assert result.upper_bound
    assert result.interval == (0.0, 0.5)
    assert result.rate == 0.5
    assert result.worst == 1.0


def test_every_world_of_small_cases() -> None:
    """What is certain in all worlds is what the programs say, and nothing else."""
    rng = np.random.default_rng(1401890)
    sharper = 0
    for _ in range(40):
        size = int(rng.integers(3, 7))
        # Two people may be alike.
        names = "".join(rng.choice(list("PQRSTU"), size))
        case = people(names, "".join(rng.choice(list("abc"), size)))
        of_name = {name: rng.integers(0, 2, 2).tolist() for name in sorted(set(names))}
        here, there = ([of_name[n][i] for n in names] for i in (0, 1))
        here = np.unique(here, return_inverse=True)[1].tolist()
        true = case.column("s")
        possible: list[set[str]] = [set() for _ in names]
        for world in product("abc", repeat=size):
            same = all(
                Counter(zip(groups, world, strict=True)) == Counter(zip(groups, true, strict=True))
                for groups in (here, there)
            )
            if same:
                for who, name in enumerate(names):
                    possible[who] |= {w for w, n in zip(world, names, strict=True) if n == name}
        allowed = [
            {true[j] for j in range(size) if here[j] == here[i]}
            & {true[j] for j in range(size) if there[j] == there[i]}
            for i in range(size)
        ]
        problem = after_release(case, there)
        for together, left in ((False, allowed), (True, possible)):
            result = found(problem, here, together=together)
            certain = sum(one == {own} for one, own in zip(left, true, strict=True))
            assert (result.succeeded, result.undecided) == (certain, 0)
        sharper += allowed != possible
    assert sharper


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("[20, 29]", [True, True, False]),
        ("≥30", [False, False, True]),
        ("21", [True, False, False]),
        ("*", [True, True, True]),
        ("young", [True, True, False]),
        ("25", [False, False, False]),
    ],
)
def test_cells_of_the_earlier_release_are_read_as_they_are_published(
    text: str, covered: list[bool]
) -> None:
    case = Case(
        columns={"age": ["21", "28", "34"], "s": ["a", "b", "c"]},
        quasi=("age",),
        sensitive=("s",),
        kinds={"age": "number", "s": "text"},
        levels={"age": [("21", "young", "*"), ("28", "young", "*"), ("34", "old", "*")]},
    )
    problem = case.problem()
    built = {
        **problem.hierarchies,
        "age": from_rows(case.dataset.column("age"), case.levels["age"]),
    }
    frame = pd.DataFrame({"age": [text], "s": ["a"]}, dtype=object)
    read = encode_earlier(Dataset.from_frame(frame), problem.dataset, problem.roles, built)
    assert read.cover["age"][read.cells[0, 0]].tolist() == covered
    frame["age"] = "odd"
    with pytest.raises(BadInput, match="neither a value nor a group"):
        encode_earlier(Dataset.from_frame(frame), problem.dataset, problem.roles, built)


def test_the_worked_example_of_correspondence() -> None:
    """Of five in Europe and four in France three are left, no matter who the person is."""
    # 0 is Europe and France, 1 Europe and the UK; flu is 0 and HIV 1.
    here = Classes(
        places=(0,),
        cover=[np.eye(2, dtype=np.bool_)],
        cells=np.array([[0], [1]], dtype=np.int32),
        pool=np.arange(2),
        rows=np.array([4, 4]),
        entry=np.array([0, 0, 1, 1]),
        value=np.array([0, 1, 0, 1], dtype=np.int32),
        count=np.array([3, 1, 1, 3]),
    )
    there = Classes(
        places=(0,),
        cover=[np.ones((1, 2), dtype=np.bool_)],
        cells=np.array([[0]], dtype=np.int32),
        pool=np.arange(1),
        rows=np.array([5]),
        entry=np.array([0, 0]),
        value=np.array([0, 1], dtype=np.int32),
        count=np.array([2, 3]),
    )
    french = np.array([[0]], dtype=np.int32)
    left = rows_left(here, there, french, grown=True, context=Context())
    assert (left.here.tolist(), left.there.tolist()) == ([4], [5])
    assert left.both.toarray().tolist() == [[2, 1]]
    assert left.joined is not None
    assert left.joined.toarray().tolist() == [[2, 1]]


def test_rows_left_are_those_of_some_mapping_by_counts() -> None:
    """Every way to deal an earlier class's rows to classes here: the most that are left."""
    rng = np.random.default_rng(2008)
    for _ in range(30):
        shown = rng.integers(0, 4, (2, 2))  # classes here by values
        before = np.array([rng.integers(0, shown[:, v].sum() + 1) for v in (0, 1)])
        possible = [
            [x for x in range(shown[0, v] + 1) if 0 <= before[v] - x <= shown[1, v]] for v in (0, 1)
        ]
        # Of people in both, the rows from the earlier class; of those who joined, the others.
        came = [max(one) for one in possible]
        joined = [shown[0, v] - min(one) for v, one in enumerate(possible)]
        entry, value = (x.ravel() for x in np.indices((2, 2)))
        here = Classes(
            places=(0,),
            cover=[np.eye(2, dtype=np.bool_)],
            cells=np.array([[0], [1]], dtype=np.int32),
            pool=np.arange(2),
            rows=shown.sum(axis=1),
            entry=entry,
            value=value.astype(np.int32),
            count=shown.ravel(),
        )
        there = replace(
            here,
            cover=[np.ones((1, 2), dtype=np.bool_)],
            cells=np.array([[0]], dtype=np.int32),
            pool=np.arange(1),
            rows=before[None, :].sum(axis=1),
            entry=np.zeros(2, dtype=np.int64),
            value=np.arange(2, dtype=np.int32),
            count=before,
        )
        people = np.array([[0]], dtype=np.int32)
        left = rows_left(here, there, people, grown=True, context=Context())
        assert left.both.toarray().tolist() == [came]
        assert left.joined is not None
        assert left.joined.toarray().tolist() == [joined]
