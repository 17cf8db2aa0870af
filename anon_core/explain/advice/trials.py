"""Carry a plan out before it is offered, and say what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from anon_core.base.context import Context, now
from anon_core.base.context import silent as no_report
from anon_core.base.errors import AnonError, BadPlan, Cancelled, Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.base.terms import LOSS
from anon_core.contracts.metric import headline
from anon_core.data.table import Dataset
from anon_core.explain.advice.countermeasures import Inputs
from anon_core.explain.advice.fixes import BUDGET, Change, changes, with_budget, without
from anon_core.explain.advice.recommendations import Recommendation
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import foresee, run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult

#: Rows up to which a plan is tried on the whole table; of a larger one, a sample of so many is.
MOST_ROWS = 50_000
#: Any number: the same table gives the same sample, and nothing of it is published.
_DRAWN_WITH = 35
#: Tables of a recipe that take the place of the present ones.
_Tables = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a plan came to on a table.

    Attributes
    ----------
    refused : AnonError or None
        Why nothing would be released.
    missed : tuple of AttackResult
        The attacks whose threshold the release misses.
    loss : float or None
        What it loses, 0 to 1, by the metric that says it in one figure.
    result : Result or None
        What would be released, to take further figures from.
    """

    refused: AnonError | None = None
    missed: tuple[AttackResult, ...] = ()
    loss: float | None = None
    result: Result | None = None

    @property
    def good(self) -> bool:
        """Whether something is released, and every threshold met."""
        return self.refused is None and not self.missed


def tried(recipe: Mapping[str, Any], given: Inputs, context: Context) -> Trial:
    """Carry a recipe out on its table, and return what came of it.

    Raises
    ------
    Cancelled
        If the person stopped it.
    """
    try:
        plan = Plan.from_mapping(recipe)
        levels = {name: rows for name, rows in given.levels.items() if name in plan.hierarchies}
        result = run(
            plan,
            given.dataset,
            levels,
            population=given.population,
            earlier=given.earlier,
            context=replace(context, progress=no_report),
        )
    except Cancelled:
        raise
    except AnonError as error:
        return Trial(refused=error)
    missed = tuple(a for a in result.attacks if _misses(a))
    permuted = result.release.grouping.published
    measure = result.measures.get(headline("groups" if permuted else "cells"))
    loss = None if measure is None else measure.share
    return Trial(missed=missed, loss=loss, result=result)


def _misses(attack: AttackResult) -> bool:
    return _limited(attack) and attack.worst > attack.threshold


def _limited(attack: AttackResult) -> bool:
    named = {p.name for p in family("attack")[attack.attack].parameters()}
    return "threshold" in named and not attack.idle


#: Seconds after which no further plan is tried, and most that are offered.
_SECONDS, _MOST = 20.0, 3
#: How often a size is raised for thresholds that are missed, and the least step.
_RAISED, _STEP = 3, 1.25


def tried_out(
    found: Sequence[Recommendation],
    recipe_of: Callable[[Recommendation], Mapping[str, Any]],
    given: Inputs,
    context: Context,
) -> list[tuple[Recommendation, Trial]]:
    """Try recommendations, best first, until three of them release and meet every threshold.

    Where a threshold is missed, larger classes are asked for and tried, too.

    Parameters
    ----------
    recipe_of : callable
        Returns the whole recipe that a recommendation makes.

    Returns
    -------
    list of (Recommendation, Trial)
        In the order in which they were tried, as they were tried last.
    """
    began, done = now(), list[tuple[Recommendation, Trial]]()
    for one in found:
        context.report(len(done) / max(len(found), 1), "Trying recommendations")
        trial = tried(recipe_of(one), given, context)
        for _ in range(_RAISED):
            larger = _larger(one, trial)
            if larger is None or now() - began > _SECONDS:
                break
            again = tried(recipe_of(larger), given, context)
            if again.refused is not None:
                break
            one, trial = larger, again
        done.append((one, trial))
        if sum(t.good for _, t in done) == _MOST or now() - began > _SECONDS:
            break
    return done


