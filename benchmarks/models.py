"""What privacy models about sensitive values cost next to k alone, in time and in loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from anon_core import run
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.pipeline.prepare import prepare
from anon_core.recipe.plan import Plan
from benchmarks import histograms
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, table

SENSITIVE = "occupation"
BUDGET = 0.02

_TECHNIQUES = ("mondrian", "local-recoding", "k-member", "top-down")
_MODELS: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("k alone", None),
    ("t = 0.3", {"name": "t-closeness", "t": 0.3}),
    ("recursive (4, 3)", {"name": "recursive-l-diversity", "c": 4, "l": 3}),
    ("enhanced β = 2", {"name": "beta-likeness", "beta": 2.0}),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A privacy model of which the optimum is searched for, and the same in plain code.

    Attributes
    ----------
    model : mapping of str to Any
    plainly : histograms.Keeps
    loss : float
        What the benchmark table of the literature must give, rounded to six digits.
    sensitive : str
    seconds : float
        What a search that is warmed up should take at most; shown, never a reason to fail.
    """

    model: Mapping[str, Any]
    plainly: histograms.Keeps
    loss: float
    sensitive: str = SENSITIVE
    seconds: float = 0.3


_OPTIMA: dict[str, Asked] = {
    "distinct 3": Asked(
        model={"name": "l-diversity", "l": 3}, plainly=histograms.distinct(3), loss=0.234469
    ),
    "entropy 3": Asked(
        model={"name": "entropy-l-diversity", "l": 3}, plainly=histograms.entropy(3), loss=0.286335
    ),
    "recursive (4, 3)": Asked(
        model={"name": "recursive-l-diversity", "c": 4, "l": 3},
        plainly=histograms.recursive(4, 3),
        loss=0.275168,
    ),
    "t = 0.2, equal": Asked(
        model={"name": "t-closeness", "t": 0.2},
        plainly=histograms.near(20, ordered=False),
        loss=0.839694,
        seconds=0.6,
    ),
    "t = 0.2, ordered": Asked(
        model={"name": "t-closeness", "t": 0.2, "distance": "ordered"},
        plainly=histograms.near(20, ordered=True),
        loss=0.163234,
        sensitive="age",
        seconds=0.6,
    ),
}


def local(bench: Bench, source: Source) -> None:
    """Measure techniques that form groups or uncover values, with each model and without."""
    source = replace(source, sensitive=(SENSITIVE,))
    quasi = tuple(name for name in source.quasi if name != SENSITIVE)
    plan, dataset, levels = read(source, source.recipe("promises", "mondrian", quasi=quasi))
    problem = prepare(plan, dataset, levels)
    loss: Any = find("metric", "loss")()
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    for name in _TECHNIQUES:
        for what, model in _MODELS:
            models = [{"name": "k-anonymity", "k": K}, *([model] if model else [])]
            chosen = Plan.from_mapping(
                plan.as_mapping() | {"algorithm": {"name": name}, "models": models}
            )
            row, outcome = bench.time(
                f"{name}, {what}",
                lambda chosen=chosen: chosen.algorithm.run(problem, chosen.models, Context()),
            )
            release = outcome.release
            lost = loss.measure(problem, release, Context()).value
            count = len(release.grouping.sizes)
            rows.append(replace(row, note=f"loss {lost:.4f}, {count:,} classes"))
            verified = run(chosen, dataset, levels, assess=False).verification.holds
            checks.append((verified, f"{name}, {what}: a whole run verifies"))
    print(table(f"Promises: {source.title}, one of them sensitive, k = {K}", rows))
    for kept, sentence in checks:
        bench.check(kept, sentence)


def optima(bench: Bench, source: Source) -> None:
    """Measure the optimal search under each model alone, next to every node judged plainly."""
    rows: list[Row] = []
    checks: list[tuple[bool, str]] = []
    whole = source.quasi if source.known else source.small
    for sensitive in dict.fromkeys(asked.sensitive for asked in _OPTIMA.values()):
        quasi = tuple(name for name in whole if name != sensitive)
        own = {what: asked for what, asked in _OPTIMA.items() if asked.sensitive == sensitive}
        recipe = replace(source, sensitive=(sensitive,)).recipe(
            f"promises-{sensitive}", "optimal", BUDGET, quasi=quasi
        )
        plan, dataset, levels = read(source, recipe)
        # The same rows for both, whatever else is missing in the table.
        dataset = dataset.without_missing((*whole, sensitive))
        problem = prepare(plan, dataset, levels)
        frame = dataset.frame()[[*quasi, sensitive]]
        best, nodes, seconds = histograms.optima(
            frame.sort_values(sensitive, key=_in_order, kind="stable"),
            levels,
            sensitive,
            {what: asked.plainly for what, asked in own.items()},
            BUDGET,
        )
        for what, asked in own.items():
            chosen = Plan.from_mapping(plan.as_mapping() | {"models": [dict(asked.model)]})
            row, outcome = bench.time(
                f"search, {what} on '{sensitive}'",
                lambda chosen=chosen, problem=problem: chosen.algorithm.run(
                    problem, chosen.models, Context()
                ),
            )
            found, removed = outcome.account.cost, outcome.release.suppressed
            note = f"loss {found:.6f}, {removed} rows suppressed; asked under {asked.seconds:g} s"
            rows.append(replace(row, note=note))
            plainly = best[what]
            same = abs(found - plainly.loss) <= 1e-12 and removed == plainly.removed
            sentence = f"{what}: the search finds what every node shows, loss {plainly.loss:.9f}"
            checks.append((same, sentence))
            if source.known:
                checks.append((abs(found - asked.loss) <= 1e-6, f"{what}: loss {asked.loss}…"))
        note = f"{nodes:,} nodes, all promises about it at once"
        rows.append(Row(what=f"plain, every node, '{sensitive}'", seconds=(seconds,), note=note))
    print(table(f"Optima: {source.title}, one of them sensitive, {BUDGET:.0%} suppression", rows))
    for holds, sentence in checks:
        bench.check(holds, sentence)


def _in_order(values: pd.Series) -> pd.Series:
    """Return what a column is sorted by: its numbers where it has only these."""
    numbers = pd.to_numeric(values, errors="coerce")
    return values if numbers.isna().any() else numbers
