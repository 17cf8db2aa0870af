"""Chance: which techniques use it, and that anyone who tries seeds is no better than guessing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from anon_core.base.registry import family, find
from anon_core.base.secret import stream
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.sampling import sampled
from tests.attacker import ROWS, drawing, linked, released, table, target
from tests.making import PATIENTS, Case, secret
from tests.often import EVERY, times

TABLES, SEEDS = 20, 100
DRAWING = drawing()
#: Of these a published row shows an exact age next to a value, and the links are left to undo.
LINKED = ("bucketization", "combined", "one-attribute-slicing", "slicing")


# ---- who says so ---------------------------------------------------------------------------------


@pytest.mark.often
@pytest.mark.parametrize("name", list(family("algorithm")))
def test_a_technique_that_says_it_draws_nothing_draws_nothing(name: str) -> None:
    """In any of its ways; a technique that forgets to say so would take a small seed."""
    technique = find("algorithm", name)
    quiet, distinct = (
        0,
        replace(PATIENTS, columns=PATIENTS.columns | {"age": list("123456")}, levels={}),
    )
    ways = [{}, *({p.name: o} for p in technique.parameters() for o in p.options)]
    for given in ways:
        way = technique.from_mapping(given)
        assert isinstance(way, Algorithm)
        if way.draws:
            continue
        for case in (PATIENTS, distinct) if EVERY or not given else (PATIENTS,):
            found = target(case, way, 7)
            if found is not None:
                assert not found.search.drawn_numbers
                assert not found.publish.drawn_numbers
                quiet += 1
    assert quiet or technique().draws  # type: ignore[attr-defined]


def test_techniques_that_permute_or_search_by_chance_are_found() -> None:
    permuting = {n for n, t in family("algorithm").items() if getattr(t, "permutes", False)}
    assert permuting < set(DRAWING)
    assert set(DRAWING) - permuting >= {"annealing", "anytime", "genetic", "mondrian", "rtree"}
    assert "optimal" not in DRAWING
    assert all(way.as_mapping()["cuts"] == "relaxed" for way in DRAWING["mondrian"])


# ---- who tries seeds -----------------------------------------------------------------------------


@pytest.mark.often
@pytest.mark.parametrize("name", list(DRAWING))
def test_no_seed_that_is_tried_draws_what_was_drawn(name: str) -> None:
    """The attacker is even shown what was drawn; one guess in 2**64 would be right."""
    for number in range(times(TABLES)):
        assert not list(released(DRAWING[name], number, secret(number)).seeds(range(SEEDS)))


@pytest.mark.parametrize("name", list(DRAWING))
def test_a_small_seed_that_is_planted_is_found(name: str) -> None:
    for number, planted in ((0, 0), (1, 7), (2, 99)):
        found = released(DRAWING[name], number, planted)
        assert list(found.seeds(range(SEEDS))) == [planted]


@pytest.mark.often
@pytest.mark.parametrize("name", LINKED)
def test_from_the_published_file_a_seed_gives_no_more_than_guessing(name: str) -> None:
    """The mean over 20 independent tables has a standard error below 0.02, over six below 0.04.

    Right values per try are about Poisson with mean `guessing` × rows, whatever is tried; secrets
    are the same in every run of this test, so that it either holds or does not.
    """
    right, guessing = [], []
    for number in range(times(TABLES, share=3)):
        found = linked(DRAWING[name], number, secret(number))
        assert found is not None
        right.append([found.right(seed) for seed in range(SEEDS)])
        guessing.append(found.guessing)
    assert max(guessing) < 0.5
    assert np.max(right) < 0.9
    assert abs(np.mean(right) - np.mean(guessing)) < 0.12


@pytest.mark.parametrize("name", LINKED)
def test_from_the_published_file_a_planted_seed_gives_everyone(name: str) -> None:
    for number, planted in ((3, 0), (4, 7), (5, 99)):
        found = linked(DRAWING[name], number, planted)
        assert found is not None
        right = [found.right(seed) for seed in range(SEEDS)]
        assert right[planted] == 1
        assert max(r for seed, r in enumerate(right) if seed != planted) < 0.9


@pytest.mark.often
def test_every_technique_that_shows_ages_beside_values_is_undone_here() -> None:
    """What is not listed above cannot be undone so, or a new technique is not attacked."""
    each = 1 if EVERY else 12  # of a technique's ways
    shown = [name for name, ways in DRAWING.items() if linked(ways[::each], 0, 7) is not None]
    assert shown == list(LINKED)


def test_no_seed_that_is_tried_draws_the_sample() -> None:
    """A third of 40 rows: two samples share 13 · 13 / 40 rows on average, a seed's all 13."""
    share, size = 1 / 3, ROWS // 3
    for number in range(TABLES):
        case = table(number)
        by_age = sorted(case.columns["age"], key=lambda age: int(str(age)))

        def published(seed: int, case: Case = case) -> set[str]:
            drawn = sampled(case.dataset, case.dataset.names, share, seed)
            return set(drawn.column("age").texts().tolist())

        # The attacker knows the table, and draws from it as the run does.
        tried = [
            {by_age[i] for i in stream(seed, "sample").permutation(ROWS)[:size].tolist()}
            for seed in range(SEEDS)
        ]
        drawn, planted = published(secret(number)), published(number)
        assert drawn not in tried
        assert [seed for seed, found in enumerate(tried) if found == planted] == [number]
        assert abs(np.mean([len(drawn & found) for found in tried]) - size * size / ROWS) < 1.5


# ---- what order could tell -----------------------------------------------------------------------


def in_order(
    tables: Mapping[str, Sequence[Mapping[str, str]]],
) -> dict[str, list[tuple[str, ...]]]:
    """Put published rows in order, and number their groups, by nothing but what they say."""
    if not all("group" in rows[0] for rows in tables.values()):
        return {name: sorted(tuple(row.values()) for row in rows) for name, rows in tables.items()}
    saying: dict[str, list[list[tuple[str, ...]]]] = defaultdict(lambda: [[] for _ in tables])
    for place, rows in enumerate(tables.values()):
        for row in rows:
            own = tuple(text for column, text in row.items() if column != "group")
            saying[row["group"]][place].append(own)
    groups = sorted([sorted(rows) for rows in group] for group in saying.values())
    return {
        name: [(str(n), *row) for n, group in enumerate(groups, 1) for row in group[place]]
        for place, name in enumerate(tables)
    }


@pytest.mark.often
@pytest.mark.parametrize("name", list(family("algorithm")))
def test_order_and_numbers_follow_from_what_is_published(name: str) -> None:
    """Anyone who shuffles the rows and renames the groups gets the very same tables back."""
    rng = np.random.default_rng([31337, len(name)])
    ways = DRAWING.get(name) or [cast(Algorithm, find("algorithm", name)())]
    seen = 0
    turns = 4 if EVERY else min(len(ways), 2)  # without chance one release is like the next
    for turn in range(turns):
        for case in (PATIENTS, table(turn)):
            found = target(case, ways[turn % len(ways)], secret(turn))
            if found is None:
                continue
            names = {row.get("group", "") for rows in found.edition.values() for row in rows}
            other = dict(zip(sorted(names), rng.permutation(sorted(names)).tolist(), strict=True))
            mixed = {
                title: [
                    {c: other[t] if c == "group" else t for c, t in rows[i].items()}
                    for i in rng.permutation(len(rows)).tolist()
                ]
                for title, rows in found.edition.items()
            }
            as_told = {
                title: [tuple(row.values()) for row in rows]
                for title, rows in found.edition.items()
            }
            assert in_order(mixed) == as_told
            seen += 1
    assert seen
