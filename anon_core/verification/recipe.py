"""What a recipe says about its release: roles, samples, privacy models, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.verification.text.kinds import KINDS, refuse_unknown
from anon_core.verification.text.texts import MISSING_TOKENS

# What a release looks like, as the recipe tells it: no technique is known here by its name.


_ALLOWED: Mapping[str, tuple[object, ...]] = {
    "tables": (1, 2),
    "linked": ("rows", "nothing", "roles", "sets"),
    "insensitive_with": ("quasi", "sensitive"),
    "cells": ("coarsened", "exact", "averaged"),
    "levels": ("any", "one"),
    "tails": ("none", "coded"),
    "rows": ("all", "drawn"),
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the recipe's [release] says; what it leaves out is what asks for most.

    Attributes
    ----------
    tables : int
        1, or 2: the quasi-identifiers and the sensitive columns, joined by the group.
    linked : str
        What stays linked: whole rows; or, where columns are permuted apart within published
        groups, nothing, the columns of each role, or sets of columns.
    insensitive_with : str
        Which role the insensitive columns stand with.
    sets : tuple of tuples of str
        The sets of columns that stay linked; empty where the run formed them.
    cells : str
        Whether quasi-identifiers are coarsened, exact, or averages of numbers.
    levels : str
        Whether the cells of a column stand at one level of its hierarchy, or at any.
    tails : str
        Whether the smallest and largest values may be coded as ≤ and ≥ a limit.
    rows : str
        Whether all rows are published but for a budget of suppression, or a sample is drawn of
        which any classes may be left out.
    least_box : int
        Published rows with the same quasi-identifiers at least, in whatever groups; 0 promises
        none.
    """

    tables: int = 1
    linked: str = "rows"
    insensitive_with: str = "quasi"
    sets: tuple[tuple[str, ...], ...] = ()
    cells: str = "coarsened"
    levels: str = "any"
    tails: str = "none"
    rows: str = "all"
    least_box: int = 0

    @property
    def permuted(self) -> bool:
        """Whether columns are permuted apart within published groups."""
        return self.linked != "rows"


def read_shape(shape: Mapping[str, Any]) -> Shape:
    """Read the recipe's [release].

    Raises
    ------
    BadPlan
        If it says something else than a release can look like.
    """
    for key, allowed in _ALLOWED.items():
        found = shape.get(key, allowed[0])
        if isinstance(found, bool) or found not in allowed:
            raise BadPlan(
                f"The recipe's [release] {key} is {brief(found)}; allowed are "
                f"{listing(str(a) for a in allowed)}.",
                remedy="Remove [release]: it follows from the technique.",
            )
    least = shape.get("least_box", 0)
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        raise BadPlan(
            f"The recipe's [release] least_box is {brief(least)}; allowed are whole numbers.",
            remedy="Remove [release]: it follows from the technique.",
        )
    sets = shape.get("sets", [])
    parts = cast(list[object], sets) if isinstance(sets, list) else [sets]
    if not all(isinstance(part, list) for part in parts):
        raise BadPlan("The recipe's sets are not a list of lists.", remedy='Write [["a", "b"]].')
    found = Shape(
        **{key: shape[key] for key in _ALLOWED if key in shape},
        least_box=least,
        sets=tuple(tuple(str(n) for n in part) for part in cast(list[list[object]], parts)),
    )
    whole_or_exact = ("coarsened", "averaged") if not found.permuted else ("coarsened", "exact")
    if found.cells not in whole_or_exact or (found.tables > 1 and found.cells != "exact"):
        raise BadPlan(
            f"The recipe's [release] names {found.cells} cells in {found.tables} "
            f"{'table' if found.tables == 1 else 'tables'} with linked = '{found.linked}', which "
            "cannot be recomputed.",
            remedy="Remove [release]: it follows from the technique.",
        )
    return found


