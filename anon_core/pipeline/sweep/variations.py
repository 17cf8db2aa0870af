"""What a sweep varies of a plan: the technique, or a parameter, each with the values it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base.errors import BadPlan, brief, clipped, listing, nearest
from anon_core.base.params import Parameter
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.pipeline.post_check_search import fitted_to
from anon_core.recipe.plan import Plan

#: What a parameter can be varied over; others take tables or columns.
Value = int | float | bool | str
Choices = Mapping[str, Value]
_TECHNIQUE, _MODELS = "algorithm", "models"
#: Combinations that one sweep tries: each is a run of its own.
MOST_COMBINATIONS = 100_000


@dataclass(frozen=True, kw_only=True)
class Variation:
    """One thing that is varied.

    Attributes
    ----------
    path : str
        ``algorithm`` for the technique itself, ``algorithm.NAME`` for a parameter of it,
        ``models.NAME`` for a parameter of the one privacy model that has it, and
        ``models.MODEL.NAME`` where several do.
    values : tuple of int, float, bool or str
        At least one, none twice.
    """

    path: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Refuse what is no path of a plan, and values that say nothing new.

        Raises
        ------
        BadPlan
        """
        parts = self.path.split(".")
        shape = {_TECHNIQUE: (1, 2), _MODELS: (2, 3)}.get(parts[0], ())
        if len(parts) not in shape or not all(parts):
            raise BadPlan(
                f"A sweep cannot vary {clipped(self.path)!r}.",
                remedy="Name algorithm, algorithm.PARAMETER, models.PARAMETER or "
                "models.MODEL.PARAMETER.",
            )
        if not self.values:
            raise BadPlan(f"No value is given for {self.path}.", remedy="Give one or more.")
        if any(isinstance(v, float) and not math.isfinite(v) for v in self.values):
            raise BadPlan(
                f"{self.path} is given a value that is not a number.", remedy="Give finite numbers."
            )
        if len({(type(v) is bool, v) for v in self.values}) < len(self.values):
            raise BadPlan(f"{self.path} is given a value twice.", remedy="Give each value once.")


def read_variation(text: str) -> Variation:
    """Read what is varied from a text, as a command is given it.

    Raises
    ------
    BadPlan
        If the text does not say what is varied, or over what.

    Examples
    --------
    >>> read_variation("models.k=2,5,10")
    Variation(path='models.k', values=(2, 5, 10))
    """
    path, sign, values = text.partition("=")
    if not sign:
        raise BadPlan(
            f"{clipped(text)!r} does not say which values are tried.",
            remedy="Write it as models.k=2,5,10 or algorithm=mondrian,optimal.",
        )
    parts = [part.strip() for part in values.split(",")]
    return Variation(path=path.strip(), values=tuple(_value(t) for t in parts if t))


def _value(text: str) -> Value:
    """Return a value as a recipe would have it."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def combinations(variations: Sequence[Variation]) -> list[dict[str, Value]]:
    """Return every combination of the values; the last variation's values change fastest.

    Raises
    ------
    BadPlan
        If one thing is varied twice, or there are more than `MOST_COMBINATIONS`.
    """
    paths = [v.path for v in variations]
    twice = next((path for path in paths if paths.count(path) > 1), "")
    if twice:
        raise BadPlan(f"{twice} is varied twice.", remedy="Give all its values in one place.")
    many = math.prod(len(v.values) for v in variations)
    if many > MOST_COMBINATIONS:
        raise BadPlan(
            f"That is {many:,} combinations; at most {MOST_COMBINATIONS:,} are tried.",
            remedy="Give fewer values.",
        )
    every = itertools.product(*(v.values for v in variations))
    return [dict(zip(paths, values, strict=True)) for values in every]


def varied(
    plan: Plan, choices: Choices, settings: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with these choices made, and what had to give way to them.

    Parameters
    ----------
    choices : mapping of str to value
        By path; see `Variation`.
    settings : mapping of str to mapping, optional
        Parameters of techniques other than the plan's own, by name; else their defaults.

    Returns
    -------
    plan : Plan
    notes : tuple of str
        A sentence for each privacy model that another one is in for; see `stand_ins`.

    Raises
    ------
    BadPlan
        If a choice is none: no such technique or parameter, or a value out of its range.
    """
    recipe = plan.as_mapping()
    name = choices.get(_TECHNIQUE)
    if name is not None and name != recipe[_TECHNIQUE]["name"]:
        recipe[_TECHNIQUE] = {"name": str(name), **(settings or {}).get(str(name), {})}
    for path, value in choices.items():
        section, *rest = path.split(".")
        if section == _TECHNIQUE and rest:
            _refuse_unknown(
                find("algorithm", recipe[_TECHNIQUE]["name"]).parameters(), rest[0], path
            )
            recipe[_TECHNIQUE][rest[0]] = value
        elif section == _MODELS:
            model_at(plan, path)
            recipe[_MODELS][model_at(plan, path)][rest[-1]] = value
    technique = cast(type[Algorithm], find("algorithm", recipe[_TECHNIQUE]["name"]))
    notes = fitted_to(technique, recipe)
    return Plan.from_mapping(recipe), notes


def model_at(plan: Plan, path: str) -> int:
    """Return the place, in the plan, of the privacy model that a path is about.

    Raises
    ------
    BadPlan
        If no privacy model of the plan has the parameter, or several have and none is named.
    """
    _, *rest = path.split(".")
    name, own = rest[-1], rest[:-1]
    having = [
        place
        for place, model in enumerate(plan.models)
        if name in {p.name for p in model.parameters()} and own in ([], [model.name])
    ]
    if len(having) == 1:
        return having[0]
    required = [m.name for m in plan.models]
    if not having:
        names = [p.name for m in plan.models for p in m.parameters()]
        raise BadPlan(
            f"{path} is not a parameter of the plan's privacy models, {listing(required)}.",
            remedy=f"Name one of theirs: {listing(names)}.{nearest(name, names)}",
        )
    raise BadPlan(
        f"{path} could be a parameter of several privacy models.",
        remedy=f"Say of which: {' or '.join(f'models.{required[i]}.{name}' for i in having)}.",
    )


def numbers_of(models: Sequence[GroupModel]) -> dict[str, Parameter]:
    """Return the parameters of models that are numbers, by path: what is most often varied."""
    names = [p.name for m in models for p in m.parameters()]
    return {
        f"{_MODELS}.{p.name}" if names.count(p.name) == 1 else f"{_MODELS}.{m.name}.{p.name}": p
        for m in models
        for p in m.parameters()
        if p.kind in ("integer", "number")
    }


def _refuse_unknown(parameters: Sequence[Parameter], name: str, path: str) -> None:
    known = [p.name for p in parameters]
    if name not in known:
        raise BadPlan(
            f"{path} is not a parameter of the technique; it has {listing(known) or 'none'}.",
            remedy=f"Name one of them.{nearest(name, known)}",
        )


def choice_words(choices: Choices) -> str:
    """Return choices in words: the technique by its title, and each value by its name.

    Examples
    --------
    >>> choice_words({"models.k": 5})
    'k = 5'
    """
    known = family("algorithm")
    words = [
        known[str(value)].title
        if path == _TECHNIQUE and str(value) in known
        else f"{path.split('.')[-1]} = {brief(value)}"
        for path, value in choices.items()
    ]
    return ", ".join(words)
