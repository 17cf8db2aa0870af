"""What holds for every run, whatever the table: drawn tables through the whole way to the file."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_core import run
from anon_core.base.errors import Infeasible
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from tests.making import Case, random_case
from tests.often import times
from tests.strategies import cases

ALGORITHMS = (
    {"name": "optimal", "metric": "loss", "max_suppression": 0.2},
    {"name": "optimal", "metric": "discernibility", "max_suppression": 1.0},
    {"name": "mondrian"},
)
MODELS = (
    [{"name": "k-anonymity", "k": 3}],
    [{"name": "k-anonymity", "k": 2}, {"name": "l-diversity", "l": 2}],
)


def carry_out(case: Case, frame: pd.DataFrame, **plan: object) -> Result | None:
    """Run; None where the promises are out of reach."""
    dataset = Dataset.from_frame(frame, kinds=case.kinds)
    try:
        return run(case.plan(**plan), dataset, case.levels, assess=False)
    except Infeasible:
        return None


def published(result: Result) -> tuple[list[str], list[tuple[str, ...]]]:
    header, *rows = csv.reader(io.StringIO(result.csv.decode(), newline=""))
    return header, [tuple(row) for row in rows]


@pytest.mark.often
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["loss", "discernibility", "mondrian"])
@pytest.mark.parametrize("models", MODELS, ids=["k", "k+l"])
def test_every_run(algorithm: dict[str, object], models: list[dict[str, object]]) -> None:
    released = 0

    @settings(max_examples=times(48))
    @given(case=cases(rows=(6, 40), quasi=(1, 3)), seed=st.integers(0, 99), data=st.data())
    def tried(case: Case, seed: int, data: st.DataObject) -> None:
        nonlocal released
        frame = case.frame
        before = frame.copy(deep=True)
        plan: dict[str, object] = {"algorithm": algorithm, "models": models, "seed": seed}
        result = carry_out(case, frame, **plan)
        pd.testing.assert_frame_equal(frame, before)

        shuffled = frame.iloc[data.draw(st.permutations(range(len(frame))))]
        again = carry_out(case, shuffled, **plan)
        assert (result is None) == (again is None)
        if result is None or again is None:
            return
        released += 1
        assert again.csv == result.csv
        repeated = carry_out(case, frame, **plan)
        assert repeated is not None
        assert (repeated.csv, repeated.parquet) == (result.csv, result.parquet)

        header, rows = published(result)
        assert header == list(case.columns)
        assert rows == sorted(rows)
        assert len(rows) + result.release.suppressed == len(case.rows)
        budget = float(str(algorithm.get("max_suppression", 0)))
        assert result.release.suppressed <= budget * len(case.rows) + 1e-9
        # The promises, regrouped from the text of the file.
        quasi = [header.index(name) for name in case.quasi]
        classes: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for row in rows:
            classes.setdefault(tuple(row[q] for q in quasi), []).append(row)
        for model in models:
            for members in classes.values():
                if model["name"] == "k-anonymity":
                    assert len(members) >= int(str(model["k"]))
                else:
                    for name in case.sensitive:
                        assert len({row[header.index(name)] for row in members}) >= 2
        assert sorted(len(m) for m in classes.values()) == sorted(result.class_sizes.tolist())
        # Columns that are not quasi-identifiers are published as they are.
        answer = Counter((row[header.index("s0")], row[header.index("s1")]) for row in rows)
        known = Counter(zip(case.column("s0"), case.column("s1"), strict=True))
        assert not answer - known
        assert (known - answer).total() == result.release.suppressed

    tried()
    assert released > 4


def test_index_labels_play_no_part() -> None:
    rng = np.random.default_rng(37)
    case = random_case(rng, rows=20, quasi=2)
    plain = carry_out(case, case.frame, algorithm={"name": "mondrian"})
    odd = case.frame.set_axis([0] * 10 + [f"row {i}" for i in range(10)])
    labelled = carry_out(case, odd, algorithm={"name": "mondrian"})
    assert plain is not None
    assert labelled is not None
    assert labelled.csv == plain.csv


@pytest.mark.often
def test_missing_values_are_kept_as_a_value_or_dropped() -> None:
    with_gaps = dropped = 0

    @settings(max_examples=times(100))
    @given(case=cases(rows=(10, 30), quasi=(2, 2)))
    def tried(case: Case) -> None:
        nonlocal with_gaps, dropped
        size = len(case.rows)
        complete = [
            i
            for i in range(size)
            if all(case.columns[n][i] is not None for n in (*case.quasi, *case.sensitive))
        ]
        assume(complete)
        gaps = size - len(complete)
        with_gaps += gaps > 0
        algorithm = {"name": "optimal", "max_suppression": 1.0}
        kept = carry_out(case, case.frame, algorithm=algorithm)
        assert kept is None or (kept.problem.rows, kept.problem.dataset.dropped) == (size, 0)
        short = carry_out(case, case.frame, algorithm=algorithm, data={"missing": "drop"})
        if short is None:
            return
        dropped += gaps > 0
        assert (short.problem.rows, short.problem.dataset.dropped) == (len(complete), gaps)
        # Dropping is the same as never having had the rows.
        part = {name: [cells[i] for i in complete] for name, cells in case.columns.items()}
        alone = dataclasses.replace(case, columns=part)
        same = carry_out(alone, alone.frame, algorithm=algorithm)
        assert same is not None
        assert same.csv == short.csv

    tried()
    assert with_gaps > 5
    assert dropped > 5


def test_equal_rows_of_text_are_one_class_whatever_the_missing_sign() -> None:
    columns: dict[str, list[str | None]] = {"q": ["a", "?", "a", None, "NA"], "s": list("uvuvv")}
    case = Case(columns=columns, quasi=("q",), sensitive=("s",))
    result = run(case.plan(), case.dataset, assess=False)
    assert sorted(result.class_sizes.tolist()) == [2, 3]
    assert published(result)[1][0] == ("", "v")