def _loss_of(trial: Trial) -> float:
    return math.inf if trial.loss is None else trial.loss


def _chance_of(trial: Trial) -> float:
    attacks = () if trial.result is None else trial.result.attacks
    return max((a.worst for a in attacks if _limited(a)), default=0.0)


def _suppressed_by(trial: Trial) -> float:
    return 0.0 if trial.result is None else trial.result.release.suppressed


#: What offers are ranked by: the name of a figure, and how it is read.
_LOSS, _CHANCE = (LOSS.lower(), _loss_of), ("chance", _chance_of)
_ROWS = ("suppressed", _suppressed_by)


@dataclass(frozen=True, kw_only=True)
class Offers:
    """Which recommendations are worth offering.

    Attributes
    ----------
    shown : tuple of (Recommendation, Trial or None)
        Those that release and meet every threshold; where there is none, those that release. None
        for a trial where something has to be settled before any run.
    order : str
        By what they are in order, so that none comes after one that is worse in everything.
    refused : tuple of (Recommendation, AnonError)
        Those that release nothing.
    sample : int
        Rows that they were tried on, where these are not all; else 0.
    unsettled : AnonError or None
        What every run refuses until it is settled.
    """

    shown: tuple[tuple[Recommendation, Trial | None], ...] = ()
    order: str = ""
    refused: tuple[tuple[Recommendation, AnonError], ...] = ()
    sample: int = 0
    unsettled: AnonError | None = None


def worth_offering(
    found: Sequence[Recommendation],
    recipe_of: Callable[[Recommendation], Mapping[str, Any]],
    given: Inputs,
    context: Context,
) -> Offers:
    """Try recommendations, and return those that are worth offering; see `tried_out`.

    Of a table of more than `MOST_ROWS` rows a sample is tried.
    """
    table = sample_of(given.dataset, recipe_of(found[0])) if found else given.dataset
    done = tried_out(found, recipe_of, replace(given, dataset=table), context)
    unsettled = next((t.refused for _, t in done if isinstance(t.refused, BadPlan)), None)
    if unsettled is not None:
        return untried(found, unsettled)
    released = [(one, trial) for one, trial in done if trial.refused is None]
    good = [(one, trial) for one, trial in released if trial.good]
    # Where no threshold is met, that comes first which is nearest to it.
    least = (_LOSS, _CHANCE, _ROWS) if good else (_CHANCE, _LOSS, _ROWS)
    ranked = sorted(good or released, key=lambda offer: [figure(offer[1]) for _, figure in least])
    return Offers(
        shown=(*ranked[:_MOST],),
        order=f"least {least[0][0]} first" if len(ranked) > 1 else "",
        refused=tuple((one, t.refused) for one, t in done if t.refused is not None),
        sample=0 if table is given.dataset else table.rows,
    )


def untried(found: Sequence[Recommendation], why: AnonError | None = None) -> Offers:
    """Return the first few as they are, where nothing can be tried yet."""
    return Offers(shown=tuple((one, None) for one in found[:_MOST]), unsettled=why)


def sample_of(table: Dataset, recipe: Mapping[str, Any]) -> Dataset:
    """Return a table of at most about `MOST_ROWS` rows, with all rows of each person in it.

    Parameters
    ----------
    recipe : mapping of str to object
        Its roles say which column distinguishes persons.
    """
    if table.rows <= MOST_ROWS:
        return table
    roles = recipe.get("roles", {})
    unit = str(roles.get("household") or roles.get("person") or "")
    generator = np.random.default_rng(_DRAWN_WITH)
    share = MOST_ROWS / table.rows
    if unit:
        codes = table.column(unit).codes
        return table.only(generator.random(int(codes.max()) + 2)[codes] < share)
    kept = np.zeros(table.rows, dtype=np.bool_)
    kept[generator.choice(table.rows, MOST_ROWS, replace=False)] = True
    return table.only(kept)


