"""What takes its time, and how soon it stops when asked to at random moments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np

from anon_core import Dataset, run
from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.base.registry import family, find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.pipeline.result import Result
from anon_core.pipeline.sweep.sweep import Varied, sweep
from anon_core.pipeline.sweep.variations import Variation
from anon_core.recipe.plan import Plan
from anon_core.release.ground_truth import truth_of
from benchmarks.bench import Bench, read
from benchmarks.tables import K, Source
from benchmarks.timing import Row, shown, table

SENSITIVE = "occupation"
#: Seconds in which whatever goes on was asked to stop; what is measured is reported next to it.
LATEST = 0.5
_TRIES = 10
_SWEPT = (5, 20)

Work = Callable[[Context], object]


def stops(bench: Bench, source: Source) -> None:
    """Stop every attack that applies, and a sweep, on releases of each kind."""
    source = replace(source, sensitive=(SENSITIVE,))
    quasi = tuple(name for name in source.quasi if name != SENSITIVE)
    plan, dataset, levels = read(source, source.recipe("stops", "mondrian", quasi=quasi))
    dataset = dataset.without_missing((*quasi, SENSITIVE))
    kinds = {name: dataset.column(name).kind for name in dataset.names}
    drawn = np.sort(np.random.default_rng(409).permutation(dataset.rows)[: dataset.rows // 2])
    half = Dataset.from_frame(dataset.frame().iloc[drawn].reset_index(drop=True), kinds=kinds)
    bare = plan.as_mapping() | {"hierarchies": {}}
    rows: list[Row] = []
    for title, own, other in (
        (f"Mondrian, k = {K}", plan.as_mapping(), {}),
        ("Anatomy, l = 5", bare, _required("anatomy", "frequency-l-diversity", l=5)),
        ("slicing, k = 8", bare, _required("one-attribute-slicing", "bucket-size", k=8)),
    ):
        for people in (None, dataset):
            result = run(
                Plan.from_mapping(own | other),
                dataset if people is None else half,
                levels if own is not bare else {},
                population=people,
                assess=False,
            )
            public = "" if people is None else ", half of a public table"
            rows += _of_release(bench, f"{title}{public}", result, public=people is not None)
    techniques = ("optimal", "mondrian", "datafly", "top-down", "anatomy")
    over = Varied(
        variations=(
            Variation(path="algorithm", values=techniques),
            Variation(path="models.k", values=_SWEPT),
        ),
        settings={},
    )
    rows.append(
        _stopped(
            bench,
            f"a sweep of {len(techniques)} techniques × {len(_SWEPT)} values of k",
            lambda context: sweep(plan, over, dataset, levels, context=context, keep=False),
        )
    )
    print(table(f"How soon it stops, {shown(LATEST)} was asked: {source.title}", rows))


def _required(algorithm: str, model: str, **given: Any) -> dict[str, Any]:
    return {"algorithm": {"name": algorithm}, "models": [{"name": model, **given}]}


def _of_release(bench: Bench, title: str, result: Result, *, public: bool) -> list[Row]:
    """Stop the attacks that apply; with a public table only those that look at it."""
    rows: list[Row] = []
    for name in _attacks(result, public=public):
        adversary = cast(Attack, find("attack", name)())

        def work(context: Context, adversary: Attack = adversary) -> object:
            # A release of its own each time: nothing that was counted before is kept.
            release = replace(result.release)
            truth = truth_of(result.problem, release)
            return adversary.run(release.view, result.audience, truth, context)

        rows.append(_stopped(bench, f"{name}: {title}", work))
    return rows


def _attacks(result: Result, *, public: bool) -> Sequence[str]:
    """Return the attacks that apply: those that take their time, or look at the public table."""
    known = {name: cast(type[Attack], kind) for name, kind in family("attack").items()}
    return [
        name
        for name, kind in known.items()
        if (
            kind.needs.public or "linkability" in kind.aim.answers
            if public
            else kind.aim.discloses in ("identity", "presence") or not kind.use.by_default
        )
        and not not_applicable(kind(), result.release.view, result.audience)
    ]


def _stopped(bench: Bench, what: str, work: Work) -> Row:
    """Measure work, and the longest time from being asked to stop to its end."""
    row, _ = bench.time(what, lambda: work(Context()), once=bench.quick)
    rng = np.random.default_rng(len(what))
    worst = max(
        (_late(work, float(rng.uniform(0, min(row.seconds)))) for _ in range(_TRIES)), default=0.0
    )
    return replace(row, note=f"at the latest {shown(worst)} after it was asked to, of {_TRIES}")


def _late(work: Work, after: float) -> float:
    """Return the seconds between asking some work to stop and its end; 0 if it ended before."""
    context, asked = Context(), list[float]()

    def stop() -> None:
        asked.append(time.perf_counter())
        context.cancel.set()

    timer = threading.Timer(after, stop)
    timer.start()
    with suppress(Cancelled):
        work(context)
    ended = time.perf_counter()
    timer.cancel()
    return max(ended - asked[0], 0.0) if asked else 0.0
