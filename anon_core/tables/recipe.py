"""The recipe of a protected table: everything that determines it, and its file."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from anon_core.base import secret
from anon_core.base.errors import BadPlan, brief, clipped, listing, nearest
from anon_core.data.reading import DataOptions
from anon_core.data.values.kinds import ColumnKind
from anon_core.recipe.readers import (
    list_of,
    read_tables,
    refuse_unknown_keys,
    table_of,
    text_of_file,
    texts_of,
    types_of,
)
from anon_core.tables.rounding import refuse_base
from anon_core.tables.sensitivity import RULES, Rule
from anon_core.tables.suppression import Cost
from anon_core.tables.table import Layout

Method = Literal[
    "none",
    "optimal",
    "heuristic",
    "random-rounding",
    "controlled-rounding",
    "small-cells",
    "cell-key",
    "adjust",
]
METHODS: Mapping[Method, str] = {
    "none": "Publish every cell",
    "optimal": "Suppress the cheapest cells",
    "heuristic": "Suppress cells, quickly",
    "random-rounding": "Round at random",
    "controlled-rounding": "Round so that totals add up",
    "small-cells": "Round small cells",
    "cell-key": "Add cell-key noise",
    "adjust": "Move sensitive cells by their level",
}
#: Methods that suppress cells, and those that round counts.
SUPPRESSES: tuple[Method, ...] = ("optimal", "heuristic")
ROUNDS: tuple[Method, ...] = ("random-rounding", "controlled-rounding", "small-cells")
COSTS: tuple[Cost, ...] = ("value", "cells", "log", "respondents")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a reader is taken to know before reading: part of what is required.

    Attributes
    ----------
    zeros_printed : bool
        Whether empty cells are always published, so that a suppressed one is at least 1.
    signed : bool
        Whether values may be negative; then there is no least value.
    single_respondents : bool
        Whether a respondent who is alone in a suppressed cell may be reading.
    """

    zeros_printed: bool = True
    signed: bool = False
    single_respondents: bool = True


@dataclass(frozen=True, kw_only=True)
class Protection:
    """How a table is protected; see `METHODS`."""

    method: Method = "optimal"
    cost: Cost = "value"
    seconds: float = 60
    levels: Literal["refuse", "cap"] = "refuse"
    published: tuple[str, ...] = ()
    base: int = 5
    steps: int = 0
    noise: int = 2
    variance: float = 1.05

    @property
    def keeps_cells(self) -> bool:
        """Whether cells can be named that are published as they are."""
        return self.method not in (*ROUNDS, "cell-key")

    @property
    def proves(self) -> bool:
        """Whether a search for suppressed cells goes on until none is cheaper."""
        return self.method == "optimal"

    def __post_init__(self) -> None:
        """Refuse what is no protection."""
        for key, value, allowed in (
            ("method", self.method, tuple(METHODS)),
            ("cost", self.cost, COSTS),
            ("levels", self.levels, ("refuse", "cap")),
        ):
            if value not in allowed:
                raise BadPlan(
                    f"[protect] {key} is {brief(value)}; allowed are {listing(allowed)}.",
                    remedy=f"Use one of these.{nearest(str(value), allowed)}",
                )
        if not (_is_number(self.seconds) and 0 < self.seconds <= 3600):
            raise BadPlan(
                f"[protect] seconds is {brief(self.seconds)}; allowed are numbers above 0 up to "
                "3600.",
                remedy="Give the search some time.",
            )
        if not (_is_number(self.variance) and self.variance > 0):
            raise BadPlan(
                f"[protect] variance is {brief(self.variance)}; allowed are numbers above 0.",
                remedy="Change variance.",
            )
        refuse_base(self.base)
        for key, number, least in (("steps", self.steps, 0), ("noise", self.noise, 1)):
            if isinstance(number, bool) or not isinstance(number, int) or number < least:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise BadPlan(
                    f"[protect] {key} is {brief(number)}; allowed are whole numbers from {least} "
                    "up.",
                    remedy=f"Change {key}.",
                )


