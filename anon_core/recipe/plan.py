"""The plan: everything that determines a release, and its form as a recipe (TOML)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from anon_core.base import secret
from anon_core.base.errors import BadPlan, brief, listing
from anon_core.base.params import Technique
from anon_core.base.registry import by_default
from anon_core.contracts.algorithm import Algorithm, by_levels, by_parts
from anon_core.contracts.attack import Attack
from anon_core.contracts.change import Changed
from anon_core.contracts.metric import Metric, in_units_of
from anon_core.contracts.model import GroupModel
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.model import LevelTable as LevelTable
from anon_core.data.reading import DataOptions
from anon_core.data.roles.redaction import redacted_of
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.recipe.confirmations import Confirmed, Labels, confirmed_of, refuse_unconfirmed
from anon_core.recipe.dialect import Dialect
from anon_core.recipe.earlier_release import EarlierFile
from anon_core.recipe.engine import Engine
from anon_core.recipe.hierarchy_folder import with_files
from anon_core.recipe.level_bounds import LevelBounds
from anon_core.recipe.old_recipes import VERSION, renewed
from anon_core.recipe.readers import (
    SEARCH,
    changes_of,
    list_of,
    names_of,
    person_of,
    read_tables,
    refuse_no_changes,
    refuse_no_class_weights,
    refuse_no_csv,
    refuse_no_levels,
    refuse_no_parts,
    refuse_other_shape,
    refuse_unknown_keys,
    table_of,
    technique_of,
    text_of_file,
    texts_of,
    types_of,
)
from anon_core.recipe.reuse import Gate, Reuse
from anon_core.recipe.statistics_files import formats_of

Formulas = Literal["neutralise", "keep"]
_SECTIONS = {
    "version",
    "seed",
    "data",
    "types",
    "roles",
    "hierarchies",
    "labels",
    "level_bounds",
    "sensitive_levels",
    "redacted",
    "changes",
    "confirmed",
    "algorithm",
    "models",
    "metrics",
    "attacks",
    "population",
    "earlier",
    "export",
    "release",
    "reuse",
    "accept",
    "engine",
}
_EXPORT = {"formulas", "csv", "parts", "formats", "dialect", "class_weights"}
_ROLES = {"identifier", "quasi", "sensitive", "insensitive", "person", "household", "weight"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that determines a release; the same plan on the same data gives the same bytes.

    Attributes
    ----------
    seed : int
        Secret that every random choice starts from; see `secret`. One is drawn where none is given.
        Anyone who has it can undo the release: it belongs to the internal edition only.
    data : DataOptions
        How the table is read and what happens to missing values.
    types : mapping of str to str
        By column one of `anon_core.data.values.kinds.KINDS`: columns read otherwise than detected.
    hierarchies : mapping of str to str
        Column → path of its level table, relative to the recipe.
    labels : Labels
        What becomes of labels that say what their values are not; without it they are refused.
    level_bounds : LevelBounds
        The lowest and highest level of single quasi-identifiers.
    sensitive_levels : mapping of str to int or 'search'
        Sensitive columns that are published at this level of their hierarchy, instead of their
        values; privacy models count what is published. Or at the least level, their values first,
        at which the privacy models can be met.
    redacted : mapping of str to tuple of str
        Columns of texts, each with the identifiers whose words are taken out of it.
    changes : tuple of Changed
        Columns that get other cells before anything is grouped: pseudonyms, noise, swaps.
    key : bytes
        The secret key that some of them ask for: 32 bytes that are asked for and never stored, so
        that no recipe has them.
    confirmed : tuple of Confirmed
        What someone has seen of columns that are published as they are; see `Finding`.
    models : tuple of GroupModel
        The privacy models; at least one.
    metrics : tuple of Metric
        Metrics with parameters other than their defaults, and those that are measured on request
        only; the others measure as they are.
    attacks : tuple of Attack
        Attacks with parameters other than their defaults; the others run as they are.
    population_size : int or None
        Stated size of the population, for journalist risk.
    population_file : str
        Path of a population table, relative to the recipe; empty if there is none.
    earlier : EarlierFile
        A release of the same people that is out already.
    formulas : {'neutralise', 'keep'}
        What an export does with cells that a spreadsheet would execute.
    csv : bool
        Whether the release is written as CSV next to Parquet; without, it is Parquet alone.
    parts : int
        How many Parquet files each published table is written in.
    class_weights : bool
        Whether the mean survey weight of each class is published, in a file of its own.
    formats : tuple of str
        Further formats of the release, of `typed_files.TYPED`.
    dialect : Dialect or None
        The marks of a CSV file for the reader's spreadsheet, next to the release.
    reuse : Reuse
        Whether a search may decide again, and what becomes of values that no hierarchy has.
    accept : tuple of Gate
        What a release has to reach next to its privacy models.
    engine : Engine
        What the table is held with while it is worked on; the release is the same with each.
    notes : tuple of str
        What was renewed in the recipe the plan was read from, which is of an older version.
    """

    roles: Roles
    algorithm: Algorithm
    models: tuple[GroupModel, ...]
    seed: int = field(default_factory=secret.draw, repr=False)
    data: DataOptions = field(default_factory=DataOptions)
    types: Mapping[str, ColumnKind] = field(default_factory=dict[str, ColumnKind])
    hierarchies: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Labels = field(default_factory=Labels)
    level_bounds: LevelBounds = field(default_factory=LevelBounds)
    sensitive_levels: Mapping[str, int | str] = field(default_factory=dict[str, int | str])
    redacted: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    changes: tuple[Changed, ...] = ()
    key: bytes = field(default=b"", repr=False, compare=False)
    confirmed: tuple[Confirmed, ...] = ()
    metrics: tuple[Metric, ...] = ()
    attacks: tuple[Attack, ...] = ()
    population_size: int | None = None
    population_file: str = ""
    earlier: EarlierFile = field(default_factory=EarlierFile)
    formulas: Formulas = "neutralise"
    csv: bool = True
    parts: int = 1
    class_weights: bool = False
    formats: tuple[str, ...] = ()
    dialect: Dialect | None = None
    reuse: Reuse = field(default_factory=Reuse)
    accept: tuple[Gate, ...] = ()
    engine: Engine = field(default_factory=Engine)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Refuse a plan without privacy models, and values out of range.

        Raises
        ------
        BadPlan
            Naming the value as a recipe has it.
        """
        object.__setattr__(self, "seed", secret.parse(self.seed))
        if self.population_size is not None and not _whole(self.population_size, least=1):
            raise BadPlan(
                f"[population] size is {brief(self.population_size)}.",
                remedy="Use a whole number of at least 1.",
            )
        own = "rest" if self.data.rest == "population" else "benchmark"
        if (self.data.rest == "population" or self.data.benchmark) and (
            self.population_size is not None or self.population_file or self.changes
        ):
            other = "changes columns" if self.changes else "names a population of its own"
            raise BadPlan(
                f"[data] rest is 'population', and the recipe {other}."
                if own == "rest"
                else f"[data] benchmark makes the complete rows public, and the recipe {other}.",
                remedy=f"Leave {own} out, or the other.",
            )
        if self.population_size is not None and self.population_file:
            raise BadPlan(
                "[population] gives both a size and a file.", remedy="Give one of the two."
            )
        if self.formulas not in get_args(Formulas):
            raise BadPlan(
                f"[export] formulas is {brief(self.formulas)}.",
                remedy="Use 'neutralise' or 'keep'.",
            )
        refuse_no_csv(self.csv, further=bool(self.formats) or self.dialect is not None)
        refuse_no_parts(self.parts)
        refuse_no_class_weights(self.class_weights, self.roles, self.algorithm, csv=self.csv)
        self.reuse.refuse_searching(self.algorithm, self.earlier.file)
        self.level_bounds.refuse_others(self.roles)
        refuse_no_levels(self.sensitive_levels, self.roles)
        object.__setattr__(self, "redacted", redacted_of(self.redacted, self.roles))
        elsewhere = {**self.redacted, **self.sensitive_levels}
        refuse_no_changes(self.changes, self.roles, self.models, elsewhere)
        bare = not self.algorithm.needs.models and any(
            c.change.effect.replaces for c in self.changes
        )
        if not self.models and not bare:
            raise BadPlan(
                "The plan names no privacy model, so it protects no one."
                if self.algorithm.needs.models
                else f"{self.algorithm.title} and no privacy model would publish the table itself: "
                "no change replaces a value.",
                remedy="Add at least one, for example [[models]] with name = 'k-anonymity', k = 5.",
            )

        for section, own in (("metrics", self.metrics), ("attacks", self.attacks)):
            names = [technique.name for technique in own]
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                raise BadPlan(
                    f"[[{section}]] names '{twice}' more than once.",
                    remedy="Put all its settings into one of them.",
                )

    def all_metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of a run: those that every run measures, and those the plan names.

        With the plan's parameters where it gives some.
        """
        own = {metric.name: metric for metric in self.metrics}
        known = cast(dict[str, type[Metric]], by_default("metric", own))
        return tuple(
            own.get(name) or in_units_of(metric, self.models) for name, metric in known.items()
        )

    @property
    def searched_levels(self) -> tuple[str, ...]:
        """The sensitive columns whose level is searched."""
        return tuple(name for name, level in self.sensitive_levels.items() if level == SEARCH)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the plan names: hierarchies, the population, an earlier release."""
        named = (*self.hierarchies.values(), self.population_file, self.earlier.file)
        return tuple(path for path in named if path)

    def moved(self, old: str | Path, new: str | Path) -> Plan:
        """Return the plan with its paths rewritten for a recipe in another folder."""

        def seen(path: str) -> str:
            target = Path(old, path).resolve()
            try:
                return Path(os.path.relpath(target, Path(new).resolve())).as_posix()
            except ValueError:  # on another drive
                return target.as_posix()

        return replace(
            self,
            hierarchies={column: seen(path) for column, path in self.hierarchies.items()},
            population_file=seen(self.population_file) if self.population_file else "",
            earlier=replace(
                self.earlier, file=seen(self.earlier.file) if self.earlier.file else ""
            ),
        )

    @property
    def draws(self) -> bool:
        """Whether what is published depends on chance, and so can be undone by the seed."""
        changes = any(one.change.effect.draws for one in self.changes)
        return self.data.draws or changes or self.algorithm.draws

    def refuse_unconfirmed(self, table: Dataset) -> None:
        """Refuse a table with a finding that no one confirmed; see `confirmed.refuse_unconfirmed`.

        Raises
        ------
        BadPlan
        """
        asked = {name for model in self.models for name in model.private_columns()}
        coarsened = tuple(self.sensitive_levels)
        refuse_unconfirmed(self.confirmed, table, self.roles, coarsened=coarsened, asked=asked)

    def refuse_guessable(self) -> None:
        """Refuse chance that starts from a seed which can be found by trying.

        Raises
        ------
        BadPlan
        """
        if self.draws:
            sampled = self.data.draws
            drawing = [one.change.title for one in self.changes if one.change.effect.draws]
            what = f"What {[*drawing, self.algorithm.title][0]} publishes"
            what = "The sample" if sampled else what
            secret.refuse_guessable(self.seed, what)

    def all_attacks(self) -> tuple[Attack, ...]:
        """Return the attacks of a run: those that every run carries out, and those the plan names.

        With the plan's parameters where it gives some.
        """
        own = {attack.name: attack for attack in self.attacks}
        known = cast(dict[str, type[Attack]], by_default("attack", own))
        return tuple(own.get(name) or attack() for name, attack in known.items())

    def as_mapping(self) -> dict[str, Any]:
        """Return the plan as nested plain values: the recipe's tables."""
        named: dict[str, Any] = {
            "version": VERSION,
            "seed": secret.spell(self.seed),
            "data": self.data.as_mapping(),
        }
        if self.types:
            named["types"] = dict(self.types)
        singles = {
            "person": self.roles.person,
            "household": self.roles.household,
            "weight": self.roles.weight,
        }
        named["roles"] = {
            "identifier": list(self.roles.identifier),
            "quasi": list(self.roles.quasi),
            "sensitive": list(self.roles.sensitive),
            "insensitive": list(self.roles.insensitive),
            **{role: name for role, name in singles.items() if name},
        }
        if self.hierarchies:
            named["hierarchies"] = dict(self.hierarchies)
        if labels := self.labels.as_mapping():
            named["labels"] = labels
        if bounds := self.level_bounds.as_mapping():
            named["level_bounds"] = bounds
        if self.sensitive_levels:
            named["sensitive_levels"] = dict(self.sensitive_levels)
        if self.redacted:
            named["redacted"] = {name: list(by) for name, by in self.redacted.items()}
        if self.changes:
            named["changes"] = [one.as_mapping() for one in self.changes]
        if self.confirmed:
            named["confirmed"] = [one.as_mapping() for one in self.confirmed]
        named["algorithm"] = _technique_mapping(self.algorithm)
        named["models"] = [_technique_mapping(m) for m in self.models]
        if self.metrics:
            named["metrics"] = [_technique_mapping(m) for m in self.metrics]
        if self.attacks:
            named["attacks"] = [_technique_mapping(a) for a in self.attacks]
        if self.population_size is not None:
            named["population"] = {"size": self.population_size}
        elif self.population_file:
            named["population"] = {"file": self.population_file}
        if earlier := self.earlier.as_mapping():
            named["earlier"] = earlier
        asked: dict[str, Any] = {} if self.csv else {"csv": False}
        asked |= {"parts": self.parts} if self.parts > 1 else {}
        asked |= {"class_weights": True} if self.class_weights else {}
        asked |= {"formats": list(self.formats)} if self.formats else {}
        marks = {} if self.dialect is None else {"dialect": self.dialect.as_mapping()}
        named["export"] = {"formulas": self.formulas, **asked, **marks}
        if reuse := self.reuse.as_mapping():
            named["reuse"] = reuse
        if self.accept:
            named["accept"] = [gate.as_mapping() for gate in self.accept]
        if engine := self.engine.as_mapping():
            named["engine"] = engine
        return named

    def of_kinds(self, kinds: Mapping[str, ColumnKind]) -> Plan:
        """Return the plan with kinds that were decided for columns of which it declares none."""
        found = [n for n, k in kinds.items() if n not in self.types and not KINDS[k].measured]
        every = tuple(dict.fromkeys((*self.data.kinds_found, *found)))
        data = replace(self.data, kinds_found=every)
        return replace(self, data=data, types={**kinds, **self.types})

    def completed(self) -> dict[str, Any]:
        """Return the recipe's tables, and next to them what the release looks like.

        That is all that verification gets of the technique, which it does not know.
        """
        return {**self.as_mapping(), "release": self.algorithm.release_shape()}

    def as_toml(self) -> str:
        """Return the completed recipe's text."""
        import tomli_w

        return tomli_w.dumps(self.completed())

    def decided(self, levels: Mapping[str, int], max_suppression: float) -> Plan:
        """Return the plan that publishes columns at these levels, and no other, of any table."""
        fixed = technique_of("algorithm", Algorithm, by_levels(levels, max_suppression))
        return replace(self, algorithm=fixed, reuse=replace(self.reuse, mode="fixed"))

    def decided_parts(self, released: str, sha256: str = "") -> Plan:
        """Return the plan that takes over the parts of a release, for any table.

        Raises
        ------
        BadPlan
            If it is not said where the release lies.
        """
        if not released:
            raise BadPlan(
                "Parts are carried out by the published table, and its file is not given.",
                remedy="Write the decided recipe with run --decided-out.",
            )
        cells = getattr(self.algorithm, "output", None)
        output = {} if cells is None else {"output": cells}
        parts = technique_of("algorithm", Algorithm, {**by_parts(), **output})
        return replace(
            self,
            algorithm=parts,
            earlier=EarlierFile(file=released, sha256=sha256),
            reuse=replace(self.reuse, mode="fixed"),
        )

    def as_recipe_for_others(self) -> str:
        """Return the recipe's text without its secret: each run draws one of its own."""
        import tomli_w

        recipe = self.completed()
        del recipe["seed"]
        return tomli_w.dumps(recipe)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Plan:
        """Build a plan from a recipe's tables, also from those of an older recipe.

        Raises
        ------
        BadPlan
            Naming the table and key, what is allowed, and the nearest known name.
        """
        given, notes = renewed(given)
        refuse_unknown_keys("The recipe", given, _SECTIONS)
        given = {"models": [], **given} if given.get("changes") else given
        for required in ("roles", "algorithm", "models"):
            if required not in given:
                raise BadPlan(
                    f"The recipe has no [{required}].",
                    remedy=f"Add it; a recipe needs {listing(('roles', 'algorithm', 'models'))}.",
                )
        roles = table_of(given, "roles")
        refuse_unknown_keys("[roles]", roles, _ROLES)
        population = table_of(given, "population")
        refuse_unknown_keys("[population]", population, {"size", "file"})
        earlier = table_of(given, "earlier")
        refuse_unknown_keys("[earlier]", earlier, {"file", "people", "sha256"})
        export = table_of(given, "export")
        refuse_unknown_keys("[export]", export, _EXPORT)
        reuse = table_of(given, "reuse")
        refuse_unknown_keys("[reuse]", reuse, {"mode", "unseen"})
        engine = table_of(given, "engine")
        refuse_unknown_keys("[engine]", engine, {"name", "memory"})
        plan = cls(
            seed=secret.parse(given["seed"]) if "seed" in given else secret.draw(),
            data=DataOptions.from_mapping(table_of(given, "data")),
            types=types_of(table_of(given, "types")),
            roles=Roles(
                identifier=names_of(roles, "identifier"),
                quasi=names_of(roles, "quasi"),
                sensitive=names_of(roles, "sensitive"),
                insensitive=names_of(roles, "insensitive"),
                person=person_of(roles),
                household=person_of(roles, "household"),
                weight=person_of(roles, "weight"),
            ),
            hierarchies=texts_of("[hierarchies]", table_of(given, "hierarchies")),
            labels=Labels.from_mapping(table_of(given, "labels")),
            level_bounds=LevelBounds.from_mapping(table_of(given, "level_bounds")),
            sensitive_levels=dict(table_of(given, "sensitive_levels")),
            redacted=dict(table_of(given, "redacted")),
            changes=changes_of(list_of(given, "changes")),
            confirmed=confirmed_of(list_of(given, "confirmed")),
            algorithm=technique_of("algorithm", Algorithm, given["algorithm"]),
            engine=Engine.from_mapping(engine),
            models=tuple(technique_of("model", GroupModel, m) for m in list_of(given, "models")),
            metrics=tuple(technique_of("metric", Metric, m) for m in list_of(given, "metrics")),
            attacks=tuple(technique_of("attack", Attack, a) for a in list_of(given, "attacks")),
            population_size=population.get("size"),
            population_file=texts_of("[population]", {"file": population.get("file", "")})["file"],
            earlier=EarlierFile.from_mapping(earlier),
            formulas=export.get("formulas", "neutralise"),
            csv=export.get("csv", True),
            parts=export.get("parts", 1),
            class_weights=export.get("class_weights", False),
            formats=formats_of(export.get("formats", [])),
            dialect=Dialect.from_mapping(export["dialect"]) if "dialect" in export else None,
            reuse=Reuse.from_mapping(reuse),
            accept=tuple(Gate.from_mapping(gate) for gate in list_of(given, "accept")),
            notes=notes,
        )
        refuse_other_shape(plan.algorithm, table_of(given, "release"))
        return plan

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """Build a plan from a recipe's text.

        Raises
        ------
        BadPlan
            If the text is no TOML, or no recipe; names the place.
        """
        return cls.from_mapping(read_tables(text))


def read_plan(path: str | Path) -> Plan:
    """Read a recipe file.

    Raises
    ------
    BadPlan
        If the file cannot be read or is no recipe.
    BadHierarchy
        If it names a folder of hierarchies whose files do not fit its columns.
    """
    plan = Plan.from_toml(text_of_file(Path(path)))
    files = with_files(plan.hierarchies, plan.roles, Path(path).parent)
    return replace(plan, hierarchies=files)


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
