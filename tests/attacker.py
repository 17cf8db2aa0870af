"""Anyone who tries seeds: knows the code, the recipe without its seed, and what is published.

Two of them. One knows even every number that was drawn, and asks which seed gives them: anyone who
knows less finds no more. The other has the published file alone, and undoes its permutation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import lgamma, log, log2
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.base.secret import key, stream
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.table import Dataset
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.publish.published_table import public_edition
from anon_core.pipeline.random_streams import chances, drawn_for
from anon_core.recipe.plan import Plan
from anon_core.release.release import Release
from tests.making import BUDGET, MECHANISM, Case, for_mechanisms
from tests.naive_kernels import shuffled_runs

ROWS = 40
#: Promises that are tried in this order, until a technique can be steered by one.
_PROMISES: tuple[Mapping[str, Any], ...] = (
    {"name": "frequency-l-diversity", "l": 3},
    {"name": "k-anonymity", "k": 3},
    {"name": "k-anonymity", "k": 2},
    {"name": "bucket-size", "k": 3},
    {"name": "delta-presence", "delta_max": 0.9},
    BUDGET,
)


def table(number: int) -> Case:
    """Draw a table in which everyone has an age of his own: rows have one order."""
    rng = np.random.default_rng([128, number])
    ages, zips = rng.permutation(90)[:ROWS].tolist(), rng.integers(100, 112, ROWS).tolist()
    ill = rng.permutation(ROWS) % 8
    return Case(
        columns={
            "age": [str(age) for age in ages],
            "zip": [str(code) for code in zips],
            "illness": [f"illness {v}" for v in ill.tolist()],
        },
        quasi=("age", "zip"),
        sensitive=("illness",),
        kinds={"age": "number", "zip": "text", "illness": "text"},
        levels={
            "age": [
                (
                    str(a),
                    f"{a // 10 * 10}-{a // 10 * 10 + 9}",
                    f"{a // 30 * 30} to {a // 30 * 30 + 29}",
                    "*",
                )
                for a in range(90)
            ],
            "zip": [(str(z), f"Group {z // 3}", f"Group {z // 6}.0", "*") for z in range(100, 112)],
        },
    )


#: How long searches by chance go on here.
_EFFORT = {"moves": 40, "population": 6, "generations": 5, "restarts": 30, **MECHANISM}


def drawing() -> dict[str, list[Algorithm]]:
    """Return, by name, every technique that uses chance, set in each way in which it does."""
    found: dict[str, list[Algorithm]] = {}
    for name, technique in family("algorithm").items():
        effort = {p.name: _EFFORT[p.name] for p in technique.parameters() if p.name in _EFFORT}
        default = cast(Algorithm, technique.from_mapping(effort))
        ways = [default] + [
            cast(Algorithm, technique.from_mapping({**effort, p.name: option}))
            for p in technique.parameters()
            for option in p.options
            if option != p.default
        ]
        own = [way for way in ways if way.draws]
        if own:
            found[name] = own
    return found


#: How often a part of a run looks at the clock before its time is up. What goes on while there is
#: time, as k-optimize does where everyone has an age of his own, would take half a minute.
_LOOKS = 2_000


@dataclass(frozen=True, kw_only=True)
class Hurried(Context):
    """A deadline for each part of a run, passed at a look at the clock: the same everywhere."""

    looks: Iterator[int] = field(default_factory=count, init=False)

    def out_of_time(self) -> bool:
        return next(self.looks) >= _LOOKS


class Recorder:
    """A generator that writes down what it was asked for, and what it gave."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self.drawn_numbers: list[tuple[str, tuple[Any, ...], dict[str, Any], npt.NDArray[Any]]] = []

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self._generator, name)

        def asked(*given: Any, **named: Any) -> Any:
            kept = tuple(g.copy() if isinstance(g, np.ndarray) else g for g in given)
            found = draw(*given, **named)
            self.drawn_numbers.append((name, kept, named, np.array(found)))
            return found

        return asked

    @property
    def as_generator(self) -> np.random.Generator:
        return cast(np.random.Generator, self)

    @property
    def bits(self) -> float:
        """How many bits chance had to give: one guess in 2**bits would be right."""
        return sum(_bits(*case) for case in self.drawn_numbers)

    def given_by(self, generator: np.random.Generator) -> bool:
        """Say whether a generator gives the very same numbers."""
        return bool(self.drawn_numbers) and all(
            np.array_equal(getattr(generator, name)(*given, **named), found)
            for name, given, named, found in self.drawn_numbers
        )


def _bits(
    name: str, given: tuple[Any, ...], named: dict[str, Any], found: npt.NDArray[Any]
) -> float:
    if name == "permutation":
        # Equal entries may change places without a trace.
        many = np.unique(found, return_counts=True)[1]
        return (lgamma(found.size + 1) - sum(lgamma(n + 1) for n in many.tolist())) / log(2)
    if name == "random":
        return 53.0 * max(found.size, 1)
    if name == "integers":
        low, high = (0, given[0]) if len(given) == 1 else given[:2]
        return log2(max(high - low, 1)) * max(found.size, 1)
    if name == "choice":
        return 0.0  # too few to count on
    raise AssertionError(name)  # a new way to draw: say how much it leaves open


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """A release under attack.

    Attributes
    ----------
    plan : Plan
        The attacker knows all of it but the seed.
    of : tuple of str
        What else than the seed has a part in the draws; the attacker is drawn_numbers.
    release : Release
    search, publish : Recorder
        All that was drawn.
    secret : bytes
        What the coins of a mechanism are keyed by.
    edition : mapping of str to list of tuples of str
        The published rows by table.
    """

    plan: Plan
    of: tuple[str, ...]
    release: Release
    search: Recorder
    publish: Recorder
    secret: bytes
    edition: Mapping[str, Sequence[Mapping[str, str]]]

    @property
    def bits(self) -> float:
        keyed = 8.0 * len(self.secret) if self.plan.algorithm.shape.mechanism else 0.0
        return self.search.bits + self.publish.bits + keyed

    def seeds(self, tried: Iterable[int]) -> Iterator[int]:
        """Try seeds; give those that draw all that was drawn."""
        for seed in tried:
            if all(
                drawn.given_by(stream(seed, purpose, *self.of))
                for purpose, drawn in (("search", self.search), ("publish", self.publish))
                if drawn.drawn_numbers
            ) and (
                not self.plan.algorithm.shape.mechanism or self.secret == key(seed, "protection")
            ):
                yield seed


