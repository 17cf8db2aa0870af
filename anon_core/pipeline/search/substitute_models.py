"""Promises that stand in for others which a technique cannot give, so that both can be compared."""

from __future__ import annotations

from typing import Any, cast

from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.class_groups import made_for_shares


def fitted_to(technique: type[Algorithm], recipe: dict[str, Any]) -> tuple[str, ...]:
    """Put promises about groups in the place of those about whole rows, where columns are permuted.

    Of a size of classes the same size of groups stands in; a promise without a size, or one that
    is given already, stays as it is, so that the run says itself why it is not defined. Where the
    technique's way to form groups is made for a promise that is not given, one that takes any
    promise forms them.

    Parameters
    ----------
    technique : type of Algorithm
    recipe : dict
        A plan's tables, which are changed.

    Returns
    -------
    tuple of str
        A sentence for each thing that was changed.
    """
    if not technique.permutes:
        return ()
    known = cast(dict[str, type[GroupModel]], family("model"))
    by_size = next((m for m in known.values() if m.replaces_whole_rows and m.size_parameter), None)
    notes: list[str] = []
    for place, model in enumerate(recipe["models"]):
        own = known.get(model["name"])
        if own is None or by_size is None or not own.needs_whole_rows or not own.size_parameter:
            continue
        if any(m["name"] == by_size.name for m in recipe["models"]):
            continue
        default = next(p.default for p in own.parameters() if p.name == own.size_parameter)
        size = model.get(own.size_parameter, default)
        recipe["models"][place] = {"name": by_size.name, by_size.size_parameter: size}
        notes.append(
            f"{by_size.title} of {size} replaces {own.title}, which is about whole rows and "
            "not defined where columns are permuted separately."
        )
    return (*notes, *_groups_for_any(technique, recipe))


def _groups_for_any(technique: type[Algorithm], recipe: dict[str, Any]) -> tuple[str, ...]:
    """Let a partitioner that takes any promise form the groups, where the one set cannot."""
    models = cast(dict[str, type[GroupModel]], family("model"))
    own = [models[m["name"]] for m in recipe["models"] if m["name"] in models]
    if any(m.most_share is not GroupModel.most_share for m in own):
        return ()
    known = cast(dict[str, type[Partitioner]], family("partitioner"))
    other = next(kind for kind in known.values() if kind.takes_any_promise)
    notes: list[str] = []
    for parameter in technique.parameters():
        if parameter.options_of != "partitioner":
            continue
        if made_for_shares(
            parameter.part(recipe["algorithm"].get(parameter.name, parameter.default))
        ):
            recipe["algorithm"][parameter.name] = other.name
            notes.append(
                f"{other.title} forms the groups, since no model limits the share of a "
                "sensitive value."
            )
    return tuple(notes)
