"""Changes of single columns in a recipe: ``[[changes]]``, each with its columns and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.base.params.structured_parameter import columns as as_columns
from anon_core.contracts.change import Change, Changed
from anon_core.contracts.model import GroupModel
from anon_core.data.roles.roles import Roles
from anon_core.recipe.readers import technique_of


def changes_of(given: Sequence[object]) -> tuple[Changed, ...]:
    """Read the recipe's ``[[changes]]``.

    Raises
    ------
    BadPlan
    """
    return tuple(_read(one) for one in given)


def _read(given: object) -> Changed:
    table = dict(cast(Mapping[str, Any], given)) if isinstance(given, Mapping) else {}
    named = table.pop("columns", None)
    found = as_columns(named)
    if not found:
        raise BadPlan(
            f"[[changes]] columns is {brief(named)}.",
            remedy='Name the columns that are changed, each once: columns = ["patient"].',
        )
    return Changed(change=technique_of("change", Change, table), columns=found)


def refuse_no_changes(
    changes: Sequence[Changed],
    roles: Roles,
    models: Sequence[GroupModel],
    elsewhere: Mapping[str, object],
) -> None:
    """Refuse changes that contradict each other, the roles, or the privacy models.

    Parameters
    ----------
    changes : sequence of Changed
    models : sequence of GroupModel
    elsewhere : mapping of str to object
        Columns whose cells something else of the recipe replaces.

    Raises
    ------
    BadPlan
    """
    every = [name for one in changes for name in one.columns]
    twice = [n for n in dict.fromkeys(every) if every.count(n) > 1 or n in elsewhere]
    if twice:
        raise BadPlan(
            f"Column {listing(twice)} would be changed twice.", remedy="Keep one of the changes."
        )
    for one in changes:
        one.refuse_roles(roles)
    replaced = [
        n for one in changes if one.change.replaces for n in one.columns if n in roles.quasi
    ]
    if replaced and models:
        raise BadPlan(
            f"{models[0].title} counts rows with equal quasi-identifiers, and the cells of "
            f"{listing(replaced)} are replaced: equal published cells are no crowd, since none of "
            "them need be its person's own.",
            remedy="Remove the privacy model and publish values as they are, or take the change "
            "away.",
        )
