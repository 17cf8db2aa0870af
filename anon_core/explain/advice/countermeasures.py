"""What would stop an attack on this table: changes of the plan, each a run of its own, measured.

Which changes are tried follows from what the attack discloses and needs; whether one of them helps
is not said beforehand but attacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast

from anon_core.base.context import Context, part_of, silent
from anon_core.base.errors import AnonError, Cancelled
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric, headline
from anon_core.contracts.model import GroupModel
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import Dataset
from anon_core.explain.advice.recommendations import ranked
from anon_core.explain.advice.table_facts import Facts, facts_of
from anon_core.pipeline.measure.extra_attacks import attack
from anon_core.pipeline.post_check_search import fitted_to
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult

#: Parameter by which techniques that may remove rows are given how many.
_BUDGET = "max_suppression"
_SHARE = 0.05
#: Other techniques that are tried, and other privacy models about values.
_TECHNIQUES, _MODELS = 3, 2

#: What a change comes to, next to the release as it is.
Verdict = Literal["stops it", "less", "no help", "not tested", "no release"]
#: How a change ended: the attack was run again, it does not apply to what is published then, or
#: nothing is published.
Status = Literal["attacked", "not tested", "no release"]


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a plan is carried out on; see `anon_core.pipeline.runner.run`."""

    dataset: Dataset
    levels: Mapping[str, LevelTable]
    population: Dataset | None = None
    earlier: Dataset | None = None


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One change of the plan, and what the attack came to then.

    Attributes
    ----------
    words : str
        The change; empty for the release as it is.
    status : {'attacked', 'not tested', 'no release'}
    why : str
        Why it was not attacked, or nothing is published; what else had to give way.
    plan : Plan or None
        With the change; None where there is no release.
    attack : AttackResult or None
        None where it was not run: that is no evidence of protection.
    loss : float
        What the release loses then, 0 to 1, by the headline metric of its kind; NaN without one.
    measure : str
        Title of that metric.
    suppressed : int
        Rows.
    """

    words: str
    status: Status
    why: str = ""
    plan: Plan | None = None
    attack: AttackResult | None = None
    loss: float = float("nan")
    measure: str = ""
    suppressed: int = 0

    def verdict(self, now: AttackResult) -> Verdict:
        """Say whether the change stops what `now` found, leaves less of it, or does not help.

        What was not decided is not stopped.
        """
        if self.attack is None:
            return "no release" if self.status == "no release" else "not tested"
        after = self.attack
        if not (after.at_risk or after.undecided or after.worst >= 1):
            return "stops it"
        before, then = (
            (a.at_risk / max(a.attempted, 1), a.undecided, a.rate) for a in (now, after)
        )
        return "less" if then < before else "no help"


def what_stops(
    result: Result,
    against: AttackResult,
    inputs: Inputs,
    context: Context | None = None,
    found: Callable[[Tried], object] | None = None,
) -> list[Tried]:
    """Carry out changes of a run's plan, and repeat one attack on each.

    Parameters
    ----------
    against : AttackResult
        One of the run's.
    inputs : Inputs
        What the run was made of.
    context : Context, optional
        For progress and cancel.
    found : callable, optional
        Informed of each change as it was tried.

    Returns
    -------
    list of Tried
        The release as it is first, then the changes in the order in which they are thought of.

    Raises
    ------
    Cancelled
        If the person stopped it.
    """
    whole = context or Context()
    people = 0 if inputs.population is None else inputs.population.rows
    facts = facts_of(result.problem.dataset, result.plan.roles, inputs.levels, people)
    plans = list(changes(result, against, facts))
    now = _measured("", "", result, against, whole)
    results = [now]
    fit = EncodedOnce()
    for place, (words, plan, note) in enumerate(plans):
        whole.report(place / len(plans), words)
        part = replace(
            part_of(whole, place / len(plans), (place + 1) / len(plans)), progress=silent
        )
        try:
            made = run(
                plan,
                inputs.dataset,
                inputs.levels,
                population=inputs.population,
                earlier=inputs.earlier,
                context=part,
                assess=False,
                fit=fit,
            )
            tried = _measured(words, note, made, against, part)
        except Cancelled:
            raise
        except AnonError as error:
            tried = Tried(words=words, status="no release", why=str(error))
        results.append(tried)
        if found is not None:
            found(tried)
    return results


def changes(result: Result, against: AttackResult, facts: Facts) -> Iterator[tuple[str, Plan, str]]:
    """Yield the changes to be tried: in words, the plan with it, and what gave way.

    Who is found depends on the size of classes and on rows that are separate; a value on what
    is together in a class. An attacker who knows the algorithm reckons with when it stopped, so
    another technique, or one that draws, may leave nothing to reckon with.
    """
    kind = cast(type[Attack], family("attack")[against.attack])
    seen = {_spelled(result.plan.as_mapping())}
    options = [*_larger(result.plan, against), *_budget(result.plan)]
    if kind.aim.discloses in ("attribute", "inferential") or kind.needs.stop_rule:
        options += _values(result.plan, against, facts)
    options += _techniques(result.plan, kind, facts)
    for words, recipe in options:
        technique = cast(type[Algorithm], find("algorithm", recipe["algorithm"]["name"]))
        try:
            notes = fitted_to(technique, recipe)
            plan = Plan.from_mapping(recipe)
        except AnonError:
            continue
        if _spelled(recipe) not in seen:
            seen.add(_spelled(recipe))
            yield words, plan, " ".join(notes)


def _spelled(recipe: Mapping[str, Any]) -> str:
    return repr((recipe["algorithm"], recipe["models"]))


def _larger(plan: Plan, against: AttackResult) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ask for classes of twice the size, and of five times."""
    for place, model in enumerate(plan.models):
        if not model.size_parameter:
            continue
        for times in (2, 5):
            size = times * model.size_asked
            if size > against.attempted:
                continue
            recipe = plan.as_mapping()
            recipe["models"][place][model.size_parameter] = size
            yield f"Set {model.size_parameter} = {size:,}", recipe


