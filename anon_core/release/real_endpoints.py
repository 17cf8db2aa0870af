"""Values of people that published ranges end at and published sets list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.data.values.kinds import KINDS
from anon_core.release.release import Release
from anon_core.release.vocabulary import range_texts


@dataclass(frozen=True, kw_only=True)
class RareEnds:
    """Ends of a column's published ranges that too few people have.

    Attributes
    ----------
    values : int
        Different ends.
    people : int
        People of the table whose own value is one of them.
    """

    values: int
    people: int


@dataclass(frozen=True, kw_only=True)
class ListedValues:
    """Exact values of a column that its published sets list.

    Attributes
    ----------
    values, of : int
        Different values that some set lists, and all that rows of the table have.
    most : int
        Values in the longest set.
    rare : int
        Listed values that too few people have.
    people : int
        People of the table whose own value is one of these.
    """

    values: int
    of: int
    most: int
    rare: int
    people: int


def listed_values(release: Release, least: int) -> dict[str, ListedValues]:
    """Return, by column, the exact values that published sets such as ``{Berlin, Bonn}`` list.

    The label of a hierarchy's group lists nothing, unless it is written like that.

    Parameters
    ----------
    least : int
        People that a value needs to be no one's own.
    """
    found: dict[str, ListedValues] = {}
    problem = release.problem
    for name in problem.quasi:
        kind = problem.dataset.column(name).kind
        vocabulary, hierarchy = release.vocabularies[name], problem.hierarchies[name]
        if KINDS[kind].measured or vocabulary.shown is not None:
            continue
        write, people = range_texts(hierarchy, kind), problem.leaf_people[name]
        listed = np.zeros(len(hierarchy.leaves), dtype=np.bool_)
        most = 0
        used = np.unique(release.cells[name])
        for entry in used[vocabulary.lo[used] < vocabulary.hi[used]].tolist():
            low, high = int(vocabulary.lo[entry]), int(vocabulary.hi[entry])
            text = vocabulary.texts[entry]
            if text.startswith("{") and text == write(low, high):
                listed[low : high + 1] = True
                most = max(most, high + 1 - low)
        own = people[listed]
        rare = own[(own > 0) & (own < least)]
        if most:
            found[name] = ListedValues(
                values=int(np.count_nonzero(own)),
                of=int(np.count_nonzero(people)),
                most=most,
                rare=len(rare),
                people=int(rare.sum()),
            )
    return found


def rare_ends(release: Release, least: int) -> dict[str, RareEnds]:
    """Return, by column, the values that published ranges end at and too few people have.

    A range of numbers or dates that was cut to the rows behind it ends where one of them is:
    ``[08.01.1926, 14.03.1950]`` is someone's day of birth. The label of a hierarchy's node states
    no value of anyone's, unless it is written like that.

    Parameters
    ----------
    least : int
        People that a value needs to be no one's own.
    """
    found: dict[str, RareEnds] = {}
    problem = release.problem
    for name in problem.quasi:
        if not KINDS[problem.dataset.column(name).kind].measured:
            continue
        vocabulary, leaves = release.vocabularies[name], problem.hierarchies[name].leaves
        if vocabulary.shown is not None:  # averages, which are nobody's end
            continue
        people = problem.leaf_people[name]
        ends: set[int] = set()
        used = np.unique(release.cells[name])
        for entry in used[vocabulary.lo[used] < vocabulary.hi[used]].tolist():
            low, high = int(vocabulary.lo[entry]), int(vocabulary.hi[entry])
            text = vocabulary.texts[entry]
            if text == f"[{leaves[low]}, {leaves[high]}]":
                ends |= {low, high}
            elif text == f"≤{leaves[high]}":
                ends.add(high)
            elif text == f"≥{leaves[low]}":
                ends.add(low)
        rare = [int(people[end]) for end in sorted(ends) if 0 < people[end] < least]
        if rare:
            found[name] = RareEnds(values=len(rare), people=sum(rare))
    return found
