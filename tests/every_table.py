"""All small tables over a domain, what an algorithm releases of each, and what lies behind each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import cast

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.methods.consistent_tables.base_cells import Boxes, boxes_of
from anon_core.release.release import Release
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import Case, Levels

A: Levels = [("a1", "a12", "*"), ("a2", "a12", "*"), ("a3", "a34", "*"), ("a4", "a34", "*")]
B: Levels = [("b1", "*"), ("b2", "*")]
UNEVEN: Levels = [("a1", "a12", "*"), ("a2", "a12", "*"), ("a3", "a3", "*")]
Filled = tuple[tuple[tuple[int, ...], int], ...]


@dataclass(frozen=True, kw_only=True)
class Behind:
    """A release, and what fills its classes in each of the tables it could have come from."""

    release: Release
    boxes: Boxes
    worlds: Sequence[tuple[Filled, ...]]

    def ways(self, number: int) -> int:
        return len({world[number] for world in self.worlds})


def table(rows: Sequence[tuple[str, ...]], levels: Sequence[Levels], kind: str = "text") -> Case:
    """Return a table of columns A, B and so on with their hierarchies."""
    names = "ABCD"[: len(levels)]
    return Case(
        columns={name: [row[d] for row in rows] for d, name in enumerate(names)},
        quasi=tuple(names),
        kinds=dict.fromkeys(names, kind),  # type: ignore[arg-type]
        levels=dict(zip(names, levels, strict=True)),
    )


def boxes_behind(release: Release) -> Boxes:
    found = boxes_of(release.view, release.problem.quasi_hierarchies)
    assert found is not None
    return found


def contents(release: Release) -> tuple[Filled, ...]:
    """Return the leaves and numbers of the rows of each class."""
    grouping, keys = release.grouping, release.problem.frequency.codes.tolist()
    found: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for key, member, count in zip(grouping.key, grouping.member, grouping.count, strict=True):
        if member >= 0:
            found[int(release.seen_group[member])][tuple(keys[key])] += int(count)
    return tuple(tuple(sorted(found[n].items())) for n in range(len(found)))


def every_release(
    name: str,
    rows: int,
    levels: Sequence[Levels],
    settings: Mapping[str, object] | None = None,
    *,
    k: int = 2,
    kind: str = "text",
    bounds: Mapping[str, tuple[int, int]] | None = None,
) -> list[Behind]:
    """Run an algorithm on every table of so many rows; return its releases with all behind each.

    Levels of columns may be bounded.
    """
    algorithm = cast(Algorithm, find("algorithm", name).from_mapping(settings or {}))
    models: list[GroupModel] = [KAnonymity(k=k)]
    domain = list(product(*([line[0] for line in own] for own in levels)))
    kept: dict[object, Release] = {}
    worlds: dict[object, list[tuple[Filled, ...]]] = defaultdict(list)
    for number in combinations_with_replacement(range(len(domain)), rows):
        problem = table([domain[n] for n in number], levels, kind).problem()
        problem = replace(problem, level_bounds=bounds or {})
        try:
            release = algorithm.run(problem, models, Context()).release
        except Infeasible:
            continue
        block = release.view.blocks[0]
        texts = tuple(
            tuple(release.vocabularies[n].texts[code] for code in block.codes[:, d])
            for d, n in enumerate(block.columns)
        )
        key = (texts, tuple(block.count.tolist()))
        kept[key] = release
        worlds[key].append(contents(release))
    return [
        Behind(release=release, boxes=boxes_behind(release), worlds=worlds[key])
        for key, release in kept.items()
    ]
