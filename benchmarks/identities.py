"""What attacks on identity take, and that they agree; how soon they stop: `benchmarks.stops`."""

from __future__ import annotations

from typing import Any, cast

from anon_core import run
from anon_core.base.context import Context
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import table

_TOGETHER = 1.0  # seconds asked for, of all that every run carries out


def attacks(bench: Bench, source: Source) -> None:
    """Measure every attack on identity, and those that are asked for by themselves."""
    for algorithm, budget in (("mondrian", 0.0), ("optimal", 0.02)):
        plan, dataset, levels = read(source, source.recipe(f"who-{algorithm}", algorithm, budget))
        result = run(plan, dataset, levels, assess=False)
        kinds = {n: cast(type[Attack], k) for n, k in family("attack").items()}
        own = [n for n, kind in kinds.items() if kind.aim.discloses == "identity"]
        own = [
            n for n in own if not not_applicable(kinds[n](), result.release.view, result.audience)
        ]
        usual = [n for n in own if kinds[n].use.by_default]
        row, _ = bench.time(
            f"{', '.join(usual)} together",
            lambda usual=usual, result=result: [_run(result, n) for n in usual],
            f"under {_TOGETHER:g} s was asked",
        )
        rows = [row]
        found: dict[str, AttackResult] = {n: _run(result, n) for n in usual}
        for name in own:
            if name not in usual:
                row, found[name] = bench.time(name, lambda n=name, r=result: _run(r, n))
                rows.append(row)
        print(table(f"Attacks on identity: {source.title}, {algorithm}, k = {K}", rows))
        bench.check(
            found["special-uniques"].succeeded == found["uniqueness"].succeeded,
            f"{found['uniqueness'].succeeded:,.0f} rows are unique in 3 columns, counted twice",
        )
        known, linked = found["prosecutor"], _run(result, "linking", people=100_000)
        bench.check(
            abs(known.rate - linked.rate) < 1e-9,
            f"everyone linked by all columns is found as by the prosecutor, {known.rate:.4%}",
        )


def _run(result: Result, name: str, **given: Any) -> AttackResult:
    truth = truth_of(result.problem, result.release)
    adversary = cast(Attack, find("attack", name).from_mapping(given))
    return adversary.run(result.release.view, result.audience, truth, Context())[0]