def _larger(one: Recommendation, trial: Trial) -> Recommendation | None:
    """Return the recommendation with classes that may meet what was missed; None if none would."""
    asked = max((model.size_asked for model in one.models), default=0)
    if trial.refused is not None or not trial.missed or not asked:
        return None
    beyond = max(a.worst / a.threshold if a.threshold else math.inf for a in trial.missed)
    if not math.isfinite(beyond):
        return None
    size = math.ceil(asked * max(beyond, _STEP))
    models = tuple(m.with_size(size) if m.size_asked == asked else m for m in one.models)
    return replace(one, models=models)


def mended(
    recipe: Mapping[str, Any], error: AnonError, given: Inputs, context: Context
) -> list[Change]:
    """Return the changes of a refused recipe that lead to a release; each is tried here.

    Those come first that keep the most of it: the nearest value, the least budget, one column left
    out. Of a table of more than `MOST_ROWS` rows a sample is tried.
    """
    began, found = now(), list[Change]()
    given = replace(given, dataset=sample_of(given.dataset, recipe))
    near = list(nearest(recipe, given, context)) if isinstance(error, Infeasible | NotFound) else []
    for change in (*near, *changes(recipe, error)):
        if len(found) == _MOST or now() - began > _SECONDS / 2:
            break
        known = {one.about for one in found}
        # A privacy model is weakened by what it asks for before another one replaces it.
        if change.about and (change.about in known or (change.about == "model" and found)):
            continue
        context.report(1.0, "Looking for what helps")
        trial = tried({**recipe, **change.tables}, given, context)
        if trial.result is not None and (change in near or not trial.result.is_silent):
            found.append(change)
    return found


def telling(recipe: Mapping[str, Any], given: Inputs, context: Context) -> list[Change]:
    """Return the changes of a recipe whose release says nothing with which one says something.

    Each is carried out here; of a table of more than `MOST_ROWS` rows a sample is tried.
    """
    began, found = now(), list[Change]()
    given = replace(given, dataset=sample_of(given.dataset, recipe))
    others = (change for change in changes(recipe) if change.about != "model")
    for change in chain(nearest(recipe, given, context), others):
        if len(found) == _MOST or now() - began > _SECONDS / 2:
            break
        trial = tried({**recipe, **change.tables}, given, context)
        if trial.result is not None and not trial.result.is_silent:
            found.append(change)
    return found


#: Seconds for each kind of change whose nearest value is looked for.
_SEARCHING = 2.5
#: The largest share of rows that may be offered to be suppressed, and the step, in thousandths.
_LARGEST, _THOUSANDTHS = 500, 1000