@dataclass(frozen=True, kw_only=True)
class TableRecipe:
    """Everything that determines a protected table; the same recipe and rows give the same bytes.

    Attributes
    ----------
    who : str
        What respondents are called, in the plural.
    data, types, hierarchies
        As in a recipe of a release.
    seed : int
        Secret that rounding and noise start from.
    """

    layout: Layout
    rules: tuple[Rule, ...] = ()
    known: Known = field(default_factory=Known)
    protection: Protection = field(default_factory=Protection)
    who: str = "respondents"
    data: DataOptions = field(default_factory=DataOptions)
    types: Mapping[str, ColumnKind] = field(default_factory=dict[str, ColumnKind])
    hierarchies: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int = field(default_factory=secret.draw, repr=False)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        lost = [name for name in self.layout.levels if name not in self.layout.columns]
        if lost:
            raise BadPlan(
                f"[table] levels names {listing(lost)}; columns of the table are "
                f"{listing(self.layout.columns)}.",
                remedy=f"Name a column of the table.{nearest(lost[0], self.layout.columns)}",
            )
        if not self.layout.value and any(
            rule.name in ("dominance", "zero-cells") for rule in self.rules
        ):
            raise BadPlan(
                "The table counts, and a rule is about amounts.",
                remedy="Name the column that is added up (value), or use the threshold.",
            )
        rounded = self.protection.method in ROUNDS
        if self.protection.published and not self.protection.keeps_cells:
            raise BadPlan(
                f"[protect] published names cells that stay as they are, and "
                f"{self.protection.method} changes any cell.",
                remedy="Leave published out, or use suppression or adjustment.",
            )
        if rounded and self.layout.value:
            raise BadPlan(
                f"{self.protection.method} is for counts, and the table adds up "
                f"'{clipped(self.layout.value)}'.",
                remedy="Use suppression, adjustment or cell-key noise.",
            )
        signed = self.layout.negatives == "absolute"
        limited = self.protection.method in (*SUPPRESSES, "adjust")
        if signed and not self.known.signed and limited:
            raise BadPlan(
                "Amounts may be negative, and [reader] signed is false.",
                remedy="Say signed = true: a reader then knows no least value.",
            )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> TableRecipe:
        """Build a recipe from its tables.

        Raises
        ------
        BadPlan
            Naming the table and key, what is allowed, and the nearest known name.
        """
        refuse_unknown_keys(
            "The recipe",
            given,
            {"table", "rules", "reader", "protect", "data", "types", "hierarchies", "seed"},
        )
        if "table" not in given:
            raise BadPlan("The recipe has no [table].", remedy="Add it, with columns = [...].")
        table = dict(table_of(given, "table"))
        names = {f.name for f in fields(Layout)} - {"expanded"} | {"weights", "who"}
        refuse_unknown_keys("[table]", table, names)
        who = _text("table", "who", table.pop("who", "respondents"))
        weights = table.pop("weights", "sample")
        if weights not in ("sample", "expanded"):
            raise BadPlan(
                f"[table] weights is {brief(weights)}; allowed are 'sample', 'expanded'.",
                remedy="Use one of these.",
            )
        columns = table.pop("columns", [])
        if not isinstance(columns, list) or not all(
            isinstance(name, str) for name in cast(list[object], columns)
        ):
            raise BadPlan(
                "[table] columns is not a list of column names.",
                remedy='Write columns = ["region", "size"].',
            )
        layout = Layout(
            columns=tuple(cast(list[str], columns)),
            levels=_levels(table.pop("levels", {})),
            expanded=weights == "expanded",
            negatives=_negatives(table.pop("negatives", "refused")),
            **{key: _text("table", key, value) for key, value in table.items()},
        )
        reader = table_of(given, "reader")
        refuse_unknown_keys("[reader]", reader, {f.name for f in fields(Known)})
        for key, value in reader.items():
            if not isinstance(value, bool):
                raise BadPlan(
                    f"[reader] {key} is {brief(value)}; allowed are true and false.",
                    remedy=f"Write {key} = true or {key} = false.",
                )
        protect = dict(table_of(given, "protect"))
        refuse_unknown_keys("[protect]", protect, {f.name for f in fields(Protection)})
        if "published" in protect:
            protect["published"] = _published(protect["published"])
        return cls(
            layout=layout,
            rules=tuple(rule_of(one) for one in list_of(given, "rules")),
            known=Known(**reader),
            protection=Protection(**protect),
            who=who,
            data=DataOptions.from_mapping(table_of(given, "data")),
            types=types_of(table_of(given, "types")),
            hierarchies=texts_of("[hierarchies]", table_of(given, "hierarchies")),
            seed=secret.parse(given["seed"]) if "seed" in given else secret.draw(),
        )

    @classmethod
    def from_toml(cls, text: str) -> TableRecipe:
        """Build a recipe from its text."""
        return cls.from_mapping(read_tables(text))

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe as tables; what is at its default is left out."""
        layout = self.layout
        table: dict[str, Any] = {"columns": list(layout.columns)}
        if layout.levels:
            table["levels"] = {name: list(levels) for name, levels in layout.levels.items()}
        for key in ("value", "weight", "respondent", "holding", "waiver"):
            if getattr(layout, key):
                table[key] = getattr(layout, key)
        if layout.expanded:
            table["weights"] = "expanded"
        if layout.negatives != "refused":
            table["negatives"] = layout.negatives
        if self.who != "respondents":
            table["who"] = self.who
        found: dict[str, Any] = {"seed": secret.spell(self.seed), "table": table}
        found["rules"] = [rule_mapping(rule) for rule in self.rules]
        found["reader"] = {f.name: getattr(self.known, f.name) for f in fields(Known)}
        protect = {f.name: getattr(self.protection, f.name) for f in fields(Protection)}
        found["protect"] = {**protect, "published": list(self.protection.published)}
        if own := self.data.as_mapping():
            found["data"] = own
        if self.types:
            found["types"] = dict(self.types)
        if self.hierarchies:
            found["hierarchies"] = dict(self.hierarchies)
        return found

    def as_toml(self) -> str:
        """Return the recipe's text, the secret included."""
        import tomli_w

        return tomli_w.dumps(self.as_mapping())