def target(case: Case, technique: Algorithm, seed: int) -> Target | None:
    """Release a table with a seed, past the door that refuses small ones; None if infeasible."""
    if technique.shape.mechanism:
        case = for_mechanisms(case)
    public = Dataset.from_frame(pd.concat([case.frame] * 2), kinds=case.kinds)
    for promise in _PROMISES:
        given = {"name": technique.name, **technique.as_mapping()}
        drawn = case.plan(algorithm=given, models=[promise])
        try:
            problem = prepare(drawn, case.dataset, case.levels, public)
            plan = replace(drawn, seed=seed)
            for model in plan.models:
                model.check(problem)
            chance = chances(plan, problem)
            search, publish = Recorder(chance.search), Recorder(chance.publish)
            context = Hurried(generator=search.as_generator, secret=chance.secret)
            release = plan.algorithm.run(problem, plan.models, context).release
        except (BadPlan, Infeasible, NotFound):
            continue
        edition = public_edition(release, publish.as_generator)
        rows = {name: table.to_pylist() for name, table in edition.tables.items()}
        return Target(
            plan=plan,
            of=drawn_for(plan, problem),
            release=release,
            search=search,
            publish=publish,
            secret=chance.secret,
            edition=rows,
        )
    return None


def released(ways: Sequence[Algorithm], number: int, seed: int) -> Target:
    """Release a table by one of the ways, in turn, in which chance has much to give."""
    for turn in range(len(ways)):
        found = target(table(number), ways[(number + turn) % len(ways)], seed)
        if found is not None and found.bits > 64:
            return found
    raise AssertionError(f"nothing of {ways[0].name} could be released by chance")


# ---- from the published file alone ---------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """What the permutation of a published table hides, and how to undo it with a seed.

    Attributes
    ----------
    target : Target
    group : int64 array of shape (rows,)
        Published group of everyone, by age.
    shown : list of str
        The sensitive value that is published next to everyone's age.
    true : list of str
        The sensitive value of everyone: only to count what was guessed right.
    """

    target: Target
    group: npt.NDArray[np.int64]
    shown: list[str]
    true: list[str]

    @property
    def guessing(self) -> float:
        """The share of people whose value is right if each is dealt one of his group's."""
        frame = pd.DataFrame({"group": self.group, "true": self.true})
        own = frame.groupby(["group", "true"])["true"].transform("size")
        return float((own / frame.groupby("group")["true"].transform("size")).mean())

    def right(self, seed: int) -> float:
        """Undo the permutation with a seed; return the share of people whose value is right.

        The attacker sorts the published rows by age, which is the order of the run.
        """
        rows, blocks = len(self.group), self.target.release.blocks
        generator = stream(seed, "publish", *self.target.of)
        taken = {block: drawn_places(self.group, generator) for block in blocks}
        (ages,) = (taken[b] for b in blocks if "age" in b)
        (values,) = (taken[b] for b in blocks if "illness" in b)
        owner = values[np.argsort(ages)]
        return sum(self.true[p] == s for p, s in zip(owner, self.shown, strict=True)) / rows


def drawn_places(
    group: npt.NDArray[np.int64], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw where each row takes its cells from, as a run does; rows in the order of the run."""
    numbers = generator.integers(0, (1 << 64) - 1, len(group), dtype=np.uint64, endpoint=True)
    by_group = np.argsort(group, kind="stable")
    sizes = np.unique(group, return_counts=True)[1].tolist()
    place = np.empty(len(group), dtype=np.int64)
    place[by_group] = shuffled_runs(by_group.tolist(), sizes, numbers[by_group].tolist())
    return place


def linked(ways: Sequence[Algorithm], number: int, seed: int) -> Links | None:
    """Release a table by one of the ways, in turn, so that an exact age is next to a value.

    None where no way does that.
    """
    case = table(number)
    for turn in range(len(ways)):
        found = target(case, ways[(number + turn) % len(ways)], seed)
        hidden = None if found is None else links(case, found)
        if hidden is not None:
            return hidden
    return None


def links(case: Case, target: Target) -> Links | None:
    """Return what can be undone; None where no one row shows an exact age next to a value."""
    (rows,) = target.edition.values() if len(target.edition) == 1 else ((),)
    known = dict(zip(case.columns["age"], case.columns["illness"], strict=True))
    columns = set(rows[0]) if rows else set[str]()
    apart = [b for b in target.release.blocks if "age" in b or "illness" in b]
    if not {"age", "illness", "group"} <= columns or len(apart) < 2:
        return None
    if {row["age"] for row in rows} != set(known):
        return None
    by_age = sorted(rows, key=lambda row: int(row["age"]))
    return Links(
        target=target,
        group=np.array([int(row["group"]) - 1 for row in by_age]),
        shown=[row["illness"] for row in by_age],
        true=[cast(str, known[row["age"]]) for row in by_age],
    )
