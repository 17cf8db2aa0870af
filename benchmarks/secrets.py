"""What attacks on sensitive values take, and that deFinetti finds what there is to find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from anon_core import Dataset, run
from anon_core.base.context import Context
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan
from anon_core.release.ground_truth import truth_of
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

SENSITIVE = "occupation"
_KINDS = ("attribute", "inferential")
L = 5
LARGE = 1_000_000
_CLASSES, _LARGE = 1.0, 15.0


def attacks(bench: Bench, source: Source) -> None:
    """Measure every attack on a sensitive column, and those that are asked for by themselves."""
    source = replace(source, sensitive=(SENSITIVE,))
    quasi = tuple(name for name in source.quasi if name != SENSITIVE)
    plan, dataset, _ = read(source, source.recipe("secrets", "mondrian", quasi=quasi))
    dataset = dataset.without_missing((*quasi, SENSITIVE))
    bare = plan.as_mapping() | {"hierarchies": {}}
    classes = run(Plan.from_mapping(bare), dataset, assess=False)
    rows = [_together(bench, classes, f"by class, k = {K}: under {_CLASSES:g} s was asked")]
    rows.append(_one(bench, classes, "learn-and-infer")[0])
    deal = {
        "algorithm": {"name": "anatomy"},
        "models": [{"name": "frequency-l-diversity", "l": L}],
    }
    groups = run(Plan.from_mapping(bare | deal), dataset, assess=False)
    row, found = _one(bench, groups, "definetti")
    rows.append(row)
    mixed = dataset.frame()
    mixed[SENSITIVE] = np.random.default_rng(397).permutation(mixed[SENSITIVE])
    kinds = {name: dataset.column(name).kind for name in dataset.names}
    other = run(
        Plan.from_mapping(bare | deal), Dataset.from_frame(mixed, kinds=kinds), assess=False
    )
    row, blind = _one(bench, other, "definetti")
    rows.append(replace(row, what=f"{row.what}, occupations mixed up"))
    if not bench.quick:
        rows.append(_large(bench, dataset, bare))
    print(table(f"Attacks on '{SENSITIVE}': {source.title}", rows))
    share = 1 / L
    bench.check(found > 1.5 * share, f"deFinetti is right of {found:.1%}, 1 in {L} by the groups")
    bench.check(abs(blind - share) < 0.02, f"where columns are independent, of {blind:.1%}")


def _large(bench: Bench, dataset: Dataset, bare: dict[str, Any]) -> Row:
    rng = np.random.default_rng(401)
    frame = dataset.frame()
    # Each column by itself, so that few rows are alike.
    drawn = {n: frame[n].to_numpy()[rng.integers(0, dataset.rows, LARGE)] for n in frame.columns}
    kinds = {name: dataset.column(name).kind for name in dataset.names}
    many = Dataset.from_frame(pd.DataFrame(drawn), kinds=kinds)
    result = run(Plan.from_mapping(bare), many, assess=False)
    return _together(bench, result, f"{LARGE:,} rows: under {_LARGE:g} s was asked")


def _together(bench: Bench, result: Result, note: str) -> Row:
    """Measure all attacks on sensitive columns that every run carries out."""
    kinds: list[Any] = [
        kind
        for kind in family("attack").values()
        if issubclass(kind, Attack) and kind.use.by_default and kind.aim.discloses in _KINDS
    ]
    truth, view = truth_of(result.problem, result.release), result.release.view

    def work() -> None:
        for kind in kinds:
            if not kind().reason_not_applicable(view, result.audience):
                kind().run(view, result.audience, truth, Context())

    row, _ = bench.time(f"{len(kinds)} attacks that every run carries out", work, note)
    return row


def _one(bench: Bench, result: Result, name: str) -> tuple[Row, float]:
    attack: Any = find("attack", name)()
    truth, view = truth_of(result.problem, result.release), result.release.view
    row, (found,) = bench.time(
        attack.title, lambda: attack.run(view, result.audience, truth, Context())
    )
    return replace(
        row, note=f"right of {found.rate:.1%}, by guessing {found.baseline:.1%}"
    ), found.rate
