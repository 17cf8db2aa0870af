"""The tables that are measured: the benchmark table of the literature, or the cached sample."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from anon_core import Plan, load_hierarchies, read_plan
from anon_core.data.hierarchy import read_levels
from anon_core.data.hierarchy.label_truth import with_true_labels
from anon_core.data.samples import hierarchy_folder, sample

ARX_TABLE = "adult/adult_arx_30162.csv.gz"
ARX_HIERARCHIES = "adult/hierarchies_arx"
CENSUS_TABLE = "census/census_like_acs2018_295243.csv.gz"
ARX_QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
#: Loss, suppressed rows and classes that k = 5 must give on the benchmark table, by budget.
ARX_KNOWN = {0.0: (0.635543846, 0, 24), 0.02: (0.357482489, 506, 222)}
CENSUS_QUASI = (
    "age",
    "gender",
    "education",
    "marital-status",
    "race",
    "workclass",
    "country",
)
K = 5


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table on disk with the recipe folder it is measured with.

    Attributes
    ----------
    title : str
    data : Path
        CSV file, plain or packed.
    folder : Path
        Where recipes are written; hierarchies are named by their full path.
    quasi : tuple of str
    small : tuple of str
        The quasi-identifiers of the lattice that is small enough for brute force.
    hierarchies : mapping of str to Path
    separator : str
    sensitive : tuple of str
    known : mapping of float to (loss, suppressed rows, classes)
    """

    title: str
    data: Path
    folder: Path
    quasi: tuple[str, ...]
    small: tuple[str, ...] = ()
    hierarchies: dict[str, Path]
    separator: str = ","
    sensitive: tuple[str, ...] = ()
    known: dict[float, tuple[float, int, int]]

    def recipe(
        self,
        name: str,
        algorithm: str,
        budget: float = 0.0,
        *,
        quasi: tuple[str, ...] | None = None,
        with_hierarchies: bool = True,
    ) -> Path:
        """Write a recipe and return its path."""
        quasi = quasi or self.quasi
        steer = {"max_suppression": budget} if algorithm == "optimal" else {}
        plan = Plan.from_mapping(
            {
                "data": {"separator": self.separator, "missing": "drop"},
                "roles": {
                    "quasi": list(quasi),
                    "sensitive": [n for n in self.sensitive if n not in quasi],
                },
                "hierarchies": {
                    n: str(p)
                    for n, p in self.hierarchies.items()
                    if with_hierarchies and n in quasi
                },
                "algorithm": {"name": algorithm, **steer},
                "models": [{"name": "k-anonymity", "k": K}],
            }
        )
        path = self.folder / f"{name}.toml"
        path.write_text(plan.as_toml(), encoding="utf-8")
        return path

    def load(self, recipe: Path) -> tuple[Plan, dict[str, list[list[str]]]]:
        """Return a recipe's plan and its level tables."""
        plan = read_plan(recipe)
        return plan, load_hierarchies(plan, recipe.parent)


def adult(data: Path | None, folder: Path) -> Source | str:
    """Return the Adult table, or what is missing to measure it."""
    if data is not None:
        table, levels = data / ARX_TABLE, data / ARX_HIERARCHIES
        files = {name: levels / f"adult_hierarchy_{name}.csv" for name in ARX_QUASI}
        for file in (table, *files.values()):
            if not file.is_file():
                return f"{file} is missing; --data wants {ARX_TABLE} and {ARX_HIERARCHIES}/."
        return Source(
            title="Adult, 30,162 complete rows of the training part, 9 quasi-identifiers",
            data=table,
            folder=folder,
            quasi=ARX_QUASI,
            small=("sex", "age", "race", "marital-status", "education"),
            hierarchies={
                name: _with_true_labels(name, file, folder) for name, file in files.items()
            },
            separator=";",
            known=ARX_KNOWN,
        )
    found = sample("adult")
    if not found.available():
        return found.why_unavailable()
    # Nine columns have 92,160 nodes with these hierarchies: minutes, not seconds, in all repeats.
    quasi = tuple(n for n in found.quasi if n not in ("education-num", "relationship"))
    table = folder / "adult.csv"
    found.frame().to_csv(table, index=False)
    return Source(
        title="Adult sample with the shipped hierarchies, complete rows, 7 quasi-identifiers",
        data=table,
        folder=folder,
        quasi=quasi,
        small=("gender", "age", "race", "marital-status", "education"),
        hierarchies={
            name: hierarchy_folder() / path
            for name, path in found.hierarchies.items()
            if name in quasi
        },
        sensitive=found.sensitive,
        known={},
    )


def _with_true_labels(name: str, file: Path, folder: Path) -> Path:
    """Write a hierarchy again whose groups are the same; some labels of ages are not true."""
    rows = with_true_labels(read_levels(file, name), "number" if name == "age" else "text")
    path = folder / file.name
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
    return path


def census(data: Path | None, folder: Path) -> Source | str:
    """Return the census table, or what is missing to measure it."""
    if data is None or not (data / CENSUS_TABLE).is_file():
        return f"Not measured: 295,243 rows need --data with a folder that holds {CENSUS_TABLE}."
    return Source(
        title="American Community Survey 2018, 295,243 rows, 7 quasi-identifiers",
        data=data / CENSUS_TABLE,
        folder=folder,
        quasi=CENSUS_QUASI,
        hierarchies={},
        sensitive=("occupation-group",),
        known={},
    )
