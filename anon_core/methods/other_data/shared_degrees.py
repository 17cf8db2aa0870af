"""Degrees that everyone shares with k − 1 others, in number or by the labels of neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.errors import Infeasible


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The degree that each vertex is to reach.

    Attributes
    ----------
    of : tuple of int
    largest : int
        The largest increase.
    total : int
    """

    of: tuple[int, ...]
    largest: int
    total: int


def targets(degrees: Sequence[int], k: int, *, by_total: bool = False) -> Targets:
    """Return targets of groups of k to 2k − 1 neighbours in the order of degrees.

    The least possible largest increase comes first, then the least total; with `by_total` only the
    total counts, as in Liu and Terzi (2008), whose targets may be no network's degrees.

    Raises
    ------
    Infeasible
        If there are fewer than k vertices.
    """
    if len(degrees) < k:
        raise Infeasible(
            f"Degrees shared by {k} people need as many; there are {len(degrees)}.",
            remedy="Use a smaller k.",
            best=float(len(degrees)),
            best_of="people",
        )
    order = sorted(range(len(degrees)), key=lambda v: (-degrees[v], v))
    ranked = [degrees[v] for v in order]
    size = len(ranked)
    none = size * (max(ranked) + 1) + 1

    def least_total(bound: int) -> list[tuple[int, int]]:
        """Return, for each first so many, the least total and the size of the last group."""
        found = [(0, 0)] + [(none, 0)] * size
        for end in range(k, size + 1):
            for group in range(k, min(2 * k - 1, end) + 1):
                begin = end - group
                high = ranked[begin]
                if found[begin][0] >= none or high - ranked[end - 1] > bound:
                    continue
                total = found[begin][0] + high * group - sum(ranked[begin:end])
                if total < found[end][0]:
                    found[end] = total, group
        return found

    bound = none
    if not by_total:
        largest = [0] + [none] * size
        for end in range(k, size + 1):
            for group in range(k, min(2 * k - 1, end) + 1):
                most = max(largest[end - group], ranked[end - group] - ranked[end - 1])
                largest[end] = min(largest[end], most)
        bound = largest[size]
    found = least_total(bound)
    reached = list(degrees)
    end = size
    while end:
        begin = end - found[end][1]
        for vertex in order[begin:end]:
            reached[vertex] = ranked[begin]
        end = begin
    increases = [r - d for r, d in zip(reached, degrees, strict=True)]
    return Targets(of=tuple(reached), largest=max(increases), total=sum(increases))


def is_graphical(degrees: Sequence[int]) -> bool:
    """Say whether some network has these degrees (Erdős and Gallai 1960)."""
    ranked = sorted(degrees, reverse=True)
    return sum(ranked) % 2 == 0 and all(
        sum(ranked[:n]) <= n * (n - 1) + sum(min(d, n) for d in ranked[n:])
        for n in range(1, len(ranked) + 1)
    )


def label_targets(labels: Sequence[str], near: I64, k: int) -> I64:
    """Return how many neighbours of each label everyone is to reach, so that k are alike.

    Only people of one label can be alike. Of those left, the one with most neighbours and the
    k − 1 who lack least to be like that one form a group, with all who have its target already;
    a rest of fewer than k joins the last group.

    Parameters
    ----------
    labels : sequence of str
        Of each vertex.
    near : int64 array of shape (vertices, labels)
        How many neighbours of each label each vertex has.

    Raises
    ------
    Infeasible
        If fewer than k people have some label.
    """
    found = near.copy()
    own = np.array(labels, dtype=object)
    fewest = min(Counter(labels).values(), default=0)
    if fewest < k:
        raise Infeasible(
            f"{k} people who are alike have one label; of the rarest label there are {fewest}.",
            remedy="Join labels, or use a smaller k.",
            best=float(fewest),
            best_of="people of a label",
        )
    for label in dict.fromkeys(labels):
        left = np.flatnonzero(own == label)
        while len(left):
            seed = left[np.argmax(near[left].sum(axis=1))]
            raised = np.maximum(near[left], near[seed])
            cost = (2 * raised - near[left] - near[seed]).sum(axis=1)
            cost[left == seed] = -1
            chosen = np.argsort(cost, kind="stable")[:k]
            aim = near[left[chosen]].max(axis=0)
            inside = (near[left] == aim).all(axis=1)
            inside[chosen] = True
            if len(left) - int(inside.sum()) < k:
                inside[:] = True
            found[left[inside]] = near[left[inside]].max(axis=0)
            left = left[~inside]
    return found
