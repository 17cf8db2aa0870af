"""The parts of a recipe, read one by one: each refuses what it is not, and names the place.

All of them raise `BadPlan`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
from anon_core.base.errors import BadPlan, brief, clipped, listing, nearest
from anon_core.base.params import Technique
from anon_core.base.params.structured_parameter import columns as as_columns
from anon_core.base.registry import Family, family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.change import Change, Changed
from anon_core.contracts.model import GroupModel
from anon_core.data.roles.roles import Roles
from anon_core.data.values.kinds import KINDS, ColumnKind


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
        n for one in changes if one.change.effect.replaces for n in one.columns if n in roles.quasi
    ]
    if replaced and models:
        raise BadPlan(
            f"{models[0].title} counts rows with equal quasi-identifiers, and the cells of "
            f"{listing(replaced)} are replaced: equal published cells are no crowd, since none of "
            "them need be its person's own.",
            remedy="Remove the privacy model and publish values as they are, or take the change "
            "away.",
        )


_T = TypeVar("_T", bound=Technique)
#: Means in a recipe the least level at which the privacy models can be met.
SEARCH = "search"

#: Files of one published table at most; their numbers have four digits.
MOST_PARTS = 9999


def technique_of(which: Family, base: type[_T], given: object) -> _T:
    """Return the technique that a table of the recipe names, with its parameters."""
    if not isinstance(given, Mapping) or "name" not in given:
        raise BadPlan(
            f"The recipe's {which} is not a table with a name.",
            remedy=f"Write name = '...' with one of {listing(family(which))}.",
        )
    table = dict(cast(Mapping[str, Any], given))
    found = find(which, str(table.pop("name")))
    if not issubclass(found, base):
        raise BadPlan(f"'{found.name}' cannot steer a search.", remedy="Choose another model.")
    return found.from_mapping(table)


def refuse_other_shape(algorithm: Algorithm, recipe: Mapping[str, Any]) -> None:
    """Refuse a [release] that is not what the technique publishes; it may be left out."""
    shape = algorithm.release_shape()
    refuse_unknown_keys("[release]", recipe, set(shape))
    for key, value in recipe.items():
        if value != shape[key] or isinstance(value, bool):
            raise BadPlan(
                f"[release] {key} is {brief(value)}; {algorithm.title} publishes "
                f"{brief(shape[key])}.",
                remedy="Remove [release]: it follows from the technique.",
            )


def refuse_unknown_keys(place: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse keys that a table of the recipe does not have."""
    for key in given:
        if key not in known:
            raise BadPlan(
                f"{place} has the unknown key '{key}'; known are "
                f"{listing(sorted(known)) or 'none'}.",
                remedy=f"Remove or rename it.{nearest(key, known)}",
            )


