"""ANGEL: the worked example's posterior, and what its releases keep."""

from __future__ import annotations

import csv
import io
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from anon_core.base.errors import AnonError, BadPlan
from anon_core.contracts.partitioner import buckets_of_rows
from anon_core.methods.partition.box_release import hulls, published_cells
from anon_core.methods.queries.count_queries import asking
from anon_core.methods.queries.query_answers import estimates
from anon_core.pipeline.runner import run
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level
from anon_core.techniques.algorithms.angel import crossed
from anon_core.verification.checks import verify
from anon_core.verification.recipe import read_shape
from anon_core.verification.release_only import verify_release_only
from anon_core.verification.text.cells import TextTable
from tests.making import Case

EXAMPLE = Case(
    columns={"q": ["1", "2", "3", "4"], "s": list("abac")}, quasi=("q",), sensitive=("s",)
)


def test_l51_the_posterior_is_the_mean_over_the_rows_of_a_bucket() -> None:
    problem = EXAMPLE.problem()
    key = problem.frequency.row_key
    batch = buckets_of_rows(key, np.array([0, 1, 1, 0]))
    bucket = buckets_of_rows(key, np.array([0, 0, 1, 1]))
    vocabularies, cells = published_cells(problem, *hulls(problem, bucket), [False])
    grouping, box = crossed(batch, bucket)
    release = Release(
        problem=problem,
        grouping=grouping,
        vocabularies={**vocabularies, "s": of_level(problem.hierarchies["s"], 0)},
        cells={"q": cells["q"][box]},
        blocks=(("q",), ("s",)),
    )
    code = {n: problem.hierarchies[n].code for n in ("q", "s")}
    for person in ("1", "3"):  # p1 and p3, of the buckets 1-2 and 3-4
        place = {"q": (code["q"][person],) * 2}
        asked = [place, *({**place, "s": (code["s"][v],) * 2} for v in "abc")]
        everyone, *of_value = (
            float(estimates(release.view, problem.hierarchies, asking([one]))[0]) for one in asked
        )
        values = [Fraction(n / everyone).limit_denominator(100) for n in of_value]
        assert values == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
        assert max(values) <= Fraction(1, 2)  # of the worst batch


def table(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    columns: dict[str, list[str | None]] = {
        "age": [str(v) for v in rng.integers(18, 60, 120)],
        "zip": [str(v) for v in rng.integers(0, 6, 120)],
        "s": ["abcde"[v] for v in rng.integers(0, 5, 120)],
    }
    return Case(columns=columns, quasi=("age", "zip"), sensitive=("s",))


@pytest.mark.parametrize("seed", range(2))
def test_boxes_have_k_rows_across_batches_and_batches_keep_the_model(seed: int) -> None:
    case = table(seed)
    plan = case.plan(
        algorithm={"name": "angel", "k": 6},
        models=[{"name": "frequency-l-diversity", "l": 3, "column": "s"}],
    )
    result = run(plan, case.dataset, {})
    assert result.verification.holds
    (content,) = (c for n, c in result.files.items() if n.endswith(".csv"))
    _, *rows = csv.reader(io.StringIO(content.decode()))
    assert min(Counter((age, zip_) for _, age, zip_, _ in rows).values()) >= 6
    batches = {g: Counter(s for own, _, _, s in rows if own == g) for g, *_ in rows}
    assert all(3 * max(own.values()) <= own.total() for own in batches.values())
    across = {
        (age, zip_): {g for g, a, z, _ in rows if (a, z) == (age, zip_)} for _, age, zip_, _ in rows
    }
    assert max(map(len, across.values())) > 1
    (risk,) = (a for a in result.attacks if a.attack == "prosecutor")
    assert risk.worst <= 1 / 6 + 1e-12


def test_boxes_are_counted_again_from_what_is_published(tmp_path: Path) -> None:
    case = table(1)
    plan = case.plan(
        algorithm={"name": "angel", "k": 6},
        models=[{"name": "frequency-l-diversity", "l": 3, "column": "s"}],
    )
    result = run(plan, case.dataset, {}, assess=False)
    (boxes,) = (c for c in result.verification.checks if c.name == "boxes")
    (content,) = (c for n, c in result.files.items() if n.endswith(".csv"))
    _, *rows = csv.reader(io.StringIO(content.decode()))
    least = min(Counter((age, zip_) for _, age, zip_, _ in rows).values())
    assert (boxes.holds, boxes.bound, boxes.reached) == (True, 6, least)
    recipe = result.plan.of_kinds(result.kinds).completed()
    assert recipe["release"]["least_box"] == 6
    more = {**recipe, "release": {**recipe["release"], "least_box": least + 1}}
    found = verify(more, TextTable.of_frame(case.frame), {}, result.files)
    assert [c.name for c in found.checks if not c.holds and not c.undecided] == ["boxes"]
    # It needs no private table.
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(more))
    (tmp_path / "out").mkdir()
    for name, file in result.files.items():
        (tmp_path / "out" / name).write_bytes(file)
    alone = verify_release_only(tmp_path / "recipe.toml", tmp_path / "out")
    assert "boxes" in [c.name for c in alone.checks if not c.holds]
    assert alone.facts["smallest_class"] == min(Counter(g for g, *_ in rows).values())


@pytest.mark.parametrize("least", [-1, True, 2.5, "2"])
def test_another_least_box_is_refused(least: object) -> None:
    with pytest.raises(BadPlan, match="least_box"):
        read_shape({"linked": "roles", "cells": "coarsened", "least_box": least})


def test_models_of_whole_rows_are_refused() -> None:
    case = table(0)
    plan = case.plan(algorithm={"name": "angel"}, models=[{"name": "k-anonymity", "k": 2}])
    with pytest.raises(AnonError, match="permuted separately"):
        run(plan, case.dataset, {}, assess=False)
