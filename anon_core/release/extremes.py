"""Ends of published ranges that are some few people's own values."""

from __future__ import annotations

import numpy as np

from ..data.kinds import KINDS
from .release import Release


def rare_ends(release: Release, least: int) -> dict[str, int]:
    """Return, by column, the values that published ranges end at and too few people have.

    A range of numbers or dates that was cut to the rows behind it ends where one of them stands:
    ``[08.01.1926, 14.03.1950]`` is somebody's day of birth. The label of a hierarchy's node states
    no value of anyone's, unless it is written like that.

    Parameters
    ----------
    release : Release
    least : int
        People that a value needs to be nobody's own.
    """
    found: dict[str, int] = {}
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
        rare = sum(0 < people[end] < least for end in ends)
        if rare:
            found[name] = int(rare)
    return found