def table_of(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a table of the recipe; an empty one where there is none."""
    found = given.get(key, {})
    if not isinstance(found, Mapping):
        raise BadPlan(f"[{key}] is not a table.", remedy=f"Write [{key}] with key = value lines.")
    return cast(Mapping[str, Any], found)


def list_of(given: Mapping[str, Any], key: str) -> Sequence[object]:
    """Return a list of tables of the recipe; an empty one where there is none."""
    found = given.get(key, [])
    if not isinstance(found, list):
        raise BadPlan(
            f"[[{key}]] is not a list of tables.", remedy=f"Write [[{key}]] with two brackets."
        )
    return cast(list[object], found)


def names_of(roles: Mapping[str, Any], role: str) -> tuple[str, ...]:
    """Return the columns that a role names."""
    found = roles.get(role, [])
    if not isinstance(found, list) or not all(
        isinstance(n, str) and n for n in cast(list[object], found)
    ):
        raise BadPlan(
            f"[roles] {role} is not a list of column names; allowed are texts that are not empty.",
            remedy=f'Write {role} = ["column", ...].',
        )
    return tuple(cast(list[str], found))


def person_of(roles: Mapping[str, Any], role: str = "person") -> str:
    """Return the column of a role that one column has at most; empty where none has it."""
    found = roles.get(role, "")
    if not isinstance(found, str):
        where = "every row represents itself alone" if role == "weight" else f"a row is a {role}"
        raise BadPlan(
            f"[roles] {role} is not the name of a column.",
            remedy=f'Write {role} = "column", or leave it out where {where}.',
        )
    return found


def texts_of(place: str, given: Mapping[str, Any]) -> dict[str, str]:
    """Return a table of paths."""
    for key, value in given.items():
        if not isinstance(value, str):
            raise BadPlan(f"{place} {key} is {brief(value)}.", remedy="Write a path in quotes.")
    return dict(given)


def refuse_no_csv(csv: object, *, further: bool) -> None:
    """Refuse [export] csv that is not a yes or no, or that leaves out what others are made of."""
    if not isinstance(csv, bool):
        raise BadPlan(f"[export] csv is {brief(csv)}.", remedy="Write true or false.")
    if further and not csv:
        raise BadPlan(
            "[export] asks for files for other programs, which are compared with the CSV file, and "
            "says csv = false.",
            remedy="Leave out csv = false, or the further files.",
        )


def refuse_no_parts(parts: object) -> None:
    """Refuse [export] parts that is not a number of files."""
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= MOST_PARTS:
        raise BadPlan(
            f"[export] parts is {brief(parts)}.", remedy=f"Write a number from 1 to {MOST_PARTS:,}."
        )


def refuse_no_class_weights(
    asked: object, roles: Roles, algorithm: Algorithm, *, csv: bool
) -> None:
    """Refuse [export] class_weights that is no yes or no, or that has no classes or weights."""
    if not isinstance(asked, bool):
        raise BadPlan(
            f"[export] class_weights is {brief(asked)}; allowed are true and false.",
            remedy="Write true or false.",
        )
    if not asked:
        return
    shape = algorithm.shape
    why = (
        "no column has the role weight"
        if not roles.weight
        else f"'{roles.person or roles.household}' says that several rows count as one"
        if roles.person or roles.household
        else f"{algorithm.title} publishes no classes of whole rows"
        if shape.permutes or shape.averages
        else f"{algorithm.title} protects by chance, which the weights would undo"
        if shape.mechanism
        else "it says csv = false, which the file is compared with"
        if not csv
        else ""
    )
    if why:
        raise BadPlan(
            f"[export] asks for the mean weight of each class, and {why}.",
            remedy="Leave out class_weights, or the other.",
        )


def refuse_no_levels(levels: Mapping[str, object], roles: Roles) -> None:
    """Refuse levels of columns that are not sensitive alone, and values that are no level."""
    for name, level in levels.items():
        if name not in roles.sensitive or name in roles.quasi:
            raise BadPlan(
                f"[sensitive_levels] names '{name}', which is not sensitive only.",
                remedy="Name a column that is marked as sensitive and nothing else; levels of "
                "quasi-identifiers are the technique's.",
            )
        if level == SEARCH:
            continue
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise BadPlan(
                f"[sensitive_levels] {name} is {brief(level)}.",
                remedy=f"Use a whole number from 1 up, or '{SEARCH}' for the least that will do; "
                "leave the column out to publish its values.",
            )


def types_of(given: Mapping[str, Any]) -> dict[str, ColumnKind]:
    """Return the kinds that columns are declared to have."""
    for column, kind in given.items():
        if kind not in tuple(KINDS):  # what is given may be no text at all
            raise BadPlan(
                f"[types] '{column}' is {brief(kind)}; allowed are {listing(KINDS)}.",
                remedy="Use one of these types.",
            )
    return dict(given)


# A recipe's text as TOML's tables; whatever it is, the refusal says what is wrong with it.


MOST_LEVELS = 20
_MOST_BITS = 63  # as TOML asks of its readers
#: A key of more parts than this takes the parser longer than anybody waits.
_MOST_DOTS = 1000


def text_of_file(path: Path, what: str = "recipe") -> str:
    """Return the text of a recipe's file, or of another file of that kind.

    Raises
    ------
    BadPlan
        If it cannot be read, or is no UTF-8.
    """
    shown = f"The {what} {clipped(path.name)}"
    try:
        return read_regular(path, MOST_TEXT_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise BadPlan(
            f"{shown} cannot be read ({error.strerror}).", remedy="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise BadPlan(
            f"{shown} is not UTF-8 text (byte {error.start}).", remedy="Save it as UTF-8."
        ) from error


def read_tables(text: str, what: str = "recipe") -> dict[str, Any]:
    """Return the tables of a recipe, or of another file of that kind.

    Raises
    ------
    BadPlan
        If the text is no TOML, nests too deeply, or holds a number that is too long; names the
        place.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise BadPlan(
                f"The {what}'s line {number} has more than {_MOST_DOTS:,} dots.",
                remedy="Write keys of a few parts, and lists over several lines.",
            )
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPlan(
            f"The {what} is not valid TOML: {error}.", remedy="Correct the text at that place."
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise _too_long() from error
    _check(found)
    return found


def _check(tables: dict[str, Any]) -> None:
    level: list[object] = [tables]
    for _ in range(MOST_LEVELS):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += cast(dict[str, object], value).values()
            elif isinstance(value, list):
                inner += cast(list[object], value)
            elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise _too_long()
        level = inner
    if level:
        raise _too_deep()


def _too_deep() -> BadPlan:
    return BadPlan(
        f"The recipe nests more than {MOST_LEVELS} tables or lists into each other.",
        remedy="Write every table under a heading of its own.",
    )


def _too_long() -> BadPlan:
    return BadPlan(
        f"The recipe holds a whole number of more than {_MOST_BITS} bits.",
        remedy="Write a smaller number, or put the digits in quotes if they are not a number.",
    )
