"""Special uniques: the example of the SDC practice guide, and brute force on random tables."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.distinct_rows import quasi_lines
from anon_core.methods.reidentification.equivalence_counts import RowsAlike
from anon_core.methods.reidentification.minimal_uniques import (
    covering_changes,
    dis_suda,
    file_risk,
    minimal_uniques,
)
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import raw_view
from anon_core.release.vocabulary import of_level
from anon_core.techniques.attacks.special_uniques import SpecialUniques
from tests.making import Case
from tests.often import often
from tests.property.test_unique_rows import alone, leaves_of
from tests.strategies import Boxed, boxed, cases

GUIDE = [
    ("Urban", "F", "sec.inc", "empl"),
    ("Urban", "F", "sec.inc", "empl"),
    ("Urban", "F", "prim.inc", "nonLF"),
    ("Urban", "M", "sec.com", "empl"),
    ("Rural", "F", "sec.com", "unempl"),
    ("Urban", "M", "sec.com", "empl"),
    ("Urban", "F", "prim.com", "nonLF"),
    ("Urban", "M", "post-sec", "unempl"),
    ("Urban", "F", "sec.inc", "nonLF"),
    ("Urban", "F", "sec.inc", "nonLF"),
]
COLUMNS = ("residence", "gender", "education", "labour")
SCORES = [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def guide(**attack: object) -> AttackResult:
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list(COLUMNS)},
            "algorithm": {"name": "optimal"},
            "models": [{"name": "maximum-risk", "risk": 1.0}],
            "attacks": [{"name": "special-uniques", **attack}],
        }
    )
    found = run(plan, Dataset.from_frame(pd.DataFrame(GUIDE, columns=list(COLUMNS))))
    return next(a for a in found.attacks if a.attack == "special-uniques")


@pytest.mark.parametrize(
    ("share", "variant", "risks"),
    [
        (0.01, "sdcmicro", {6: 0.004987, 10: 0.009167, 12: 0.011383}),
        (0.1, "sdcmicro", {6: 0.052249, 10: 0.092367, 12: 0.112417}),
        (0.01, "proportional", {6: 0.0011804, 10: 0.0019673, 12: 0.0023608}),
    ],
)
def test_the_example_of_the_guide(share: float, variant: str, risks: dict[int, float]) -> None:
    found = guide(share=share, variant=variant)
    assert (found.succeeded, found.rate, found.raw, found.worst) == (4, 0.4, 0.4, 1)
    columns, sets, rows = found.details
    assert sorted(int(r["score"]) for r in rows.rows) == [6, 6, 10, 12]
    for row in rows.rows:
        assert row["DIS-SUDA"] == pytest.approx(risks[int(row["score"])], abs=6e-7)
    first = rows.rows[0]
    assert "residence = Rural" in str(first["row"])
    assert set(str(first["unique in"]).split("; ")) == {
        "residence",
        "gender + education",
        "gender + labour",
        "education + labour",
    }
    assert first["covered by"] == "no single column"
    second = next(r for r in rows.rows if r["score"] == 10)
    assert set(str(second["unique in"]).split("; ")) == {
        "education",
        "residence + labour",
        "gender + labour",
    }
    alone = [r for r in rows.rows if r["score"] == 6]
    assert {r["unique in"] for r in alone} == {"education"}
    assert {r["covered by"] for r in alone} == {"education suppressed"}
    assert (sets.rows[0]["columns"], sets.rows[0]["rows"]) == ("education", 3)
    assert columns.rows[0]["column"] == "education"
    # 18 of education alone, and 4 of its two pairs of the fifth row, of 34.
    assert columns.rows[0]["share of the scores"] == pytest.approx(22 / 34)


def test_the_files_risk() -> None:
    assert file_risk(4, 3, 0.01) == pytest.approx(0.00668896, abs=5e-9)
    assert file_risk(4, 3, 0.1) == pytest.approx(0.06896552, abs=5e-9)
    assert file_risk(0, 0, 0.5) == 0
    assert dis_suda(np.zeros(3, dtype=np.int64), 0.0, 0, 4, "sdcmicro").tolist() == [0, 0, 0]


# ---- brute force ---------------------------------------------------------------------------------


@often(100)
@given(drawn=boxed(removed=True))
def test_minimal_sets_are_those_of_brute_force(drawn: Boxed) -> None:
    """Also where texts overlap and rows are suppressed."""
    release = drawn.release
    rows, people = leaves_of(release)
    quasi = release.problem.quasi
    lines = quasi_lines(release.view, truth_of(release.problem, release))
    place = [quasi.index(name) for name in lines.columns]
    size = min(3, len(quasi))
    found = minimal_uniques(lines, 3, Context())
    unique = {
        chosen: alone(rows, people, tuple(place[d] for d in chosen))
        for of in range(1, size + 1)
        for chosen in itertools.combinations(range(len(quasi)), of)
    }
    expected: list[int] = []
    for chosen, here in unique.items():
        parts = [c for c in unique if set(c) < set(chosen)]
        minimal = here - set().union(*(unique[c] for c in parts))
        marked = found.minimal(chosen) if chosen in found.marks else np.zeros(1, dtype=bool)
        assert int(np.count_nonzero(marked)) == len(minimal)
        top = min(size, len(quasi) - 1)
        expected += [prod(len(quasi) - i for i in range(len(chosen), top + 1))] * len(minimal)
    assert int(found.score.sum()) == sum(expected)
    for line in np.flatnonzero(found.special).tolist():
        assert found.sets_of(line)


@often(60)
@given(case=cases(rows=(4, 25), quasi=(3, 3), missing=False))
def test_a_change_covers_whom_it_says(case: Case) -> None:
    """The column is published one level higher, or not at all, and the rows are looked at again."""
    problem = case.problem()
    view, truth = raw_view(problem), truth_of(problem)
    lines = quasi_lines(view, truth)
    found = minimal_uniques(lines, 3, Context())
    changes = covering_changes(found, audience_of(problem).hierarchies, Context())
    assert [c.cost for c in changes] == sorted(c.cost for c in changes)
    seen = set()
    for change in changes:
        hierarchy = problem.hierarchies[change.column]
        level = hierarchy.height if change.suppressed else 1
        d = lines.columns.index(change.column)
        codes = lines.codes.copy()
        if change.suppressed:
            codes[:, d] = 0
        else:
            codes[:, d] = hierarchy.node(level)[codes[:, d]]
        pool = {**lines.vocabularies, change.column: of_level(hierarchy, level)}
        after = minimal_uniques(replace(lines, codes=codes, vocabularies=pool), 3, Context())
        assert np.array_equal(change.covered, found.special & ~after.special)
        seen.add((change.column, change.suppressed))
    for d, name in enumerate(lines.columns):
        codes = lines.codes.copy()
        codes[:, d] = 0
        after = minimal_uniques(replace(lines, codes=codes), 3, Context())
        gone = bool((found.special & ~after.special).any())
        assert ((name, True) in seen) == gone


def test_single_columns_and_tables_without_uniques() -> None:
    one = Case(columns={"q": ["a", "b", "b"]}, quasi=("q",), kinds={"q": "text"})
    problem = one.problem()
    (found,) = SpecialUniques().run(
        raw_view(problem), audience_of(problem), truth_of(problem), Context()
    )
    assert found.succeeded == 1
    assert [r["score"] for r in found.details[2].rows] == [1]
    none = Case(columns={"q": ["a", "a", "b", "b"]}, quasi=("q",), kinds={"q": "text"}).problem()
    (found,) = SpecialUniques().run(raw_view(none), audience_of(none), truth_of(none), Context())
    assert (found.succeeded, found.worst, found.details[2].rows) == (0, 0, ())


# ---- many rows -----------------------------------------------------------------------------------


def many(rows: int) -> RowsAlike:
    rng = np.random.default_rng(5)
    sizes = (700, 2, 5, 70, 160, 400)
    codes = np.stack([rng.integers(0, s, rows) for s in sizes], axis=1).astype(np.int32)
    return RowsAlike(
        columns=tuple(f"q{d}" for d in range(len(sizes))),
        codes=codes,
        count=np.ones(rows, dtype=np.int64),
        vocabularies={},
        overlapping=frozenset(),
        people=codes,
    )


@pytest.mark.long
def test_a_million_rows_within_bounded_memory_and_cancelled_at_once() -> None:
    import tracemalloc

    lines = many(1_000_000)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    found = minimal_uniques(lines, 3, Context())
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert found.special.any()
    assert peak < 400 * 2**20
    cancel = threading.Event()
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.perf_counter())
        cancel.set()

    timer = threading.Timer(0.5, stop)
    timer.start()
    with pytest.raises(Cancelled):
        minimal_uniques(lines, 4, Context(cancel=cancel))
    assert time.perf_counter() - stopped[0] < 0.5
