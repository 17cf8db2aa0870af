"""Which rows are suppressed where every column is at one level: nobody may choose them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from anon_core.base.registry import family
from anon_core.pipeline.result import Result
from anon_core.verification.checks import verify
from anon_core.verification.findings import Verification
from tests.everywhere import Trial, trial
from tests.often import times
from tests.tampering import Table, read, released, written

TECHNIQUES = [
    name
    for name, own in family("algorithm").items()
    if own.shape.one_level and not own.shape.mechanism
]
MODELS = [name for name in family("model") if name != "differential-privacy"]


def again(one: Trial, result: Result, table: Table) -> Verification:
    """Verify another table by the recipe, which may suppress as many rows as one likes."""
    recipe = dict(result.recipe.completed())
    recipe["algorithm"] = {**recipe["algorithm"], "max_suppression": 1.0}
    public = None if one.public is None else one.public.frame()
    private = one.case.dataset.frame()
    return verify(recipe, private, one.case.levels, written({"release.csv": table}), public)


#: Of these, which classes go with a public table is a choice among many.
_MEANS = ("average-risk", "share-at-risk")


def which(found: Verification) -> str:
    """Return what came of the check, or that nothing was checked."""
    checks = [check.outcome for check in found.checks if check.name == "suppressed-rows"]
    open_ = any("is not checked" in c.sentence for c in found.checks if c.name == "suppression")
    assert len(checks) + open_ <= 1
    return checks[0] if checks else "open" if open_ else "none"


def tried(model: str, numbers: range, enough: int) -> Counter[str]:
    """Count what comes of releases, and of others with more rows or other rows suppressed."""
    seen: Counter[str] = Counter()
    for number in numbers:
        if min(seen["a class less"], seen["a row less"], seen["suppressed"]) >= enough:
            break
        one = trial(model, TECHNIQUES[number % len(TECHNIQUES)], number)
        result = released(one)
        if result is None:
            continue
        assert result.verification.holds
        own = which(result.verification)
        suppressed = int(result.verification.facts["suppressed"])
        assert (own == "none") == (not suppressed)
        assert own != "open" or model in _MEANS, (str(one), number)
        seen[f"as made {own}"] += 1
        seen["suppressed"] += suppressed > 0
        head, *rows = read(result.files)["release.csv"]
        quasi = [head.index(name) for name in one.case.quasi]
        cells = [tuple(row[at] for at in quasi) for row in rows]
        rng = np.random.default_rng(number)
        gone = cells[int(rng.integers(len(cells)))]
        fewer = [row for row, cell in zip(rows, cells, strict=True) if cell != gone]
        if fewer:  # a whole class that was good enough
            seen["a class less"] += 1
            seen[f"a class less {which(again(one, result, [head, *fewer]))}"] += 1
        if cells.count(gone) > 1:
            del rows[cells.index(gone)]
            assert which(again(one, result, [head, *rows])) == "broken"
            seen["a row less"] += 1
    return seen


@pytest.mark.often
@pytest.mark.parametrize("model", MODELS)
def test_other_rows_than_the_models_ask_for_are_refused(model: str) -> None:
    seen = tried(model, range(1000), 4 if model in _MEANS else times(4))
    assert seen["a class less broken"] > 0
    assert seen["a row less"] > 0
    assert seen["a class less holds"] == 0
    if model not in _MEANS:
        assert not seen["a class less open"]


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_other_rows_on_many_tables(model: str) -> None:
    seen = tried(model, range(1000, 3000), 60)
    assert seen["a class less holds"] == 0
    assert seen["as made broken"] == 0


def test_where_the_technique_chooses_the_rows_it_is_said() -> None:
    for number in range(200):
        one = trial("k-anonymity", "local-recoding", number)
        one = replace(one, settings={**one.settings, "max_suppression": 0.4})
        result = released(one)
        if result is not None and result.verification.facts["suppressed"]:
            assert result.verification.holds
            assert which(result.verification) == "open"
            return
    pytest.fail("no release suppressed a row")
