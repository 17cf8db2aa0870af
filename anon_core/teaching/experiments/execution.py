"""Carry out an experiment step by step: what is finished is kept, and a later run goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError, BadInput, Cancelled, Infeasible, NotFound
from anon_core.base.plain_values import finite
from anon_core.explain.text.phrases import few
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.experiment import Claim, Experiment, Verdict, verdict
from anon_core.teaching.experiments.points import Found, Point, Settings
from anon_core.teaching.experiments.tables import Tables

#: A file for each experiment, written by `scripts/experiments_table.py`.
FOLDER = Path(__file__).parent / "documented"
_KEPT = ("settings", "table", "generated", "steps")


@cache
def documented(experiment: Experiment) -> Report | None:
    """Return the documented run of an experiment; None where there is none."""
    path = FOLDER / f"{experiment.id}.json"
    if not path.is_file():
        return None
    return read_again(json.loads(path.read_text(encoding="utf-8")), experiment)


def size_of(report: Report) -> str:
    """Return with which settings a run was made."""
    experiment = report.experiment
    return "full settings" if report.settings == experiment.full else "small settings"


def run_said(report: Report) -> str:
    """Return with what a run was made, and how long it took."""
    return f"{size_of(report)}, {report.table}, {report.seconds:.0f} s"


def document(content: Mapping[str, Any], id: str) -> None:
    """Keep what an experiment left as its documented run."""
    FOLDER.mkdir(exist_ok=True)
    kept = finite({name: content[name] for name in _KEPT})
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (FOLDER / f"{id}.json").write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Done:
    """A step that is finished.

    Attributes
    ----------
    points : tuple of Point
        Empty where nothing could be released.
    why_not : str
        Why there are no points.
    proven : bool
        Whether it is proven that no release keeps what was asked.
    timed_out : bool
        Whether its time box ended before it was decided: more time may decide it.
    """

    key: str
    points: tuple[Point, ...]
    seconds: float
    why_not: str = ""
    proven: bool = False
    timed_out: bool = False


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an experiment has come to.

    Attributes
    ----------
    table : str
        What it was run on, for people.
    generated : bool
        Whether a generated table stood in.
    done : tuple of Done
        The finished steps, in order.
    """

    experiment: Experiment
    settings: Settings
    table: str
    generated: bool
    done: tuple[Done, ...]

    @property
    def points(self) -> list[Point]:
        """The points of all finished steps."""
        return [point for one in self.done for point in one.points]

    @property
    def seconds(self) -> float:
        """Seconds of all finished steps."""
        return sum(one.seconds for one in self.done)

    @property
    def whole(self) -> bool:
        """Whether every step is finished."""
        keys = {one.key for one in self.done}
        return all(step.key in keys for step in self.experiment.steps(self.settings))

    @property
    def claims(self) -> Sequence[Claim]:
        """What the source says, held against what was measured."""
        return self.experiment.claims(
            Found(
                points=self.points,
                settings=self.settings,
                generated=self.generated,
                whole=self.whole,
                refused={one.key: one.why_not for one in self.done if one.why_not},
                proven=frozenset(one.key for one in self.done if one.proven),
                seconds={one.key: one.seconds for one in self.done},
            )
        )

    @property
    def timed_out(self) -> tuple[str, ...]:
        """Keys of the steps whose time box ended before they were decided."""
        return tuple(one.key for one in self.done if one.timed_out)

    @property
    def verdict(self) -> Verdict:
        """How the figures are to the source."""
        late = self.timed_out
        if not late or not self.whole:
            return verdict(self.claims)
        return verdict(
            self.claims,
            timed_out=f"The time box of {self.settings.seconds:g} s ended before these were "
            f"decided: {few(late, 3)}. More time may decide them.",
        )

    def as_mapping(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        verdict = self.verdict
        experiment = self.experiment
        return {
            "schema": 1,
            "id": experiment.id,
            "title": experiment.title,
            "source": experiment.source.cited,
            "shows": experiment.shows,
            "verdict": verdict.outcome,
            "why": verdict.why,
            "claims": [asdict(claim) for claim in self.claims],
            "settings": asdict(self.settings),
            "table": self.table,
            "generated": self.generated,
            "seconds": self.seconds,
            "printed": [asdict(one) for one in experiment.printed],
            "steps": [asdict(one) for one in self.done],
        }


def kept_steps(content: Mapping[str, Any], settings: Settings, table: str) -> tuple[Done, ...]:
    """Return the finished steps of an earlier report; none where settings or table were others.

    Of a run with another time box those are kept that were decided within theirs.

    Raises
    ------
    BadInput
        If it is no such report.
    """
    try:
        before = _settings_of(content)
        same = replace(before, seconds=settings.seconds) == settings
        if not same or content["table"] != table:
            return ()
        # With another time box only what ran out of the earlier one is measured again.
        again = before.seconds != settings.seconds
        return tuple(one for one in _done_of(content) if not (again and one.timed_out))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            "The earlier figures cannot be read as those of an experiment.",
            remedy="Name another folder, or delete experiment.json.",
        ) from error


