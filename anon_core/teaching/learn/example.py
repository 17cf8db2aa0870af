"""The tables that lessons are read on: samples, a lecturer's folders, one's own table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from anon_core.base.errors import AnonError, BadInput
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.reading import read_table
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.recipe.plan import load_hierarchies, read_plan

#: Rows of a table that a lesson is still read on.
MOST_ROWS = 30

#: Names a folder of a lecturer's own examples.
FOLDER_VARIABLE = "ANONYMITY_WORKBENCH_LESSONS"
#: What the files of such an example are called.
RECIPE, TABLE = "recipe.toml", "table.csv"


@dataclass(frozen=True, kw_only=True, eq=False)
class Material:
    """A table with what is said of its columns.

    Attributes
    ----------
    levels : mapping of str to level table
        Hierarchies by column.
    """

    dataset: Dataset
    roles: Roles
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    levels: Mapping[str, LevelTable] = field(default_factory=dict[str, LevelTable])
    population: Dataset | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """A table that a lesson is read on; naming it loads nothing.

    Attributes
    ----------
    name : str
        What an address names it by.
    sample : str
        Name of a sample of the workbench; empty where `material` is given.
    quasi : tuple of str
        Quasi-identifiers, where not those of the sample; its other columns but the sensitive and
        identifying ones are then left out.
    person : str
        Whom to follow first: a text of any of their cells; empty for the first row.
    runs : mapping of str to mapping
        What is run otherwise than the lesson says, by the names of its runs.
    names : tuple of str
        What rows are called that have no identifier; empty for their number.
    made : callable or None
        Makes the table of an example that is no sample.
    setting : float or None
        Where the reader has put the lesson's dial; None where it was left.
    shuffle : int
        How often the reader has asked for other random numbers.
    """

    name: str
    title: str
    sample: str = ""
    quasi: tuple[str, ...] = ()
    person: str = ""
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    names: tuple[str, ...] = ()
    given: Material | None = None
    made: Callable[[], Material] | None = None
    setting: float | None = None
    shuffle: int = 0

    @property
    def as_given(self) -> bool:
        """Whether settings and random numbers are those of the lesson."""
        return self.setting is None and not self.shuffle

    @cached_property
    def material(self) -> Material:
        """The table and what is said of it."""
        if self.given is not None:
            return self.given
        if self.made is not None:
            return self.made()
        one = sample(self.sample)
        roles = one.roles
        if self.quasi:
            roles = replace(roles, quasi=self.quasi, insensitive=())
        named = (*roles.quasi, *roles.sensitive)
        population = sample(one.public) if one.public else None
        return Material(
            dataset=Dataset.from_frame(one.frame()),
            roles=roles,
            types=one.types,
            levels={
                column: read_levels(hierarchy_folder() / path, column)
                for column, path in one.hierarchies.items()
                if column in named
            },
            population=None if population is None else Dataset.from_frame(population.frame()),
        )


#: The example of many lessons.
TOTH = Example(name="toth", title="Toth's eight people", sample="toth-private", person="Ada")


def six_people() -> Material:
    """Return the example of a course at Aalborg University."""
    import pandas as pd

    columns = {
        "First name": ["John", "Maria", "Peter", "Meredith", "Hans", "Martin"],
        "Age": ["24", "35", "30", "57", "50", "62"],
        "Salary": ["1800", "2450", "1900", "3100", "2750", "3350"],
        "Disease": list("ABBAAB"),
    }
    roles = Roles(identifier=("First name",), quasi=("Age", "Salary"), sensitive=("Disease",))
    return Material(dataset=Dataset.from_frame(pd.DataFrame(columns, dtype=object)), roles=roles)


def own_example(material: Material, title: str) -> Example:
    """Return one's own table as an example.

    Raises
    ------
    BadInput
        If it is too large to be drawn, or nothing is marked in it.
    """
    if not material.roles.quasi:
        raise BadInput(
            "No column of the table is marked as quasi-identifier.",
            remedy="Assign a role to each column on Roles.",
        )
    if material.dataset.rows > MOST_ROWS:
        raise BadInput(
            f"The table has {material.dataset.rows:,} rows; a lesson draws at most {MOST_ROWS}.",
            remedy="Load a part of it, or read the lesson on its own example.",
        )
    return Example(name="own", title=title, given=material)


def lecturers_examples() -> Sequence[tuple[str, Example]]:
    """Return examples in the folder that `FOLDER_VARIABLE` names, each with its technique's name.

    Every folder in it holds one: `table.csv`, and `recipe.toml` with roles, types, hierarchies,
    technique and privacy models. It belongs to the lessons that run this technique.

    Raises
    ------
    AnonError
        If a recipe or table cannot be read.
    """
    root = os.environ.get(FOLDER_VARIABLE, "")
    if not root:
        return ()
    places = sorted(place.parent for place in Path(root).expanduser().glob(f"*/{RECIPE}"))
    return [_in_folder(place) for place in places]


def _in_folder(place: Path) -> tuple[str, Example]:
    try:
        plan = read_plan(place / RECIPE)
        table = read_table(place / TABLE, plan.data)
        material = Material(
            dataset=table,
            roles=plan.roles,
            types=plan.types,
            levels=load_hierarchies(plan, place),
        )
    except AnonError as error:
        raise BadInput(f"{place.name}: {error.message}", remedy=error.remedy) from error
    recipe = plan.as_mapping()
    run = {key: recipe[key] for key in ("algorithm", "models")}
    name = str(recipe["algorithm"]["name"])
    title = place.name.replace("-", " ").replace("_", " ")
    return name, Example(
        name=place.name, title=title[:1].upper() + title[1:], given=material, runs={name: run}
    )
