"""The table as it is, told together with the group in which a release puts everyone.

Whoever attacks sensitive values is handed the group a person stands in. Where people with the same
quasi-identifiers stand in several groups, that is more than these say: the same attack on the table
as it is has to be handed it too, or else a release could seem to tell more than the table.
"""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I64
from anon_core.data.frequency import dense_rank
from anon_core.release.grouping import Grouping
from anon_core.release.problem import Problem
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_level


def raw_in_groups(problem: Problem, key: I64, group: I64, count: I64) -> Release | None:
    """Return exact rows in the groups of a release; None where quasi-identifiers tell the group.

    Parameters
    ----------
    problem : Problem
    key, group, count : int64 arrays of shape (entries,)
        Rows of each key of the frequency set in each group; -1 is that of rows that are suppressed.

    Returns
    -------
    Release or None
        Nothing is suppressed: suppressed rows are a group of their own.
    """
    frequency = problem.frequency
    run, groups = frequency.run[key], int(group.max(initial=-1)) + 2
    member, first = dense_rank(
        [run.astype(np.int32), (group + 1).astype(np.int32)], [len(frequency.run_count), groups]
    )
    if len(first) == len(frequency.run_count):
        return None
    of = run[first]
    grouping = Grouping(key=key, member=member, count=count, group=group[first] + 1, published=True)
    exact = {n: of_level(problem.hierarchies[n], 0) for n in problem.quasi}
    cells = {n: frequency.run_codes[of, d] for d, n in enumerate(problem.quasi)}
    return one_block(problem, grouping, exact, cells)
