"""Who of the public table is proven to be in a release: the attack itself, without the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.decisions import UNKNOWN, YES, Decision, decide
from anon_core.methods.membership.equations_from_view import Published, published_buckets
from anon_core.release.attack_result import MOST_GROUPS, MOST_HITS, Hits
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.people import Population
from anon_core.release.release import View


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """What the public table and the release together say of every public person.

    Attributes
    ----------
    decision : Decision
        By distinct public tuple, as the equations say; where a bucket is unclear, only what it
        proves counts, see `present`.
    """

    published: Published
    decision: Decision

    @cached_property
    def doubtful(self) -> npt.NDArray[np.bool_]:
        """Types tied to a bucket without equations, shape (types,); see `Published.doubtful`."""
        return self.published.doubtful

    @cached_property
    def present(self) -> npt.NDArray[np.int8]:
        """Whether everyone of a type is proven to be there: 1 yes, 0 no, -1 undecided."""
        found = self.decision.all_present.copy()
        # Fewer equations have more solutions: what they prove holds, what they allow may not.
        found[self.doubtful & (found != YES)] = UNKNOWN
        return found

    @cached_property
    def fits(self) -> npt.NDArray[np.bool_]:
        """Types that fit some bucket, shape (types,)."""
        return self.published.joint.variable >= 0

    @property
    def eligible(self) -> int:
        """People who fit some bucket."""
        return int(self.published.joint.count[self.fits].sum())

    @property
    def proven(self) -> int:
        """People proven to be in the table (δ = 1)."""
        return int(self.published.joint.count[self.present == YES].sum())

    @property
    def undecided(self) -> int:
        """People who fit a bucket and of whom nothing was decided."""
        return int(self.published.joint.count[(self.present == UNKNOWN) & self.fits].sum())

    @cached_property
    def contradicted(self) -> I64:
        """Buckets that no choice of public people gives: the table is not part of the public."""
        broken = self.decision.broken[: len(self.published.row_bucket)]
        return np.unique(self.published.row_bucket[broken])

    @cached_property
    def per_bucket(self) -> tuple[I64, I64]:
        """People who fit each bucket, and how many of them are proven present; (buckets,) each."""
        joint = self.published.joint
        size = len(self.published.size)
        people = joint.count[joint.types]
        proven = np.where(self.present[joint.types] == YES, people, 0)
        return (
            np.bincount(joint.bucket, people, size).astype(np.int64),
            np.bincount(joint.bucket, proven, size).astype(np.int64),
        )


def find_members(
    view: View, population: Population, context: Context, *, zero: bool = False
) -> Members:
    """Run the attack (GetDelta's question "is δ = 1?", S-86, S-87, S-92).

    Parameters
    ----------
    view : View
        Only what is published.
    population : Population
        With its table, of which the released one is a part (T ⊆ P).
    context : Context
        Deadline and cancel: what is not decided then is undecided.
    zero : bool
        Decide δ = 0 too.

    Raises
    ------
    AnonError
        If only the population's size is known.
    """
    published = published_buckets(view, population, context)
    decision = decide(published.joint, context, zero=zero)
    return Members(published=published, decision=decision)


def hits(members: Members, population: Population) -> Hits:
    """Return who is proven present or undecided, by row of the public table, with the groups."""
    assert population.row_tuple is not None
    joint = members.published.joint
    exposed = (members.present == YES) | ((members.present == UNKNOWN) & members.fits)
    row = np.flatnonzero(exposed[population.row_tuple])
    proven = members.present[population.row_tuple[row]] == YES
    people = len(row)
    first = np.argsort(~proven, kind="stable")[:MOST_HITS]
    row, proven = row[first], proven[first]
    order = np.lexsort((joint.bucket, joint.types))
    pair = np.stack([joint.types[order], joint.bucket[order]])
    new = np.ones(pair.shape[1], dtype=np.bool_)
    new[1:] = (pair[:, 1:] != pair[:, :-1]).any(axis=0)
    types, bucket = pair[:, new]
    start = np.searchsorted(types, np.arange(len(exposed) + 1))
    kind = population.row_tuple[row]
    groups = np.diff(start)[kind]
    column = np.arange(MOST_GROUPS)
    place = np.minimum(start[kind][:, None] + column, max(len(bucket) - 1, 0))
    listed = np.where(column < groups[:, None], bucket[place], -1)
    return Hits(people=people, row=row, proven=proven, group=listed, groups=groups)


def proven_by_raw(truth: Truth) -> int:
    """Return how many public people the table itself would prove present, identifiers removed.

    Everyone whose combination of quasi-identifiers is as frequent in the table as in public:
    also what bucketization gives away (T-24).
    """
    if truth.public_alike is None:
        return 0
    kind, public = truth.public_alike
    rows = np.bincount(kind, truth.frequency.run_count, len(public))
    return int(public[public == rows].sum())
