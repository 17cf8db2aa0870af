"""The plan: everything that determines a release, and its form as a recipe (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from .errors import BadPlan, listing, nearest
from .hierarchy import read_levels
from .kinds import Algorithm, Attack, GroupModel
from .params import Technique
from .reading import DataOptions
from .registry import Family, family, find
from .roles import Roles
from .table import COLUMN_KINDS, ColumnKind

#: A hierarchy as it stands in a file: one row a value, the value first, then a label per level.
LevelTable = Sequence[Sequence[str]]
Formulas = Literal["neutralise", "keep"]
_T = TypeVar("_T", bound=Technique)
_SECTIONS = {
    "seed",
    "data",
    "types",
    "roles",
    "hierarchies",
    "algorithm",
    "models",
    "attacks",
    "population",
    "export",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that determines a release; the same plan on the same data gives the same bytes.

    Attributes
    ----------
    seed : int
        Seed of every random choice. It belongs to the internal edition only.
    data : DataOptions
        How the table is read and what happens to missing values.
    types : mapping of str to {'text', 'ordered', 'number', 'date'}
        Columns read otherwise than detected.
    roles : Roles
    hierarchies : mapping of str to str
        Column → path of its level table, relative to the recipe.
    algorithm : Algorithm
    models : tuple of GroupModel
        The promises; at least one.
    attacks : tuple of Attack
        Attacks with parameters other than their defaults; the others run as they are.
    population_size : int or None
        Stated size of the population, for journalist risk.
    population_file : str
        Path of a population table, relative to the recipe; empty if there is none.
    formulas : {'neutralise', 'keep'}
        What an export does with cells that a spreadsheet would execute.
    """

    roles: Roles
    algorithm: Algorithm
    models: tuple[GroupModel, ...]
    seed: int = 0
    data: DataOptions = field(default_factory=DataOptions)
    types: Mapping[str, ColumnKind] = field(default_factory=dict[str, ColumnKind])
    hierarchies: Mapping[str, str] = field(default_factory=dict[str, str])
    attacks: tuple[Attack, ...] = ()
    population_size: int | None = None
    population_file: str = ""
    formulas: Formulas = "neutralise"

    def __post_init__(self) -> None:
        """Refuse a plan that promises nothing, and values out of range.

        Raises
        ------
        BadPlan
            Naming the value as a recipe has it.
        """
        if not _whole(self.seed, least=0):
            raise BadPlan(
                f"The recipe's seed is {self.seed!r}.", remedy="Use a whole number of at least 0."
            )
        if self.population_size is not None and not _whole(self.population_size, least=1):
            raise BadPlan(
                f"[population] size is {self.population_size!r}.",
                remedy="Use a whole number of at least 1.",
            )
        if self.population_size is not None and self.population_file:
            raise BadPlan(
                "[population] gives both a size and a file.", remedy="Give one of the two."
            )
        if self.formulas not in get_args(Formulas):
            raise BadPlan(
                f"[export] formulas is {self.formulas!r}.", remedy="Use 'neutralise' or 'keep'."
            )
        if not self.models:
            raise BadPlan(
                "The plan names no privacy model, so the release would promise nothing.",
                remedy="Add at least one, for example [[models]] with name = 'k-anonymity', k = 5.",
            )

    def all_attacks(self) -> tuple[Attack, ...]:
        """Return every known attack, with the plan's parameters where it gives some."""
        own = {attack.name: attack for attack in self.attacks}
        return tuple(
            own.get(name) or cast(Attack, technique())
            for name, technique in family("attack").items()
        )

    def as_mapping(self) -> dict[str, Any]:
        """Return the plan as nested plain values: the recipe's tables."""
        named: dict[str, Any] = {"seed": self.seed, "data": self.data.as_mapping()}
        if self.types:
            named["types"] = dict(self.types)
        named["roles"] = {
            "identifier": list(self.roles.identifier),
            "quasi": list(self.roles.quasi),
            "sensitive": list(self.roles.sensitive),
        }
        if self.hierarchies:
            named["hierarchies"] = dict(self.hierarchies)
        named["algorithm"] = _technique_mapping(self.algorithm)
        named["models"] = [_technique_mapping(m) for m in self.models]
        if self.attacks:
            named["attacks"] = [_technique_mapping(a) for a in self.attacks]
        if self.population_size is not None:
            named["population"] = {"size": self.population_size}
        elif self.population_file:
            named["population"] = {"file": self.population_file}
        named["export"] = {"formulas": self.formulas}
        return named

    def as_toml(self) -> str:
        """Return the recipe's text."""
        import tomli_w

        return tomli_w.dumps(self.as_mapping())

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Plan:
        """Build a plan from a recipe's tables.

        Raises
        ------
        BadPlan
            Naming the table and key, what is allowed, and the nearest known name.
        """
        _known("The recipe", given, _SECTIONS)
        for required in ("roles", "algorithm", "models"):
            if required not in given:
                raise BadPlan(
                    f"The recipe has no [{required}].",
                    remedy=f"Add it; a recipe needs {listing(('roles', 'algorithm', 'models'))}.",
                )
        roles = _table(given, "roles")
        _known("[roles]", roles, {"identifier", "quasi", "sensitive"})
        population = _table(given, "population")
        _known("[population]", population, {"size", "file"})
        export = _table(given, "export")
        _known("[export]", export, {"formulas"})
        return cls(
            seed=given.get("seed", 0),
            data=DataOptions.from_mapping(_table(given, "data")),
            types=_types(_table(given, "types")),
            roles=Roles(
                identifier=_names(roles, "identifier"),
                quasi=_names(roles, "quasi"),
                sensitive=_names(roles, "sensitive"),
            ),
            hierarchies=_texts("[hierarchies]", _table(given, "hierarchies")),
            algorithm=_technique("algorithm", Algorithm, given["algorithm"]),
            models=tuple(_technique("model", GroupModel, m) for m in _list(given, "models")),
            attacks=tuple(_technique("attack", Attack, a) for a in _list(given, "attacks")),
            population_size=population.get("size"),
            population_file=_texts("[population]", {"file": population.get("file", "")})["file"],
            formulas=export.get("formulas", "neutralise"),
        )

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """Build a plan from a recipe's text.

        Raises
        ------
        BadPlan
            If the text is no TOML, or no recipe; names the place.
        """
        try:
            return cls.from_mapping(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise BadPlan(
                f"The recipe is no valid TOML: {error}.", remedy="Correct the text at that place."
            ) from error


def read_plan(path: str | Path) -> Plan:
    """Read a recipe file.

    Raises
    ------
    BadPlan
        If the file cannot be read or is no recipe.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadPlan(
            f"The recipe {Path(path).name} cannot be read ({error.strerror}).",
            remedy="Check the path.",
        ) from error
    except UnicodeDecodeError as error:
        raise BadPlan(
            f"The recipe {Path(path).name} is not UTF-8 text (byte {error.start}).",
            remedy="Save it as UTF-8.",
        ) from error
    return Plan.from_toml(text)


def load_hierarchies(plan: Plan, folder: str | Path) -> dict[str, list[list[str]]]:
    """Read the level tables a plan names, relative to `folder`.

    Raises
    ------
    BadHierarchy
        If a file cannot be read or is empty.
    """
    return {
        column: read_levels(Path(folder) / path, column)
        for column, path in plan.hierarchies.items()
    }


def _whole(value: object, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _technique_mapping(technique: Technique) -> dict[str, Any]:
    return {"name": technique.name, **technique.as_mapping()}


def _technique(which: Family, base: type[_T], given: object) -> _T:
    if not isinstance(given, Mapping) or "name" not in given:
        raise BadPlan(
            f"The recipe's {which} is no table with a name.",
            remedy=f"Write name = '...' with one of {listing(family(which))}.",
        )
    table = dict(cast(Mapping[str, Any], given))
    found = find(which, str(table.pop("name")))
    if not issubclass(found, base):
        raise BadPlan(f"'{found.name}' cannot steer a search.", remedy="Choose another model.")
    return found.from_mapping(table)


def _known(place: str, given: Mapping[str, Any], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise BadPlan(
                f"{place} has the unknown key '{key}'; known are {listing(sorted(known))}.",
                remedy=f"Remove or rename it.{nearest(key, known)}",
            )


def _table(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = given.get(key, {})
    if not isinstance(found, Mapping):
        raise BadPlan(f"[{key}] is no table.", remedy=f"Write [{key}] with key = value lines.")
    return cast(Mapping[str, Any], found)


def _list(given: Mapping[str, Any], key: str) -> Sequence[object]:
    found = given.get(key, [])
    if not isinstance(found, list):
        raise BadPlan(
            f"[[{key}]] is no list of tables.", remedy=f"Write [[{key}]] with two brackets."
        )
    return cast(list[object], found)


def _names(roles: Mapping[str, Any], role: str) -> tuple[str, ...]:
    found = roles.get(role, [])
    if not isinstance(found, list) or not all(
        isinstance(n, str) for n in cast(list[object], found)
    ):
        raise BadPlan(
            f"[roles] {role} is no list of column names.",
            remedy=f'Write {role} = ["column", ...].',
        )
    return tuple(cast(list[str], found))


def _texts(place: str, given: Mapping[str, Any]) -> dict[str, str]:
    for key, value in given.items():
        if not isinstance(value, str):
            raise BadPlan(f"{place} {key} is {value!r}.", remedy="Write a path in quotes.")
    return dict(given)


def _types(given: Mapping[str, Any]) -> dict[str, ColumnKind]:
    for column, kind in given.items():
        if kind not in COLUMN_KINDS:
            raise BadPlan(
                f"[types] '{column}' is {kind!r}; allowed are {listing(COLUMN_KINDS)}.",
                remedy="Use one of these types.",
            )
    return dict(given)