def _budget(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Allow rows to be removed, where the technique can and none or fewer may go."""
    own = {p.name for p in plan.algorithm.parameters()}
    if _BUDGET in own and getattr(plan.algorithm, _BUDGET) < _SHARE:
        recipe = plan.as_mapping()
        recipe["algorithm"][_BUDGET] = _SHARE
        yield f"Let up to {_SHARE:.0%} of the rows be suppressed", recipe


def _values(
    plan: Plan, against: AttackResult, facts: Facts
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Require something of values that is not required yet, in the order of models offered."""
    column = against.column or next(iter(facts.shares), "")
    if column not in facts.shares:
        return
    known = [k for k in family("model").values() if issubclass(k, GroupModel) and k.aim.offered_at]
    offered = sorted(
        (k for k in known if k.aim.stops == "attribute"), key=lambda k: k.aim.offered_at
    )
    required = {model.name for model in plan.models}
    many = 0
    for kind in offered:
        # A quarter of what could be gained beyond guessing the most common value is left.
        share = facts.shares[column]
        model = kind.at_chance(float(share + (1 - share) / 4), Fraction(share))
        if kind.name in required or model is None or many == _MODELS:
            continue
        many += 1
        recipe = plan.as_mapping()
        own = model.as_mapping()
        named = {"column": column} if "column" in own else {}
        recipe["models"].append({"name": model.name, **own, **named})
        bound = ", ".join(f"{n} = {v:g}" for n, v in own.items() if type(v) in (int, float))
        yield f"Also require {model.title} ({bound})" if bound else model.title, recipe


def _techniques(
    plan: Plan, kind: type[Attack], facts: Facts
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Keep the models by another technique, in order of use; where columns stay linked, others.

    Anyone who finds a row goes along links that permuting cuts, and a search that draws does not
    say when it stopped.
    """
    many = 0
    for technique in ranked("sharing", facts):
        if technique.name == plan.algorithm.name or many == _TECHNIQUES:
            continue
        if technique.shape.mechanism or (technique.needs.public and not facts.public):
            continue
        many += 1
        recipe = plan.as_mapping()
        recipe["algorithm"] = {"name": technique.name}
        yield f"{technique.title} instead of {plan.algorithm.title}", recipe
    drawn = [t for t in family("algorithm").values() if _draws_levels(t)]
    if kind.needs.stop_rule:
        for technique in drawn[:1]:
            recipe = plan.as_mapping()
            recipe["algorithm"] = {"name": technique.name}
            yield f"{technique.title}, which draws, instead of {plan.algorithm.title}", recipe


def _draws_levels(technique: type[Any]) -> bool:
    """Say whether a technique searches levels by chance, which protects nothing."""
    return technique.shape.by_chance and technique.shape.one_level and not technique.shape.mechanism


def _measured(
    words: str, note: str, made: Result, against: AttackResult, context: Context
) -> Tried:
    """Attack a release as the run's own was attacked, and measure what it lost."""
    planned = {one.name: one for one in made.plan.attacks}
    kind = cast(type[Attack], family("attack")[against.attack])
    adversary = planned.get(against.attack) or kind()
    metric = cast(
        type[Metric],
        family("metric")[headline("groups" if made.release.grouping.published else "cells")],
    )()
    loss = metric.measure(made.problem, made.release, context).value
    tried = Tried(
        words=words,
        status="not tested",
        why=not_applicable(adversary, made.release.view, made.audience),
        plan=made.plan,
        loss=loss,
        measure=metric.title,
        suppressed=made.release.suppressed,
    )
    if tried.why:
        return tried
    if not words:
        return replace(tried, status="attacked", attack=against)
    here = next((a for a in attack(made, adversary, context) if a.column == against.column), None)
    if here is None or here.idle:
        return replace(tried, why="No one could be attacked.")
    return replace(tried, status="attacked", attack=here, why=note)
