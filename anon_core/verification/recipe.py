"""What a recipe says about its release: roles, samples, privacy models, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.verification.text.kinds import KINDS
from anon_core.verification.text.texts import MISSING_TOKENS

#: Level tables by column: line by line the value, then one label a level.
Levels = Mapping[str, Sequence[Sequence[str]]]
#: Lowest and highest level of a column; -1 is the top, None where the highest is open.
Bounds = Mapping[str, tuple[int, int | None]]


def demand(kept: object, message: str, remedy: str) -> None:
    """Refuse a recipe for what it says, unless that is as it should be."""
    if not kept:
        raise BadPlan(message, remedy=remedy)


def is_whole(value: object, least: int = 0) -> bool:
    """Say whether a value of a recipe is a whole number from a least one up."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: object) -> bool:
    """Say whether a value of a recipe is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_FOLLOWS = "Remove [release]: it follows from the technique."
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
        demand(
            found in allowed and not isinstance(found, bool),
            f"The recipe's [release] {key} is {brief(found)}; allowed are "
            f"{listing(str(a) for a in allowed)}.",
            _FOLLOWS,
        )
    least, sets = shape.get("least_box", 0), shape.get("sets", [])
    what = f"The recipe's [release] least_box is {brief(least)}; allowed are whole numbers."
    demand(is_whole(least), what, _FOLLOWS)
    parts = cast(list[Any], sets) if isinstance(sets, list) else [sets]
    kept = all(isinstance(part, list) for part in parts)
    demand(kept, "The recipe's sets are not a list of lists.", 'Write [["a", "b"]].')
    found = Shape(
        **{key: shape[key] for key in _ALLOWED if key in shape},
        least_box=least,
        sets=tuple(tuple(str(n) for n in part) for part in parts),
    )
    whole_or_exact = ("coarsened", "averaged") if not found.permuted else ("coarsened", "exact")
    demand(
        found.cells in whole_or_exact and (found.tables == 1 or found.cells == "exact"),
        f"The recipe's [release] names {found.cells} cells in {found.tables} "
        f"{'table' if found.tables == 1 else 'tables'} with linked = '{found.linked}', which "
        "cannot be recomputed.",
        _FOLLOWS,
    )
    return found


def completed(recipe: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe with what it leaves out of kinds, technique, models and release.

    What it says itself holds, but for the release: that follows from the technique.
    """
    models = recipe.get("models")
    own = cast(list[object], models) if isinstance(models, list) else []
    found = {k: v for k, v in as_table(choices.get("data")).items() if k == "kinds_found"}
    return {
        **recipe,
        "types": {**as_table(choices.get("types")), **as_table(recipe.get("types"))},
        # Which kinds of columns nobody declared: a run has found them out.
        "data": {**as_table(recipe.get("data")), **found},
        "algorithm": {**choices["algorithm"], **as_table(recipe.get("algorithm"))},
        "models": [
            {**full, **as_table(given)} for full, given in zip(choices["models"], own, strict=True)
        ],
        "release": dict(choices["release"]),
    }


def as_table(given: object) -> Mapping[str, Any]:
    """Return a value of a recipe that is a table, and an empty one of any other."""
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {}


# The share of rows that a recipe samples, and its seed.


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
    number, share = data.get("benchmark", 0), data.get("sample", 1)
    what = "The recipe's benchmark is not a number of rows."
    demand(is_whole(number) and number != 1, what, "Use 2 or more.")
    what = "The recipe's sample is not a share."
    demand(is_number(share) and 0 < share <= 1, what, "Use a number above 0, up to 1.")
    what = "The recipe's benchmark draws from complete rows, and it also says something else."
    kept = not number or (share == 1 and data.get("missing", "drop") == "drop")
    demand(kept, what, "Leave sample and missing out.")
    found = Fraction(number) if number else Fraction(str(share))
    return found, seed_of(recipe["seed"]) if "seed" in recipe else None