def nearest(recipe: Mapping[str, Any], given: Inputs, context: Context) -> Iterator[Change]:
    """Return the smallest changes of a recipe with which a search releases what says something.

    One of a number of a privacy model, one of the suppression budget, one of the columns. The
    number may be one with which the release says nothing where no other helps.
    """
    look = _Look(recipe=recipe, given=given, context=context)
    yield from _nearest_number(look)
    yield from _least_budget(look)
    yield from _one_column_less(look)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What a change comes to by the search alone."""

    recipe: Mapping[str, Any]
    given: Inputs
    context: Context
    fit: EncodedOnce = field(default_factory=EncodedOnce)

    def loss(self, tables: Mapping[str, Any], *, silent: bool = False) -> float | None:
        """Return what a release loses; None without one, or, mostly, where it says nothing."""
        given = self.given
        try:
            plan = Plan.from_mapping({**self.recipe, **tables})
            result = foresee(
                plan,
                given.dataset,
                {name: rows for name, rows in given.levels.items() if name in plan.hierarchies},
                population=given.population,
                earlier=given.earlier,
                context=replace(self.context, progress=no_report),
                fit=self.fit,
            )
        except Cancelled:
            raise
        except AnonError:
            return None
        if result.is_silent and not silent:
            return None
        kind = "groups" if result.release.grouping.published else "cells"
        measure = result.measures.get(headline(kind))
        return 0.0 if measure is None else measure.share


def _nearest_number(look: _Look) -> Iterator[Change]:
    """Ask for as much as can be had: the highest k or l, the lowest share."""
    models: Sequence[Mapping[str, Any]] = look.recipe.get("models", [])
    known = family("model")
    numbers = [
        (place, parameter)
        for place, model in enumerate(models)
        if str(model["name"]) in known
        for parameter in known[str(model["name"])].parameters()
        if parameter.kind in ("integer", "number") and not parameter.quiet
    ]
    for silent in (False, True):
        for place, parameter in numbers:
            asked = models[place].get(parameter.name, parameter.default)
            if not isinstance(asked, int | float):
                continue

            def tables(value: float, place: int = place, name: str = parameter.name) -> _Tables:
                made = [dict(model) for model in models]
                made[place][name] = value
                return {"models": made}

            for end in (parameter.low, parameter.high):
                if end is None or end == asked:
                    continue
                found = _furthest(look, tables, _grid(float(end), float(asked)), silent=silent)
                if found is not None:
                    value = int(found) if parameter.kind == "integer" else found
                    most = "highest" if value < asked else "lowest"
                    does = "releases anything" if silent else "keeps any detail"
                    named = parameter.label or parameter.name
                    yield Change(
                        label=f"Set {named} = {value:,}",
                        tables=tables(value),
                        note=f"The {most} {named} with which this technique {does} "
                        "within its budget.",
                        about="size",
                    )
                    return


def _least_budget(look: _Look) -> Iterator[Change]:
    """Allow as few rows as possible to be suppressed."""
    algorithm: Mapping[str, Any] = look.recipe["algorithm"]
    own = {p.name: p.default for p in family("algorithm")[str(algorithm["name"])].parameters()}
    if BUDGET not in own:
        return
    now_allowed = float(algorithm.get(BUDGET, own[BUDGET]))
    steps = range(_LARGEST, math.ceil(now_allowed * _THOUSANDTHS) - 1, -1)
    shares = [step / _THOUSANDTHS for step in steps]
    found = _furthest(look, lambda share: with_budget(algorithm, share).tables, shares)
    if found is not None:
        yield replace(
            with_budget(algorithm, found),
            note="The least budget that these settings need, to a tenth of a per cent.",
        )


def _one_column_less(look: _Look) -> Iterator[Change]:
    """Leave out the column without which the least is lost."""
    began, best, least = now(), None, math.inf
    columns: Sequence[str] = look.recipe["roles"]["quasi"]
    for column in columns if len(columns) > 1 else ():
        if now() - began > _SEARCHING:
            break
        change = without(look.recipe, column)
        loss = look.loss(change.tables)
        if loss is not None and loss < least:
            best, least = change, loss
    if best is not None:
        yield replace(best, note="The column without which the release loses least.")


def _furthest(
    look: _Look,
    tables: Callable[[float], _Tables],
    values: Sequence[float],
    *,
    silent: bool = False,
) -> float | None:
    """Return the last of some values that releases; None where not even the first one does.

    The last value is what was refused. Where time runs out, it is the last that was found.
    """
    began = now()
    if len(values) < 2 or look.loss(tables(values[0]), silent=silent) is None:
        return None
    good, bad = 0, len(values) - 1
    while bad - good > 1 and now() - began < _SEARCHING:
        middle = (good + bad) // 2
        if look.loss(tables(values[middle]), silent=silent) is None:
            bad = middle
        else:
            good = middle
    return values[good]


def _grid(first: float, last: float) -> Sequence[float]:
    """Return the values between two ends: whole numbers, or 1,000 steps to three digits."""
    if first.is_integer() and last.is_integer() and abs(first - last) > 1:
        step = 1 if first < last else -1
        return range(int(first), int(last) + step, step)
    inner = np.linspace(first, last, 1001)[1:-1]
    return [first, *dict.fromkeys(float(f"{value:.3g}") for value in inner), last]