def completed(recipe: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe with what it leaves out of kinds, technique, models and release.

    What it says itself holds, but for the release: that follows from the technique.
    """
    models = recipe.get("models")
    own = cast(list[object], models) if isinstance(models, list) else []
    return {
        **recipe,
        "types": {**_table(choices.get("types")), **_table(recipe.get("types"))},
        "data": {**_table(recipe.get("data")), **_found(choices)},
        "algorithm": {**choices["algorithm"], **_table(recipe.get("algorithm"))},
        "models": [
            {**full, **_table(given)} for full, given in zip(choices["models"], own, strict=True)
        ],
        "release": dict(choices["release"]),
    }


def _found(recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return which kinds of columns nobody declared: a run has found them out."""
    data = _table(recipe.get("data"))
    return {key: data[key] for key in ("kinds_found",) if key in data}


def _table(given: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {}


# The share of rows that a recipe samples, and its seed.


_DIGITS = re.compile("[0-9a-fA-F]{1,64}")


SEED_BITS = 256  # bits of a seed


_SHORT = 1 << 128


def sample_of(recipe: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Fraction, int | None]:
    """Return the share of rows a recipe samples, and its seed; None where it has none.

    A number above 1 is that of the rows which a benchmark draws.

    Raises
    ------
    BadPlan
        If the share is none, or the seed is no seed.
    """
    number = data.get("benchmark", 0)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0 or number == 1:
        raise BadPlan("The recipe's benchmark is not a number of rows.", remedy="Use 2 or more.")
    share = data.get("sample", 1)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BadPlan(
            "The recipe's sample is not a share.", remedy="Use a number above 0, up to 1."
        )
    if number and (share != 1 or data.get("missing", "drop") != "drop"):
        raise BadPlan(
            "The recipe's benchmark draws from complete rows, and it also says something else.",
            remedy="Leave sample and missing out.",
        )
    found = Fraction(number) if number else Fraction(str(share))
    return found, seed_of(recipe["seed"]) if "seed" in recipe else None


def seed_of(given: object) -> int:
    """Return a seed that is written as text of hexadecimal digits, or as a number.

    Raises
    ------
    BadPlan
        If it is neither; the message does not repeat it.
    """
    if isinstance(given, str) and _DIGITS.fullmatch(given):
        return int(given, 16)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << SEED_BITS:
        return given
    raise BadPlan(
        "The recipe's seed is neither a text of at most 64 hexadecimal digits nor a whole number "
        "from 0 up.",
        remedy="Use the recipe that the run completed.",
    )


def is_guessable(seed: int) -> bool:
    """Say whether a seed is found by trying: short ones, and long ones that repeat themselves."""
    digits = f"{seed:x}"
    cycle = (digits + digits).find(digits[: len(digits) // 2 + 1], 1)
    turns = 0 < cycle <= len(digits) // 2 and (digits[:cycle] * 64).startswith(digits)
    return seed < _SHORT or turns or len(set(digits)) <= 8


#: Versions of recipes that are understood; without one it is the first.
VERSIONS = range(1, 4)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a recipe says about its release."""

    identifier: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    published: tuple[str, ...]
    kinds: Mapping[str, str]
    missing_tokens: tuple[str, ...]
    drops_missing: bool
    neutralised: bool
    max_suppression: Fraction
    models: tuple[Mapping[str, Any], ...]
    algorithm: Mapping[str, Any]
    left_out: tuple[str, ...] = ()
    sample: Fraction = Fraction(1)
    seed: int | None = None
    shape: Shape = field(default_factory=Shape)
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    label_names: frozenset[str] = frozenset()  # columns whose labels are names and claim nothing
    drew: bool = False  # whether a change was drawn
    changes: tuple[Mapping[str, Any], ...] = ()
    shown: tuple[str, ...] = ()  # identifiers that are published, changed
    named: tuple[str, ...] = ()  # every column that has a role
    person: str = ""  # tells persons apart, and is one of the identifiers; empty: a row is a person
    member: str = ""  # where households count as one, tells the people of each apart
    household: bool = False

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that stand for a missing value in a column; see `kept`."""
        return self.missing_in.get(column, self.missing_tokens)

    @property
    def permuted(self) -> bool:
        """Whether columns are permuted apart within published groups."""
        return self.shape.permuted

    @property
    def averaged(self) -> bool:
        """Whether numbers are replaced by averages of groups."""
        return self.shape.cells == "averaged"

    @property
    def coarsened(self) -> bool:
        """Whether cells of quasi-identifiers cover values."""
        return self.shape.cells == "coarsened"

    def protected(self, column: str) -> tuple[str, ...]:
        """Return the sensitive columns that a model is about: the one it names, or all.

        Of several, those that are quasi-identifiers too are left out, as the models say; the
        published value of such a column is the same for everyone of a class.
        """
        if column:
            return (column,)
        return tuple(n for n in self.sensitive if n not in self.quasi) or self.sensitive

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return tuple(name for name in self.published if name not in self.quasi)


def read_terms(
    recipe: Mapping[str, Any],
    names: Sequence[str],
    levels: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({}),
) -> Terms:
    """Read a recipe for a table with these columns.

    What represents a missing value where the recipe says nothing of it is a value in a column of
    texts whose level table lists it, or that has none and is declared as text.

    Raises
    ------
    BadPlan
        If the recipe is of another version, not well-formed, has no model, or names columns the
        table lacks.
    """
    version = recipe.get("version", VERSIONS[0])
    if isinstance(version, bool) or not isinstance(version, int) or version not in VERSIONS:
        raise BadPlan(
            "The recipe is of a version that is not known here; known are "
            f"{VERSIONS[0]} to {VERSIONS[-1]}.",
            remedy="Use the workbench that wrote it, or a newer one.",
        )
    roles, data, algorithm = (section(recipe, key) for key in ("roles", "data", "algorithm"))
    identifier, quasi, sensitive, insensitive = (
        _names(roles.get(role, []), role)
        for role in ("identifier", "quasi", "sensitive", "insensitive")
    )
    person = ""
    for role in ("person", "household"):  # people of one household count as one
        column = roles.get(role, "")
        if not isinstance(column, str):
            raise BadPlan(f"The recipe's {role} is not a name.", remedy=f'Write {role} = "column".')
        person = column or person
        if column and column not in identifier:
            identifier = (*identifier, column)  # it is published no more than they are
    weight = roles.get("weight", "")
    if not isinstance(weight, str):
        raise BadPlan("The recipe's weight is not a name.", remedy='Write weight = "column".')
    if weight and weight not in identifier:
        identifier = (*identifier, weight)  # used for estimates only, and published no more
    kinds = {name: str(kind) for name, kind in section(recipe, "types").items()}
    refuse_unknown(kinds)
    if len(set(names)) < len(names):
        raise BadPlan("Two columns of the table have one name.", remedy="Rename one of them.")
    changes = _changes(recipe)
    changed = [name for one in changes for name in one["columns"]]
    masked = tuple(name for name in identifier if name in changed)
    named = (*identifier, *quasi, *sensitive, *insensitive)
    identifier = tuple(name for name in identifier if name not in masked)
    shown = {*quasi, *sensitive, *insensitive, *masked}
    gone = [n for n in (*named, *changed, *kinds) if n not in names]
    if gone:
        raise BadPlan(
            f"The table has no column {listing(dict.fromkeys(gone))}, which the recipe names.",
            remedy="Use the table and the recipe the release was made with.",
        )
    both = [n for n in (*identifier, *masked) if n in (*quasi, *sensitive, *insensitive)]
    exact = [n for n in insensitive if n in quasi or n in sensitive]
    if both or exact or not quasi:
        raise BadPlan(
            f"Column {listing(both)} is an identifier and something else."
            if both
            else f"Column {listing(exact)} is insensitive and something else."
            if exact
            else "The recipe names no quasi-identifier.",
            remedy="Correct the recipe's roles.",
        )
    models = recipe.get("models", [])
    if not isinstance(models, list) or not (models or recipe.get("changes")):
        raise BadPlan("The recipe names no privacy model.", remedy="Add one under [[models]].")
    if not all(isinstance(model, Mapping) for model in cast(list[object], models)):
        raise BadPlan("The recipe's models are not tables.", remedy="Write each as [[models]].")
    share = algorithm.get("max_suppression", 0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadPlan("The recipe's max_suppression is not a share.", remedy="Use 0 to 1.")
    sample, seed = sample_of(recipe, data)
    tokens = _names(data.get("missing_values", list(MISSING_TOKENS)), "missing_values")
    found = _names(data.get("kinds_found", []), "kinds_found")
    column = [n for n, kind in kinds.items() if KINDS[kind].read is None and n not in found]
    declared = {name: frozenset(tokens) for name in column}
    listed = {
        name: frozenset(line[0].strip() for line in lines if line).intersection(tokens)
        for name, lines in levels.items()
    }
    missing_in = {n: _names(own, "missing_in") for n, own in section(data, "missing_in").items()}
    return Terms(
        identifier=identifier,
        quasi=quasi,
        sensitive=sensitive,
        published=tuple(n for n in names if n in shown),
        left_out=tuple(n for n in names if n not in shown and n not in identifier),
        kinds=kinds,
        missing_tokens=tokens,
        missing_in=missing_in,
        kept={
            name: own - {""}
            for name, own in (*declared.items(), *listed.items())
            if tokens == MISSING_TOKENS and name not in missing_in
        },
        drops_missing=data.get("missing", "keep") == "drop" or bool(data.get("benchmark")),
        neutralised=section(recipe, "export").get("formulas", "neutralise") != "keep",
        max_suppression=Fraction(str(share)),  # the decimal as it was written, not its float
        models=tuple(cast(list[Mapping[str, Any]], models)),
        algorithm=algorithm,
        sample=sample,
        seed=seed,
        shape=read_shape(section(recipe, "release")),
        changes=changes,
        shown=masked,
        named=named,
        person=person,
        member=str(roles.get("person", "")) if roles.get("household") else "",
        household=bool(roles.get("household")),
        label_names=label_names(recipe),
    )


def _changes(recipe: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what the recipe lists under [[changes]].

    Raises
    ------
    BadPlan
        If one is no table with columns, or a column is changed twice.
    """
    given = recipe.get("changes", [])
    changes = tuple(cast(list[object], given)) if isinstance(given, list) else (given,)
    if not all(isinstance(one, Mapping) for one in changes):
        raise BadPlan("The recipe's changes are not tables.", remedy="Write each as [[changes]].")
    found = cast(tuple[Mapping[str, Any], ...], changes)
    every = [name for one in found for name in _names(one.get("columns"), "changes' columns")]
    if len(set(every)) < len(every):
        raise BadPlan("The recipe changes a column twice.", remedy="Keep one of the changes.")
    return found


def section(recipe: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return one table of the recipe; an empty one where it is not there.

    Raises
    ------
    BadPlan
        If it is no table.
    """
    found = recipe.get(key, {})
    if not isinstance(found, Mapping):
        raise BadPlan(f"The recipe's [{key}] is not a table.", remedy=f"Write it as [{key}].")
    return cast(Mapping[str, Any], found)


def label_names(recipe: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns whose labels the recipe confirms as names.

    Raises
    ------
    BadPlan
        If it says anything of labels that is not known here.
    """
    named: set[str] = set()
    for column, labels in section(recipe, "labels").items():
        if isinstance(labels, Mapping) and set(cast(Mapping[str, Any], labels)) == {"names"}:
            named.add(column)
        elif labels != "rename":
            raise BadPlan(
                "[labels] has an entry that is not known here.", remedy="Correct [labels]."
            )
    return frozenset(named)


def _names(given: object, key: str) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise BadPlan(f"The recipe's {key} is not a list.", remedy="Write it as a list of texts.")
    texts = tuple(cast(Iterable[object], given))
    if not all(isinstance(text, str) for text in texts):
        raise BadPlan(f"The recipe's {key} holds something other than texts.", remedy="Quote it.")
    return cast(tuple[str, ...], texts)
