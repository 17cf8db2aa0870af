"""What a partitioner must offer: groups of rows that keep the privacy models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import Technique
from anon_core.contracts.model import GroupModel
from anon_core.release.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Buckets:
    """Groups of rows, before anything is said about what they publish.

    Attributes
    ----------
    key : int64 array of shape (entries,)
        Key of the frequency set, ascending; one key may be in several groups.
    group : int64 array of shape (entries,)
    count : int64 array of shape (entries,)
        Rows of the key in the group.
    boxes : int64 array of shape (groups, quasi, 3), or None
        What belongs to each group alone, where the partitioner knows it: first and last leaf, and
        the level of a node that is named, else -1.
    """

    key: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.int64] | None = None


def buckets_of_rows(key: npt.NDArray[np.int64], group: npt.NDArray[np.int64]) -> Buckets:
    """Count (key, group) pairs of single rows, both of shape (rows,)."""
    groups = int(group.max(initial=-1)) + 1
    pair, count = np.unique(key * groups + group, return_counts=True)
    return Buckets(
        key=pair // max(groups, 1), group=pair % max(groups, 1), count=count.astype(np.int64)
    )


def run_buckets(problem: Problem, group_of_run: npt.NDArray[np.int64]) -> Buckets:
    """Put every quasi tuple whole into its group; `group_of_run` is of shape (runs,)."""
    frequency = problem.frequency
    return Buckets(
        key=np.arange(len(frequency.count), dtype=np.int64),
        group=group_of_run[frequency.run],
        count=frequency.count,
    )


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """How a partitioner forms groups.

    Attributes
    ----------
    by_sensitive : bool
        Whether groups are formed by sensitive value, for a frequency l-diversity that is
        required; for what else is, they are merged.
    takes_any_model : bool
        Whether it is offered instead of one that the privacy models do not fit: it takes any of
        them.
    gathers_alike : bool
        Whether rows of a group are alike, so that what groups cover is worth drawing.
    sees_links : bool
        Whether it weighs all groups a person may be in, so that what is linked cannot give away.
    """

    by_sensitive: bool = False
    takes_any_model: bool = False
    gathers_alike: bool = True
    sees_links: bool = False


class Partitioner(Technique):
    """A way to form groups that satisfy the privacy models, whatever is published of them."""

    way: ClassVar[Grouping] = Grouping()
    #: Whether it counts the public people of its groups, so that privacy models about them can
    #: steer it.
    counts_public: ClassVar[bool] = False

    #: Whether it works from distinct tuples and their counts alone; see `Algorithm.from_counts`.
    from_counts: ClassVar[bool] = False

    @abstractmethod
    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups.

        Raises
        ------
        Infeasible
            If no grouping keeps the privacy models.
        BadPlan
            If the partitioner cannot be steered by these models.
        """

    def split_linked(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        blocks: Sequence[tuple[str, ...]],
        context: Context,
    ) -> Buckets:
        """Form the groups, knowing which columns stay linked; to most partitioners it is no matter.

        `blocks` is empty where the recipe does not tell them.
        """
        return self.split(problem, models, context)
