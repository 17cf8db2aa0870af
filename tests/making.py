"""Small tables for tests: written by hand, or drawn by a seeded generator."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa

from anon_core.data.hierarchy import TOP, from_rows
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.recipe.plan import Plan
from anon_core.release.grouping import Grouping
from anon_core.release.knowledge.earlier_release import encode_earlier
from anon_core.release.problem import Problem, build_problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level
from tests import naive

Levels = list[tuple[str, ...]]


def secret(number: int) -> int:
    """Return a seed as long as a drawn one, always the same for a number."""
    return int.from_bytes(hashlib.sha256(f"a seed for tests, {number}".encode()).digest())


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table with everything a plan says about it; missing cells are None."""

    columns: dict[str, list[str | None]]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    kinds: dict[str, ColumnKind] = field(default_factory=dict)
    levels: dict[str, Levels] = field(default_factory=dict)
    person: str = ""
    weight: str = ""
    earlier: pd.DataFrame | None = None

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.columns, dtype=object)

    @cached_property
    def dataset(self) -> Dataset:
        # A frame of pandas takes half as long again, and has tests of its own.
        columns = {
            name: pa.array(cells, pa.string(), from_pandas=True)
            for name, cells in self.columns.items()
        }
        return Dataset.from_frame(pa.table(columns), kinds=self.kinds)

    @property
    def roles(self) -> Roles:
        return Roles(
            identifier=self.identifier,
            quasi=self.quasi,
            sensitive=self.sensitive,
            insensitive=self.insensitive,
            person=self.person,
            weight=self.weight,
        )

    @property
    def insensitive(self) -> tuple[str, ...]:
        """All columns without another role: they are published as they are."""
        named = (*self.identifier, *self.quasi, *self.sensitive, self.person, self.weight)
        return tuple(n for n in self.columns if n not in named)

    def problem(
        self, population: Dataset | int | None = None, *, combined: bool = False
    ) -> Problem:
        dataset = self.dataset
        built = {
            name: from_rows(dataset.column(name), rows)
            for name, rows in self.levels.items()
            if name in self.quasi
        }
        made = build_problem(dataset, self.roles, built, population=population, combined=combined)
        if self.earlier is None:
            return made
        return replace(
            made,
            earlier=encode_earlier(
                Dataset.from_frame(self.earlier), dataset, self.roles, made.hierarchies, "all"
            ),
        )

    def with_earlier(self) -> Case:
        """Return the case with an earlier release: all but the first quasi-identifier hidden."""
        shown = [*self.quasi, *self.sensitive]
        hidden = self.frame[shown].assign(**dict.fromkeys(self.quasi[1:], TOP))
        return replace(self, earlier=hidden)

    def plan(self, **given: object) -> Plan:
        """Return a plan by the recipe's tables; what is not given is k-anonymity with k = 2.

        A seed is always the same secret for a number, so that tests can be repeated.
        """
        number = given.pop("seed", 0)
        recipe: dict[str, object] = {
            "seed": f"{secret(number):064x}" if isinstance(number, int) else number,
            "types": dict(self.kinds),
            "roles": {
                "identifier": list(self.identifier),
                "quasi": list(self.quasi),
                "sensitive": list(self.sensitive),
                "insensitive": list(self.insensitive),
                **({"person": self.person} if self.person else {}),
                **({"weight": self.weight} if self.weight else {}),
            },
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
        return Plan.from_mapping(recipe | given)

    # -- the same for the naive twins --

    @property
    def rows(self) -> list[naive.Row]:
        return list(zip(*(self.column(name) for name in self.quasi), strict=True))

    def column(self, name: str) -> list[str]:
        return [naive.MISSING if cell is None else cell for cell in self.columns[name]]

    @cached_property
    def attributes(self) -> list[naive.Attribute]:
        return [
            naive.attribute(
                self.column(name),
                self.levels.get(name),
                number=self.kinds.get(name) == "number",
                tree=self.kinds.get(name, "text") == "text",
                ordered=self.kinds.get(name, "text") != "text",
            )
            for name in self.quasi
        ]


#: What a technique that is a mechanism is shown, and a budget for a few dozen rows.
MECHANISM: dict[str, object] = {"fixed_rules": True}
BUDGET: dict[str, object] = {"name": "differential-privacy", "epsilon": 0.3, "delta": 0.1}


def for_mechanisms(case: Case, times: int = 1) -> Case:
    """Return a case as mechanisms take it: quasi-identifiers alone, every text its own value."""
    kinds = {n: k if n in case.levels else "text" for n, k in case.kinds.items()}
    return Case(
        columns={name: case.columns[name] * times for name in case.quasi},
        quasi=case.quasi,
        kinds={name: kinds[name] for name in case.quasi if name in kinds},
        levels=case.levels,
    )


def random_case(
    rng: np.random.Generator,
    *,
    rows: int | None = None,
    quasi: int | None = None,
    kinds: Sequence[str] = ("text", "flat", "ordered", "number"),
    missing: bool = True,
) -> Case:
    """Draw a table of 1 to 4 quasi-identifiers with hierarchies, and two sensitive columns."""
    rows = int(rng.integers(4, 28)) if rows is None else rows
    quasi = int(rng.integers(1, 5)) if quasi is None else quasi
    columns: dict[str, list[str | None]] = {}
    declared: dict[str, ColumnKind] = {}
    levels: dict[str, Levels] = {}
    for d in range(quasi):
        name = f"q{d}"
        kind = str(rng.choice(list(kinds)))
        values = draw_values(rng, kind)
        declared[name] = "text" if kind == "flat" else kind  # type: ignore[assignment]
        if kind != "flat":
            levels[name] = draw_levels(rng, values, intervals=kind == "number")
        weights = rng.dirichlet(np.ones(len(values)))
        drawn: list[str | None] = [str(v) for v in rng.choice(values, rows, p=weights)]
        if missing and rng.random() < 0.3:
            drawn = [None if rng.random() < 0.2 else v for v in drawn]
            if all(v is None for v in drawn):
                drawn[0] = values[0]
        columns[name] = drawn
    for name in ("s0", "s1"):
        columns[name] = [str(v) for v in rng.choice(list("abcd"), rows, p=(0.5, 0.25, 0.15, 0.1))]
        declared[name] = "text"
    return Case(
        columns=columns,
        quasi=tuple(f"q{d}" for d in range(quasi)),
        sensitive=("s0", "s1"),
        kinds=declared,
        levels=levels,
    )


def with_numbers_in_one(case: Case) -> Case:
    """Return a drawn table with numbers in place of its second sensitive column's letters."""
    numbers: list[str | None] = [str("abcd".index(str(v))) for v in case.columns["s1"]]
    return replace(
        case, columns={**case.columns, "s1": numbers}, kinds={**case.kinds, "s1": "number"}
    )


def draw_values(rng: np.random.Generator, kind: str) -> list[str]:
    size = int(rng.integers(1, 7))
    if kind == "number":
        return [str(v) for v in sorted(rng.choice(40, size, replace=False).tolist())]
    return [f"v{i}" for i in range(size)]


def draw_levels(rng: np.random.Generator, values: Sequence[str], *, intervals: bool) -> Levels:
    """Draw a level table of one to three levels above the values, its lines shuffled."""
    group = np.arange(len(values))
    above: list[list[str]] = []
    for level in range(int(rng.integers(0, 3))):
        parts = int(group.max()) + 1
        if intervals:
            joined = np.concatenate([[0], np.cumsum(rng.random(parts - 1) < 0.5)])
        else:
            joined = np.unique(rng.integers(0, parts, parts), return_inverse=True)[1]
        group = joined[group]
        above.append([f"Group {level}.{g}" for g in group])
    lines = list(zip(values, *above, ["*"] * len(values), strict=True))
    return [lines[i] for i in rng.permutation(len(lines))]


#: Six people; at k = 2 the ages stay and the ZIP code goes up a level.
PATIENTS = Case(
    columns={
        "name": ["Ada", "Bea", "Cai", "Dan", "Eva", "Fay"],
        "age": ["20", "20", "20", "40", "40", "40"],
        "zip": ["101", "102", "101", "201", "202", "202"],
        "illness": ["flu", "flu", "cold", "flu", "angina", "cold"],
        "note": ["a", "b", "c", "d", "e", "f"],
    },
    identifier=("name",),
    quasi=("age", "zip"),
    sensitive=("illness",),
    kinds={"age": "number", "zip": "text"},
    levels={
        "age": [("20", "20-29", "*"), ("40", "40-49", "*")],
        "zip": [
            ("101", "10*", "*"),
            ("102", "10*", "*"),
            ("201", "20*", "*"),
            ("202", "20*", "*"),
        ],
    },
)


def sample_case(name: str, levels: Mapping[str, Levels]) -> Case:
    """Return one of the shipped paper tables with level tables typed in."""
    from anon_core.data.samples import sample

    table = sample(name)
    frame = table.frame()
    return Case(
        columns={str(n): frame[n].tolist() for n in frame.columns},
        identifier=table.identifier,
        quasi=table.quasi,
        sensitive=table.sensitive,
        kinds=dict(table.types),  # type: ignore[arg-type]
        levels=dict(levels),
    )


def with_weights(case: Case, rng: np.random.Generator) -> Case:
    """Return a case with a column of survey weights from 1 to 59."""
    return weighted(case, map(str, rng.integers(1, 60, len(case.rows)).tolist()))


def weighted(case: Case, weights: Iterable[str]) -> Case:
    """Return a case with a column of these survey weights."""
    return replace(
        case,
        columns={**case.columns, "w": list(weights)},
        kinds={**case.kinds, "w": "number"},
        weight="w",
    )


def by_hand(
    problem: Problem,
    group: Sequence[int],
    blocks: tuple[tuple[str, ...], ...],
    *,
    published: bool = True,
) -> Release:
    """Return a release of exact cells from a group per row (-1 removes it) and its link blocks."""
    tuples = problem.frequency.codes[problem.frequency.row_key, : len(problem.quasi)].tolist()
    classes: dict[tuple[int, ...], int] = {}
    entries: Counter[tuple[int, int]] = Counter()
    for row, g in enumerate(group):
        member = -1
        if g >= 0:
            member = classes.setdefault((g, *tuples[row]), len(classes))
        entries[int(problem.frequency.row_key[row]), member] += 1
    ordered = sorted(entries)
    grouping = Grouping(
        key=np.array([key for key, _ in ordered], dtype=np.int64),
        member=np.array([member for _, member in ordered], dtype=np.int64),
        count=np.array([entries[e] for e in ordered], dtype=np.int64),
        group=np.array([c[0] for c in classes], dtype=np.int64),
        published=published,
    )
    names = dict.fromkeys((*problem.quasi, *problem.sensitive))
    return Release(
        problem=problem,
        grouping=grouping,
        vocabularies={n: of_level(problem.hierarchies[n], 0) for n in names},
        cells={
            name: np.array([c[1 + d] for c in classes], dtype=np.int32)
            for d, name in enumerate(problem.quasi)
        },
        blocks=blocks,
    )
