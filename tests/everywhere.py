"""Small tables, promises and public tables for tests of every model with every technique."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
import pandas as pd

from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan
from tests.contract.settings import forming_parameters, tails_at
from tests.making import BUDGET, MECHANISM, Case, for_mechanisms, random_case

#: What is asked of each model, in turn: such as small tables can keep, and can break.
ASKED: Mapping[str, tuple[dict[str, Any], ...]] = {
    "alpha-k-anonymity": ({"alpha": 0.6, "k": 2}, {"alpha": 0.5, "k": 3}, {"alpha": 0.75, "k": 2}),
    "average-risk": ({"risk": 0.5}, {"risk": 0.34}, {"risk": 0.25}),
    "background-bound": ({"factor": 1.5}, {"factor": 3.0}, {"factor": 1.0}),
    "beta-likeness": ({"beta": 0.8}, {"beta": 1.5, "enhanced": False}, {"beta": 2.0}),
    "bucket-size": ({"k": 2}, {"k": 3}),
    "delta-disclosure": ({"delta": 1.3}, {"delta": 0.7}, {"delta": 2.0}),
    "delta-presence": (
        {"delta_max": 0.6},
        {"delta_max": 0.8},
        {"delta_min": 0.2, "delta_max": 0.9},
    ),
    "differential-privacy": (BUDGET,),
    "entropy-l-diversity": ({"l": 1.7}, {"l": 2}, {"l": 2.5}),
    "epsilon-m-anonymity": (
        {"epsilon": 1, "m": 1.5},
        {"epsilon": 0.5, "m": 2, "relative": True},
        {"epsilon": 0, "m": 2},
    ),
    "frequency-l-diversity": ({"l": 2}, {"l": 3}),
    "global-one-k-anonymity": ({"k": 2}, {"k": 3}),
    "k-anonymity": ({"k": 2}, {"k": 3}, {"k": 2, "subsets": 1}),
    "k-e-anonymity": ({"k": 2, "e": 2}, {"k": 3, "e": 4}),
    "k-k-anonymity": ({"k": 2}, {"k": 3}),
    "k-map": ({"k": 3}, {"k": 5}),
    "k-map-by-size": ({"k": 3, "share": 0.3}, {"k": 6, "share": 0.2}),
    "k-one-anonymity": ({"k": 2}, {"k": 3}),
    "km-anonymity": ({"k": 2, "m": 1}, {"k": 2, "m": 2}),
    "l-diversity": ({"l": 2}, {"l": 3}),
    "maximum-risk": ({"risk": 0.5}, {"risk": 0.25}),
    "one-k-anonymity": ({"k": 2}, {"k": 3}),
    "personalized": (
        {"column": "own"},
        {"column": "guard", "level": "guard", "p": 0.5, "sensitive": "s0"},
        {"column": "guard", "level": "guard", "p": 0.7, "sensitive": "s0"},
    ),
    "population-uniques": ({"people": 20, "share": 0.2}, {"people": 30, "share": 0.05}),
    "profitability": (
        {"benefit": 10.0, "loss": 10.0, "gain": 10.0, "cost": 4.0},
        {"benefit": 10.0, "loss": 15.0, "gain": 9.0, "cost": 4.5},
        {"benefit": 3.0, "loss": 8.0, "gain": 5.0, "cost": 0.0},
    ),
    "recursive-l-diversity": ({"c": 1.5, "l": 2}, {"c": 3, "l": 2}, {"c": 2, "l": 3}),
    "share-at-risk": ({"risk": 0.5, "share": 0.3}, {"risk": 0.34, "share": 0.2}),
    "slicing-l-diversity": ({"l": 2}, {"l": 3}),
    "t-closeness": ({"t": 0.25}, {"t": 0.15, "distance": "ordered"}, {"t": 0.4}),
}
#: How long searches by chance, or in a time box, go on here.
EFFORT = {"moves": 60, "population": 6, "generations": 5, "restarts": 4, "seconds": 5.0}
#: What forms groups whose columns are permuted apart, and asks for no public table.
PARTITIONS = [
    *(n for n in family("partitioner") if not getattr(find("partitioner", n), "counts_public", 0)),
    "optimal",
    "k-member",
]
#: Sensitive values and the groups they stand in.
TREE = [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("6", "high", "*")]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A table, what is promised of it, how it is released, and who else could be in it.

    Attributes
    ----------
    case : Case
    model, algorithm : str
    asked : mapping
        Parameters of the promise.
    settings : mapping
        Parameters of the technique.
    people : list of tuples of str
        The public table; empty where there is none.
    """

    case: Case
    model: str
    algorithm: str
    asked: Mapping[str, Any]
    settings: Mapping[str, Any]
    people: list[tuple[str, ...]]

    @cached_property
    def technique(self) -> Algorithm:
        return cast(Algorithm, family("algorithm")[self.algorithm].from_mapping(self.settings))

    @cached_property
    def promise(self) -> GroupModel:
        matching = {name: value for name, value in self.asked.items() if name != "name"}
        return cast(GroupModel, family("model")[self.model].from_mapping(matching))

    @cached_property
    def plan(self) -> Plan:
        return self.case.plan(
            algorithm={"name": self.algorithm, **self.settings},
            models=[{"name": self.model, **self.asked}],
        )

    @cached_property
    def public(self) -> Dataset | None:
        if not self.people:
            return None
        kinds = {n: k for n, k in self.case.kinds.items() if n in self.case.quasi}
        frame = pd.DataFrame(self.people, columns=list(self.case.quasi), dtype=object)
        return Dataset.from_frame(frame, kinds=kinds)

    @cached_property
    def values(self) -> list[int]:
        """Sensitive values of the rows: numbers, or numbers that stand for texts."""
        (name,) = self.case.sensitive
        texts = self.case.column(name)
        if self.case.kinds[name] == "number":
            return [int(v) for v in texts]
        place = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        return [place[text] for text in texts]


