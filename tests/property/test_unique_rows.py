"""Unique rows by combination of columns, against comparing every row with every person."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.data.table import Dataset
from anon_core.methods.reidentification.distinct_rows import alone_over_all, lines_of, quasi_lines
from anon_core.methods.reidentification.unique_rows import unique_rows
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import Release, raw_view
from anon_core.techniques.attacks.uniqueness import Uniqueness
from tests.making import Case, by_hand
from tests.often import often
from tests.property.test_overlap import overlapping
from tests.strategies import Boxed, boxed


def leaves_of(release: Release) -> tuple[list[list[tuple[int, int]]], list[list[int]]]:
    """Return the cells of every published row as ranges of leaves, and the leaves of everyone."""
    problem, frequency = release.problem, release.problem.frequency
    people = frequency.codes[frequency.row_key, : len(problem.quasi)].tolist()
    member = release.grouping.of_rows(frequency, np.random.default_rng(0)).tolist()
    pools = [release.vocabularies[name] for name in problem.quasi]
    cells = [[release.cells[name][m] for name in problem.quasi] for m in member if m >= 0]
    rows = [
        [(int(p.lo[c]), int(p.hi[c])) for p, c in zip(pools, row, strict=True)] for row in cells
    ]
    return rows, people


def alone(
    rows: list[list[tuple[int, int]]], people: list[list[int]], chosen: tuple[int, ...]
) -> set[int]:
    """Return the rows that are the only one to fit somebody by some columns."""
    found: set[int] = set()
    for person in people:
        fit = [
            r for r, c in enumerate(rows) if all(c[d][0] <= person[d] <= c[d][1] for d in chosen)
        ]
        if len(fit) == 1:
            found.add(fit[0])
    return found


def attacked(release: Release, size: int, context: Context | None = None) -> AttackResult:
    problem = release.problem
    audience, truth = audience_of(problem), truth_of(problem, release)
    (found,) = Uniqueness(size=size).run(release.view, audience, truth, context or Context())
    return cast(AttackResult, found)


@often(160)
@given(drawn=boxed(removed=True))
def test_unique_rows_are_those_that_alone_fit_somebody(drawn: Boxed) -> None:
    release = drawn.release
    rows, people = leaves_of(release)
    columns = len(release.problem.quasi)
    lines = quasi_lines(release.view, truth_of(release.problem, release))
    place = [release.problem.quasi.index(name) for name in lines.columns]
    found = unique_rows(lines, 3, Context(), 0.0)
    ever: set[int] = set()
    for size in range(1, min(3, columns) + 1):
        for chosen in itertools.combinations(range(columns), size):
            here = alone(rows, people, tuple(place[d] for d in chosen))
            assert found.rows[chosen] == len(here)
            ever |= here
        assert found.of_size[size - 1] == len(ever)
    assert found.in_all == len(alone(rows, people, tuple(range(columns))))
    one = attacked(release, 3)
    assert one.succeeded == one.at_risk == len(ever)
    assert one.rate == len(ever) / release.problem.rows
    assert (one.worst == 1) == bool(ever)


def test_whole_rows_count_columns_of_every_role() -> None:
    frame = pd.DataFrame(
        {
            "age": ["1", "1", "1", "2", "2", "2"],
            "ill": ["a", "a", "b", "a", "a", "a"],
            "note": ["x", "y", "x", "x", "x", "y"],
        }
    )
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age"], "sensitive": ["ill"], "insensitive": ["note"]},
            "types": {"age": "text"},
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 3}],
        }
    )
    result = run(plan, Dataset.from_frame(frame))
    one = next(a for a in result.attacks if a.attack == "uniqueness")
    assert one.succeeded == 0
    last = one.details[1].rows[-1]
    assert last["columns"] == "all published columns"
    published = result.tables["release"].to_pandas().astype(str).agg("|".join, axis=1)
    assert last["rows"] == int((published.value_counts() == 1).sum()) == 4
    assert "4 (66.7%) are unique over all published columns" in one.sentence


def test_what_no_row_ties_to_the_quasi_identifiers_singles_nobody_out() -> None:
    frame = pd.DataFrame({"q": list("abac"), "s": list("wxyz")})
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["q"], "sensitive": ["s"]},
            "algorithm": {"name": "anatomy"},
            "models": [{"name": "frequency-l-diversity", "l": 2}],
        }
    )
    result = run(plan, Dataset.from_frame(frame))
    one = next(a for a in result.attacks if a.attack == "uniqueness")
    last = one.details[1].rows[-1]
    assert (last["columns"], last["rows"]) == ("all published columns", 2)  # b and c
    assert last["in the raw table"] == 1.0


def test_rows_that_are_drawn_apart_leave_whole_rows_untold() -> None:
    case = Case(columns={"q": list("aabb"), "s": list("xxyy")}, quasi=("q",), sensitive=("s",))
    problem = case.problem()
    release = by_hand(problem, [0, 1, 0, 1], (("q", "s"),))
    assert release.view.linked() is None
    assert alone_over_all(release.view, truth_of(problem, release), Context()) is None
    one = attacked(release, 2)
    assert "The written release shows how many" in one.sentence
    cut = by_hand(problem, [0, 1, 0, 1], (("q",), ("s",)))
    assert "written release" not in attacked(cut, 1).sentence  # its rows are no one's
    assert "all published columns" not in {r["columns"] for r in one.details[1].rows}
    whole = lines_of(raw_view(problem), problem.quasi)
    assert whole is not None
    assert whole.columns == ("q", "s")


def test_too_many_combinations_are_refused_with_what_to_change() -> None:
    rng = np.random.default_rng(1)
    names = [f"q{d}" for d in range(30)]
    case = Case(
        columns={n: [str(v) for v in rng.integers(0, 2, 6)] for n in names}, quasi=tuple(names)
    )
    problem = case.problem()
    why = Uniqueness().reason_not_applicable(raw_view(problem), audience_of(problem))
    assert "4,525 combinations" in why
    assert "Lower the number of columns" in why
    assert not Uniqueness(size=2).reason_not_applicable(raw_view(problem), audience_of(problem))


def test_it_can_be_cancelled_between_two_combinations() -> None:
    release = overlapping()
    seen: list[float] = []
    cancel = threading.Event()

    def progress(share: float, stage: str) -> None:
        seen.append(share)
        if len(seen) == 2:
            cancel.set()

    with pytest.raises(Cancelled):
        attacked(release, 3, replace(Context(), cancel=cancel, progress=progress))
    assert len(seen) == 2