def read_again(content: Mapping[str, Any], experiment: Experiment) -> Report:
    """Return a report that was written; its claims are judged again."""
    return Report(
        experiment=experiment,
        settings=_settings_of(content),
        table=str(content["table"]),
        generated=bool(content["generated"]),
        done=_done_of(content),
    )


def _settings_of(content: Mapping[str, Any]) -> Settings:
    given: dict[str, Any] = dict(content["settings"])
    for name in ("at", "columns"):
        given[name] = tuple(given[name])
    return Settings(**given)


def _done_of(content: Mapping[str, Any]) -> tuple[Done, ...]:
    return tuple(
        Done(
            key=one["key"],
            points=tuple(Point(**point) for point in one["points"]),
            seconds=one["seconds"],
            why_not=one["why_not"],
            proven=one["proven"],
            timed_out=one.get("timed_out", False),
        )
        for one in content["steps"]
    )


def steps_done(
    experiment: Experiment, bench: Bench, context: Context, kept: Sequence[Done] = ()
) -> Generator[Done]:
    """Yield every step as it is finished; those kept from before come first and cost nothing.

    Raises
    ------
    Cancelled
        If the person stopped it; what was yielded stays.
    """
    before = {one.key: one for one in kept}
    steps = experiment.steps(bench.settings)
    yield from (before[step.key] for step in steps if step.key in before)
    todo = [step for step in steps if step.key not in before]
    for place, step in enumerate(todo, start=len(steps) - len(todo)):
        context.report(place / len(steps), step.key)
        own = part_of(context, place / len(steps), (place + 1) / len(steps))
        began = time.perf_counter()
        points: tuple[Point, ...] = ()
        why_not, proven, late = "", False, False
        try:
            points = tuple(experiment.measure(step, bench, own))
        except Cancelled:
            raise
        except AnonError as error:
            why_not, proven = error.message, isinstance(error, Infeasible)
            late = isinstance(error, NotFound) and error.timed_out
        yield Done(
            key=step.key,
            points=points,
            seconds=time.perf_counter() - began,
            why_not=why_not,
            proven=proven,
            timed_out=late or any(point.timed_out for point in points),
        )


def carry_out(
    experiment: Experiment,
    settings: Settings,
    tables: Tables,
    context: Context | None = None,
    *,
    kept: Sequence[Done] = (),
    found: Callable[[Report], object] | None = None,
) -> Report:
    """Carry out an experiment, and return what it came to.

    Parameters
    ----------
    context : Context, optional
        For progress and cancel.
    kept : sequence of Done
        Steps that were finished before with the same settings on the same table.
    found : callable, optional
        Informed of the report after every step.

    Raises
    ------
    Cancelled
        If the person stopped it; `found` was called with what it had come to.
    """
    bench = Bench(tables=tables, settings=settings)
    table = bench.table(experiment.table)
    done: list[Done] = []

    def report() -> Report:
        return Report(
            experiment=experiment,
            settings=settings,
            table=table.title,
            generated=table.generated,
            done=tuple(done),
        )

    for one in steps_done(experiment, bench, context or Context(), kept):
        done.append(one)
        if found is not None:
            found(report())
    return report()