def seed_of(given: Any) -> int:
    """Return a seed that is written as text of hexadecimal digits, or as a number.

    Raises
    ------
    BadPlan
        If it is neither; the message does not repeat it.
    """
    if isinstance(given, str) and re.fullmatch("[0-9a-fA-F]{1,64}", given):
        return int(given, 16)
    demand(
        is_whole(given) and int(given) < 1 << SEED_BITS,
        "The recipe's seed is neither a text of at most 64 hexadecimal digits nor a whole number "
        "from 0 up.",
        "Use the recipe that the run completed.",
    )
    return int(given)


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
    bounds: Bounds = field(default_factory=dict[str, tuple[int, int | None]])  # by column
    links: tuple[tuple[str, ...], ...] = ()  # where the first is blank, so are the others

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
    recipe: Mapping[str, Any], names: Sequence[str], levels: Levels = MappingProxyType({})
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
    demand(
        is_whole(version) and version in VERSIONS,
        "The recipe is of a version that is not known here; known are "
        f"{VERSIONS[0]} to {VERSIONS[-1]}.",
        "Use the workbench that wrote it, or a newer one.",
    )
    roles, data, algorithm = (section(recipe, key) for key in ("roles", "data", "algorithm"))
    identifier, quasi, sensitive, insensitive = (
        _names(roles.get(role, []), role)
        for role in ("identifier", "quasi", "sensitive", "insensitive")
    )
    # People of one household count as one; weights are used for estimates only.
    person, household, weight = (roles.get(role, "") for role in ("person", "household", "weight"))
    for role, column in (("person", person), ("household", household), ("weight", weight)):
        what = f"The recipe's {role} is not a name."
        demand(isinstance(column, str), what, f'Write {role} = "column".')
        if column and column not in identifier:
            identifier = (*identifier, column)  # it is published no more than they are
    kinds = {name: str(kind) for name, kind in section(recipe, "types").items()}
    for name, kind in kinds.items():
        what = f"[types] '{name}' is {brief(kind)}; allowed are {listing(KINDS)}."
        demand(kind in KINDS, what, "Use one of these types.")
    what = "Two columns of the table have one name."
    demand(len(set(names)) == len(names), what, "Rename one of them.")
    changes = _changes(recipe)
    changed = [name for one in changes for name in one["columns"]]
    masked = tuple(name for name in identifier if name in changed)
    named = (*identifier, *quasi, *sensitive, *insensitive)
    identifier = tuple(name for name in identifier if name not in masked)
    shown = {*quasi, *sensitive, *insensitive, *masked}
    gone = [n for n in (*named, *changed, *kinds, *levels) if n not in names]
    what = f"The table has no column {listing(dict.fromkeys(gone))}, which the recipe names."
    demand(not gone, what, "Use the table and the recipe the release was made with.")
    both = [n for n in (*identifier, *masked) if n in (*quasi, *sensitive, *insensitive)]
    exact = [n for n in insensitive if n in quasi or n in sensitive]
    remedy = "Correct the recipe's roles."
    demand(not both, f"Column {listing(both)} is an identifier and something else.", remedy)
    demand(not exact, f"Column {listing(exact)} is insensitive and something else.", remedy)
    demand(quasi, "The recipe names no quasi-identifier.", remedy)
    models = recipe.get("models", [])
    what = "The recipe names no privacy model."
    some = isinstance(models, list) and (models or recipe.get("changes"))
    demand(some, what, "Add one under [[models]].")
    what = "The recipe's models are not tables."
    demand(all(isinstance(m, Mapping) for m in models), what, "Write each as [[models]].")
    share = algorithm.get("max_suppression", 0)
    what = "The recipe's max_suppression is not a share."
    demand(is_number(share) and 0 <= share <= 1, what, "Use 0 to 1.")
    sample, seed = sample_of(recipe, data)
    shape = read_shape(section(recipe, "release"))
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
        models=tuple(models),
        algorithm=algorithm,
        sample=sample,
        seed=seed,
        shape=shape,
        changes=changes,
        shown=masked,
        named=named,
        person=household or person,
        member=person if household else "",
        household=bool(household),
        label_names=label_names(recipe),
        bounds=_bounds_of(recipe, quasi, algorithm, shape),
        links=_links_of(algorithm, quasi),
    )


