"""The public people whom groups would cover with what they publish, for searches that merge groups.

A box says more than its own rows: of the public table everyone counts whom it covers. A merged box
covers at least whom both did, so k-map is kept by merging. Chances of presence are a class's own
only where no one fits two, so a privacy model that merging can break asks for that as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, I64
from anon_core.base.context import Context
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.kernels.overlap import covered, several
from anon_core.methods.partition.box_release import hulls_published, published_cells
from anon_core.release.problem import Problem

_TUPLES = 2_000  # of the public table, between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicBoxes:
    """Counts the public people of groups by the cells that `box_outcome` would publish of them.

    Attributes
    ----------
    as_nodes : sequence of bool
    blank_above : sequence of int or None
        As for `box_outcome`.
    """

    problem: Problem
    as_nodes: Sequence[bool]
    blank_above: Sequence[int] | None = None
    context: Context

    def counted(self, groups: Buckets, models: Sequence[GroupModel]) -> tuple[I64, B1]:
        """Return the people of every group, and which groups share no one, (groups,) each.

        Who shares is looked at only where a privacy model about the public can be broken by
        merging; else no group is said to share anybody.
        """
        people = self.problem.population
        assert people is not None
        assert people.codes is not None
        assert people.tuple_count is not None
        low, high = hulls_published(self.problem, groups, self.blank_above)
        vocabularies, cells = published_cells(self.problem, low, high, self.as_nodes)
        covers = [(people.cover(vocabularies[n]), cells[n]) for n in self.problem.quasi]
        first = np.stack([lo[own] for (lo, _), own in covers], axis=1)
        last = np.stack([hi[own] for (_, hi), own in covers], axis=1)
        count, shared = np.zeros(len(first), np.int64), np.zeros(len(first), np.bool_)
        apart = any(m.needs_public and not m.monotone_merge for m in models)
        for start in range(0, len(people.codes), _TUPLES):
            self.context.check()
            codes = np.ascontiguousarray(people.codes[start : start + _TUPLES])
            covered(first, last, codes, people.tuple_count[start : start + _TUPLES], count)
            if apart:
                several(first, last, codes, shared)
        return count, ~shared


def public_boxes(
    problem: Problem,
    models: Sequence[GroupModel],
    as_nodes: Sequence[bool],
    context: Context,
    *,
    blank_above: Sequence[int] | None = None,
) -> PublicBoxes | None:
    """Return what counts the people of groups; None where no privacy model asks for them."""
    people = problem.population
    if not any(m.needs_public for m in models) or people is None or people.codes is None:
        return None
    return PublicBoxes(problem=problem, as_nodes=as_nodes, blank_above=blank_above, context=context)


def least_size(problem: Problem, models: Sequence[GroupModel]) -> int:
    """Return the size that groups are formed by, where public people are counted afterwards."""
    return max(
        m.least_class(problem.population) if m.needs_public else m.least_size() for m in models
    )
