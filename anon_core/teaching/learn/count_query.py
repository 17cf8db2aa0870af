"""A count query on one and the same groups, published in three ways, and what each answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anon_core.methods.queries.count_queries import Predicate, by_hand
from anon_core.methods.queries.query_answers import estimates
from anon_core.release.grouping import Grouping
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import of_level
from anon_core.teaching.learn.example import Material
from anon_core.teaching.learn.permuted_tables import numbered
from anon_core.teaching.learn.readings import if_boxes
from anon_core.teaching.learn.trace import Trace, texts_of


def in_groups(problem: Problem, group: Sequence[int], blocks: Sequence[tuple[str, ...]]) -> Release:
    """Return a release of exact values in groups whose number is published.

    Parameters
    ----------
    group : sequence of int
        Group of every row; -1 leaves a row out.
    blocks : sequence of tuples of str
        Columns that stay linked row by row; different blocks are shuffled separately.
    """
    frequency = problem.frequency
    own = np.asarray(group, dtype=np.int64)
    run = frequency.run[frequency.row_key]
    runs = len(frequency.run_count)
    placed = np.where(own >= 0, own * runs + run, -1)
    classes = np.unique(placed[placed >= 0])
    member = np.where(own >= 0, np.searchsorted(classes, placed), -1)
    pair, count = np.unique(
        np.stack([frequency.row_key, member], axis=1), axis=0, return_counts=True
    )
    names = dict.fromkeys((*problem.quasi, *problem.sensitive))
    shown = frequency.run_codes[classes % runs]
    return Release(
        problem=problem,
        grouping=Grouping(
            key=pair[:, 0].astype(np.int64),
            member=pair[:, 1].astype(np.int64),
            count=count.astype(np.int64),
            group=classes // runs,
            published=True,
        ),
        vocabularies={n: of_level(problem.hierarchies[n], 0) for n in names},
        cells={n: shown[:, d].astype(np.int32) for d, n in enumerate(problem.quasi)},
        blocks=tuple(blocks),
    )


Query = dict[str, Predicate]
#: Who is in the first group of Li's tables 2 to 4.
_FIRST = ("Bob", "Alex", "Jane", "Lily", "Andy")


def source_groups(trace: Trace, name: str) -> tuple[int, ...]:
    """Return the groups of Li's tables; of any other table those of a run."""
    if trace.example.name == "li":
        return tuple(0 if one in _FIRST else 1 for one in trace.names)
    return numbered(trace, name)


def asked_of(trace: Trace) -> Query:
    """Return Li's count query; of any other table one for common values."""
    if trace.example.name == "li":
        return {"Age": {"low": 40, "high": 70}, "Sex": ["F"], "Disease": ["Flu"]}
    first, *rest = trace.quasi
    leaves = trace.problem.hierarchies[first].leaves
    seen = sorted({leaves.index(text) for text in trace.texts(first)})
    asked: Query = {first: [leaves[leaf] for leaf in seen[len(seen) // 4 : len(seen) * 3 // 4 + 1]]}
    for name in (*rest[:1], trace.sensitive[0]):
        asked[name] = [Counter(trace.texts(name)).most_common(1)[0][0]]
    return asked


def ways(trace: Trace, group: Sequence[int]) -> dict[str, Release]:
    """Return the releases that publish rows in groups: as boxes, by Anatomy, by permutation."""
    problem, column = trace.problem, trace.sensitive[0]
    others = tuple((name,) for name in trace.sensitive[1:])
    alone = (*((name,) for name in (*trace.quasi, column)), *others)
    boxes = if_boxes(trace, group).release
    assert boxes is not None
    return {
        "Generalization": boxes,
        "Anatomy": in_groups(problem, group, (trace.quasi, (column,), *others)),
        "Permutation": in_groups(problem, group, alone),
    }


def answers(trace: Trace, group: Sequence[int], query: Query | None = None) -> dict[str, float]:
    """Return what each way to publish rows in groups answers; -1 leaves a row out."""
    asked, _ = by_hand(trace.problem, [query or asked_of(trace)])
    hierarchies = trace.problem.hierarchies
    return {
        title: float(estimates(release.view, hierarchies, asked, spread="length").sum())
        for title, release in ways(trace, group).items()
    }


def box_texts(trace: Trace, groups: Sequence[int], boxes: Release) -> dict[str, tuple[str, ...]]:
    """Return what every row says where its group publishes a box."""
    key = trace.problem.frequency.row_key
    place = boxes.grouping.member[np.searchsorted(boxes.grouping.key, key)]
    return {
        name: tuple(boxes.vocabularies[name].texts[cells[p]] for p in place.tolist())
        for name, cells in boxes.cells.items()
        if len(groups) == len(place)
    }


def matching(trace: Trace) -> tuple[int, ...]:
    """Return the rows of the table that a count query counts."""
    asked, _ = by_hand(trace.problem, [asked_of(trace)])
    linked = ((*trace.quasi, trace.sensitive[0]),)
    found: list[int] = []
    for row in range(trace.rows):
        alone = in_groups(trace.problem, [0 if r == row else -1 for r in range(trace.rows)], linked)
        if estimates(alone.view, trace.problem.hierarchies, asked).sum() > 0:
            found.append(row)
    return tuple(found)


def most_diverse(material: Material) -> int:
    """Return the l to ask for, up to 4: no value may have more than one l-th of the rows."""
    for column in material.roles.sensitive:
        texts = texts_of(material, column)
        return max(2, min(4, len(texts) // max(Counter(texts).values(), default=1)))
    return 2
