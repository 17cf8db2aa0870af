"""People with values in a few blocks, and buckets that publish some of them block by block."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from anon_core.methods.membership.bucket import BucketProblem, from_types
from tests.strategies.groupings import groups_of

People = list[tuple[int, ...]]
#: What each bucket publishes of each block.
Shown = list[list[list[int]]]


@st.composite
def bucket_people(
    draw: st.DrawFn, *, people: tuple[int, int], values: tuple[int, int]
) -> tuple[People, list[bool]]:
    """Draw people of one to four blocks, and who of them is in a bucket; one is."""
    blocks, most = draw(st.integers(1, 4)), draw(st.integers(*values)) - 1
    least = draw(st.integers(*people))
    person = st.tuples(*[st.integers(0, most)] * blocks)
    public = draw(st.lists(person, min_size=least, max_size=people[1]))
    inside = draw(st.lists(st.booleans(), min_size=len(public), max_size=len(public)))
    return public, [one or not any(inside) for one in inside]


def bucket_of(people: People, inside: list[bool], odd: int = 0) -> BucketProblem:
    """Return a bucket of some people, and anyone who else could be in it.

    Where it is odd, each block's counts are turned by one more place, so that it may publish
    something that nobody could be.
    """
    drawn = np.array(people, np.int32)
    wide, blocks = int(drawn.max()) + 1, drawn.shape[1]
    margins = [
        np.roll(np.bincount(drawn[inside, b], minlength=wide), odd * b).astype(np.int64)
        for b in range(blocks)
    ]
    fits = np.all([margins[b][drawn[:, b]] > 0 for b in range(blocks)], axis=0)
    problem, _ = from_types(drawn[fits], np.ones(int(fits.sum()), dtype=np.int64), margins)
    return problem


@st.composite
def overlapping_buckets(
    draw: st.DrawFn,
    *,
    people: tuple[int, int] = (2, 7),
    values: int = 3,
    blocks: tuple[int, int] = (1, 3),
) -> tuple[People, Shown]:
    """Draw people, and buckets of some of them that others fit as well."""
    person = st.tuples(*[st.integers(0, values - 1)] * draw(st.integers(*blocks)))
    least = draw(st.integers(*people))
    public = draw(st.lists(person, min_size=least, max_size=people[1]))
    member = draw(groups_of(len(public), most=3, removed=True))
    shown = [
        [
            sorted(p[b] for p, m in zip(public, member, strict=True) if m == g)
            for b in range(len(public[0]))
        ]
        for g in range(max(member) + 1)
    ]
    return public, shown