def _changes(recipe: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what the recipe lists under [[changes]].

    Raises
    ------
    BadPlan
        If one is no table with columns, or a column is changed twice.
    """
    given = recipe.get("changes", [])
    changes = tuple(cast(list[Any], given)) if isinstance(given, list) else (given,)
    kept = all(isinstance(one, Mapping) for one in changes)
    demand(kept, "The recipe's changes are not tables.", "Write each as [[changes]].")
    every = [name for one in changes for name in _names(one.get("columns"), "changes' columns")]
    what = "The recipe changes a column twice."
    demand(len(set(every)) == len(every), what, "Keep one of the changes.")
    return changes


def section(recipe: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return one table of the recipe; an empty one where it is not there.

    Raises
    ------
    BadPlan
        If it is no table.
    """
    found = recipe.get(key, {})
    what = f"The recipe's [{key}] is not a table."
    demand(isinstance(found, Mapping), what, f"Write it as [{key}].")
    return cast(Mapping[str, Any], found)


def label_names(recipe: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns whose labels the recipe confirms as names.

    Raises
    ------
    BadPlan
        If it says anything of labels that is not known here.
    """
    labels = section(recipe, "labels")
    named = {c for c, own in labels.items() if isinstance(own, Mapping) and {*own} == {"names"}}
    kept = all(own == "rename" for column, own in labels.items() if column not in named)
    demand(kept, "[labels] has an entry that is not known here.", "Correct [labels].")
    return frozenset(named)


def _bounds_of(
    recipe: Mapping[str, Any], quasi: tuple[str, ...], algorithm: Mapping[str, Any], shape: Shape
) -> Bounds:
    """Return lowest and highest level by column.

    Where the technique is asked for levels, both are the column's level; -1 is the top.
    """
    found: dict[str, tuple[int, int | None]] = {}
    for name, given in section(recipe, "level_bounds").items():
        ends = as_table(given)
        least, most = ends.get("least", 0), ends.get("most")
        demand(
            name in quasi
            and ends
            and set(ends) <= {"least", "most"}
            and is_whole(least)
            and (most is None or is_whole(most)),
            "The recipe's [level_bounds] holds something other than levels of quasi-identifiers.",
            "Write column = { least = 1, most = 2 }.",
        )
        found[name] = (least, most)
    asked: Any = algorithm.get("levels")
    drawn = not asked and algorithm.get("levels_epsilon")
    if not isinstance(asked, Mapping) or shape.levels != "one" or drawn:
        return found
    for name in quasi:
        _, most = found.get(name, (0, None))
        level = asked.get(name, -1 if most is None else most)
        what = f"The level of '{name}' in the recipe is {brief(level)}."
        demand(is_whole(level, -1), what, "Write a whole number from 0 up.")
        found[name] = (level, level)
    return found


def _links_of(algorithm: Mapping[str, Any], quasi: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the columns of which the others are blank where the first is."""
    given = algorithm.get("linked", [])
    sets = cast(Sequence[Any], given) if isinstance(given, list | tuple) else [None]
    demand(
        all(isinstance(own, list | tuple) and len(own) > 1 and {*own} <= {*quasi} for own in sets),
        "The recipe's linked columns are not sets of quasi-identifiers.",
        "Write linked = [['zip', 'city']].",
    )
    return tuple(map(tuple, sets))


def _names(given: Any, key: str) -> tuple[str, ...]:
    what, remedy = f"The recipe's {key} is not a list.", "Write it as a list of texts."
    demand(isinstance(given, list | tuple), what, remedy)
    what = f"The recipe's {key} holds something other than texts."
    demand(all(isinstance(text, str) for text in given), what, "Quote it.")
    return tuple(given)
