"""Tables with a public table around them, and what everyone's chance of presence is by counting."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from anon_core.data.table import Dataset
from anon_core.release.problem import Problem
from anon_core.release.release import View
from tests.making import Case, random_case


def public_of(
    case: Case, rng: np.random.Generator, more: int, *, known: bool = True
) -> tuple[Case, Dataset]:
    """Return a case and a public table: its rows and others of the same values, shuffled."""
    frame = case.frame[list(case.quasi)]
    values = {n: frame[n].dropna().unique() for n in case.quasi}
    drawn = pd.DataFrame(
        {n: rng.choice(values[n], more) if len(values[n]) else [None] * more for n in case.quasi},
        dtype=object,
    )
    both = pd.concat([frame, drawn], ignore_index=True)
    both = both.iloc[rng.permutation(len(both))].reset_index(drop=True)
    kinds = {n: k for n, k in case.kinds.items() if n in case.quasi}
    return case, Dataset.from_frame(both, kinds=kinds)


def random_public(
    rng: np.random.Generator, *, rows: int, more: int, quasi: int = 2, missing: bool = False
) -> tuple[Case, Dataset]:
    """Draw a small table and a public table around it."""
    case = random_case(rng, rows=rows, quasi=quasi, missing=missing)
    return public_of(case, rng, more)


def chances_by_listing(problem: Problem, view: View) -> list[Fraction]:
    """Return δ of every public tuple by trying every set of people for every published group.

    Plain and slow: for small tables whose people fit one group at most.
    """
    population = problem.population
    assert population is not None
    assert population.codes is not None
    assert population.tuple_count is not None
    tuples = population.codes.tolist()
    people = [t for t, n in enumerate(population.tuple_count.tolist()) for _ in range(n)]
    found = [Fraction(0)] * len(tuples)
    fits = [0] * len(tuples)
    for g in range(len(view.group_size)):
        shown = [_shown(problem, view, b, g) for b in range(len(view.blocks))]
        cells = {
            t: [_cell(problem, view, b, codes, shown[b]) for b in range(len(shown))]
            for t, codes in enumerate(tuples)
        }
        fitting = [t for t in people if all(c is not None for c in cells[t])]
        worlds = 0
        held: Counter[int] = Counter()
        for chosen in itertools.combinations(fitting, int(view.group_size[g])):
            if all(Counter(cells[t][b] for t in chosen) == s for b, s in enumerate(shown)):
                worlds += 1
                held.update(chosen)
        for t in set(fitting):
            fits[t] += 1
            found[t] = Fraction(held[t], worlds * int(population.tuple_count[t]))
    assert max(fits) <= 1
    return found


def _names(problem: Problem, view: View, b: int) -> list[str]:
    return [n for n in view.blocks[b].columns if n in problem.quasi]


def _shown(problem: Problem, view: View, b: int, g: int) -> Counter[tuple[int, ...]]:
    """Return how often a group publishes each combination of quasi cells of a block."""
    block = view.blocks[b]
    place = [block.columns.index(n) for n in _names(problem, view, b)]
    found: Counter[tuple[int, ...]] = Counter()
    for entry in np.flatnonzero(block.group == g).tolist():
        found[tuple(block.codes[entry, place].tolist())] += int(block.count[entry])
    return found


def _cell(
    problem: Problem,
    view: View,
    b: int,
    person: Sequence[int],
    shown: Counter[tuple[int, ...]],
) -> tuple[int, ...] | None:
    """Return the published combination that covers a person, None where none does."""
    names = _names(problem, view, b)
    assert problem.population is not None
    covers = [problem.population.cover(view.vocabularies[n]) for n in names]
    covering = [
        texts
        for texts in shown
        if all(
            lo[e] <= person[problem.quasi.index(n)] <= hi[e]
            for n, (lo, hi), e in zip(names, covers, texts, strict=True)
        )
    ]
    assert len(covering) <= 1
    return covering[0] if covering else None
