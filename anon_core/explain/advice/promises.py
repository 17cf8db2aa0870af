"""The promises that stop what must not be learned, set for a threshold, as a technique can give."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, counted_in_people, refuse_unsteered
from anon_core.contracts.model import GroupModel, Stops
from anon_core.explain.advice.table_facts import Facts


def promised(
    technique: Algorithm, concealed: Sequence[Stops], chance: float, facts: Facts
) -> tuple[GroupModel, ...] | None:
    """Return the promises, or None where the technique cannot stop all that has to be stopped.

    For each thing to be stopped the promise that is offered first and fits technique and table.
    A way of releasing that protects by chance keeps none about values beside its own.

    Parameters
    ----------
    concealed : sequence of Stops
    chance : float
        The highest that is acceptable.
    """
    found: list[GroupModel] = []
    for stops in sorted(concealed, key=lambda one: one != "presence"):  # a mechanism needs its own
        if stops == "attribute":
            if technique.is_mechanism or not facts.shares:
                continue
            by_column = {
                name: _first(technique, stops, found, chance, share, facts)
                for name, share in facts.shares.items()
            }
            if None in by_column.values():
                return None
            found += _merged(cast(dict[str, GroupModel], by_column))
            continue
        known = Fraction(facts.rows, facts.public) if facts.public else Fraction(0)
        share = known if stops == "presence" else Fraction(0)
        model = _first(technique, stops, found, chance, share, facts)
        if model is None:
            return None
        found.append(model)
    return tuple(sorted(found, key=lambda model: list(_ORDER).index(model.stops))) or None


_ORDER: tuple[Stops, ...] = ("identity", "attribute", "presence")


def first_offered(stops: Stops) -> type[GroupModel]:
    """Return the promise that is offered first against something."""
    known = (k for k in family("model").values() if issubclass(k, GroupModel) and k.offered_at)
    return min((k for k in known if k.stops == stops), key=lambda k: k.offered_at)


def _first(
    technique: Algorithm,
    stops: Stops,
    beside: Sequence[GroupModel],
    chance: float,
    share: Fraction,
    facts: Facts,
) -> GroupModel | None:
    for kind in _offered(technique, stops):
        model = kind.at_chance(chance, share)
        if model is None or (model.needs_public and not facts.public):
            continue
        try:
            refuse_unsteered(technique, [*beside, model])
            counted_in_people(technique, [*beside, model], facts.person)
        except BadPlan:
            continue
        return model
    return None


def _offered(technique: Algorithm, stops: Stops) -> list[type[GroupModel]]:
    """Return the promises to try, in order: where columns are permuted, those made for groups."""
    known = [k for k in family("model").values() if issubclass(k, GroupModel) and k.stops == stops]
    if technique.permutes and stops != "presence":
        return sorted((k for k in known if k.replaces_whole_rows), key=lambda k: k.title)
    return sorted((k for k in known if k.offered_at), key=lambda k: k.offered_at)


def _merged(by_column: dict[str, GroupModel]) -> list[GroupModel]:
    """Return one promise of all columns where they are alike, else one of each."""
    models = list(by_column.values())
    if all(model == models[0] for model in models):
        return models[:1]
    return [
        type(model)(**{**model.as_mapping(), "column": name}) for name, model in by_column.items()
    ]