def read_recipe(path: Path) -> TableRecipe:
    """Read the recipe of a table.

    Raises
    ------
    BadPlan
        If the file cannot be read, or is no recipe of a table.
    """
    return TableRecipe.from_toml(text_of_file(path))


def rule_of(given: object) -> Rule:
    """Return the rule that a table of the recipe names.

    Raises
    ------
    BadPlan
    """
    if not isinstance(given, Mapping) or "name" not in given:
        raise BadPlan(
            "A rule of the recipe has no name.",
            remedy=f"Write name = '...' with one of {listing(RULES)}.",
        )
    own = dict(cast(Mapping[str, Any], given))
    name = str(own.pop("name"))
    if name not in RULES:
        raise BadPlan(
            f"There is no rule '{clipped(name)}'; allowed are {listing(RULES)}.",
            remedy=f"Use one of these.{nearest(name, RULES)}",
        )
    rule = RULES[name]
    known = inspect.signature(rule).parameters
    refuse_unknown_keys(f"The rule {name}", own, set(known))
    missing = [
        key
        for key, one in known.items()
        if one.default is inspect.Parameter.empty and key not in own
    ]
    if missing:
        raise BadPlan(f"The rule {name} lacks {listing(missing)}.", remedy=f"Add {missing[0]} = ….")
    for key, value in own.items():
        if not _is_number(value):
            raise BadPlan(
                f"The rule {name} has {key} = {brief(value)}; allowed are numbers.",
                remedy=f"Write {key} as a number.",
            )
    whole = {key for key, one in known.items() if one.annotation == "int"}
    return rule(
        **{
            k: Fraction(str(v)) if isinstance(v, float) and k not in whole else v
            for k, v in own.items()
        }
    )


def rule_mapping(rule: Rule) -> dict[str, Any]:
    """Return a rule as a table of the recipe."""
    found: dict[str, Any] = {"name": rule.name}
    for one in inspect.signature(type(rule)).parameters:
        value = getattr(rule, one)
        found[one] = float(value) if isinstance(value, Fraction) else value
    return found


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _published(given: object) -> tuple[str, ...]:
    names = cast(list[object], given) if isinstance(given, list) else [None]
    if not all(isinstance(name, str) for name in names):
        raise BadPlan(
            f"[protect] published is {brief(given)}; allowed is a list of cells.",
            remedy='Write published = ["north|Total"].',
        )
    return tuple(cast(list[str], names))


def _levels(given: object) -> dict[str, tuple[int, ...]]:
    if not isinstance(given, Mapping):
        raise BadPlan(
            "[table] levels is not a table by column.", remedy="Write levels = { region = [0, 1] }."
        )
    found: dict[str, tuple[int, ...]] = {}
    for name, levels in cast(Mapping[str, object], given).items():
        own = cast(Sequence[object], levels) if isinstance(levels, list) else [levels]
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in own):
            raise BadPlan(
                f"[table] levels of '{clipped(name)}' is {brief(levels)}; allowed are whole "
                "numbers.",
                remedy="Level 0 is the values themselves.",
            )
        found[name] = tuple(cast(Sequence[int], own))
    return found


def _negatives(given: object) -> Literal["refused", "absolute"]:
    if given == "refused":
        return "refused"
    if given == "absolute":
        return "absolute"
    raise BadPlan(
        f"[table] negatives is {brief(given)}; allowed are 'refused', 'absolute'.",
        remedy="Use one of these.",
    )


def _text(place: str, key: str, given: object) -> str:
    if not isinstance(given, str):
        raise BadPlan(
            f"[{place}] {key} is {brief(given)}; allowed is a text.", remedy="Write it in quotes."
        )
    return given