def trial(model: str, algorithm: str, number: int) -> Trial:
    """Draw the trial of a pair by its number, always the same; its table is all pairs'."""
    rng = np.random.default_rng([number, *map(ord, model[:8] + algorithm[:8])])
    chosen = cast(Algorithm, family("algorithm")[algorithm]())
    kind = cast(type[GroupModel], family("model")[model])
    asked = ASKED[model][number % len(ASKED[model])]
    case = table(number, str(asked.get("column", "")))
    names = {p.name for p in chosen.parameters()}
    settings: dict[str, Any] = {n: v for n, v in EFFORT.items() if n in names}
    if "max_suppression" in names:
        settings["max_suppression"] = float(rng.choice([0.0, 0.2, 0.4]))
    if "small" in names and settings["max_suppression"]:
        settings["small"] = "remove"
    if chosen.shape.codes_tails:
        numbers = sorted({int(v) for v in case.column("q1")})
        low, high = numbers[len(numbers) // 3], numbers[-1 - len(numbers) // 3]
        settings |= tails_at(type(chosen), "q1", low, max(high, low + 1))
    if chosen.needs.levels_parameter:
        settings[chosen.needs.levels_parameter] = {
            n: int(rng.integers(0, len(case.levels[n][0]))) for n in case.quasi
        }
    if chosen.shape.permutes and not chosen.shape.coarsens:
        settings |= {p.name: str(rng.choice(PARTITIONS)) for p in forming_parameters(type(chosen))}
    if chosen.shape.mechanism:
        settings = {**MECHANISM}
    if chosen.shape.mechanism and kind.scope.mechanism:
        case = for_mechanisms(case, 20)
    rows = case.rows
    people: list[tuple[str, ...]] = []
    needs = kind.scope.public or chosen.needs.public
    if needs or (kind.scope.may_count_public and rng.random() < 0.5):
        others = [tuple(str(rng.choice(c)) for c in zip(*rows, strict=True)) for _ in range(9)]
        people = [*rows, *others[: int(rng.integers(1, 10))]]
    if model == "k-map-by-size" and people:  # a share that the people do not contradict
        asked = {**asked, "share": max(asked["share"], round(len(rows) / len(people), 3))}
    if model == "population-uniques" and people:  # no more people than there are
        asked = {**asked, "people": max(len(people), len(rows) + 1)}
    return Trial(
        case=case,
        model=model,
        algorithm=algorithm,
        asked={n: v for n, v in asked.items() if n != "name"},
        settings=settings,
        people=people,
    )


@lru_cache(maxsize=1024)
def table(number: int, private: str) -> Case:
    """Draw the table of a number, with one of the columns of what its people ask for, or none."""
    case = _table(np.random.default_rng(number))
    gone = {"own", "guard"} - {private}
    return replace(
        case,
        identifier=(private,) if private else (),
        columns={n: c for n, c in case.columns.items() if n not in gone},
        kinds={n: k for n, k in case.kinds.items() if n not in gone},
        levels={n: v for n, v in case.levels.items() if n in case.quasi or private == "guard"},
    )


def _table(rng: np.random.Generator) -> Case:
    """Draw a table of a text, a number and sensitive numbers, and what its people ask for."""
    rows = int(rng.integers(3, 8))
    drawn = [
        random_case(rng, rows=rows, quasi=1, kinds=(k,), missing=False) for k in ("text", "number")
    ]
    values = rng.choice([1, 2, 3, 6], rows, p=(0.4, 0.3, 0.2, 0.1))
    lines = {line[0]: line for line in TREE}
    guarded = rng.random(rows) < 0.5
    return Case(
        columns={
            "q0": drawn[0].columns["q0"],
            "q1": drawn[1].columns["q0"],
            "s0": [str(v) for v in values],
            "own": [str(k) for k in rng.choice([1, 2, 3], rows, p=(0.5, 0.3, 0.2))],
            "guard": [
                str(rng.choice(lines[str(v)][:2])) if g else None
                for v, g in zip(values, guarded, strict=True)
            ],
        },
        quasi=("q0", "q1"),
        sensitive=("s0",),
        kinds={"q0": "text", "q1": "number", "s0": "number", "own": "number", "guard": "text"},
        levels={"q0": drawn[0].levels["q0"], "q1": drawn[1].levels["q0"], "s0": TREE},
    )
