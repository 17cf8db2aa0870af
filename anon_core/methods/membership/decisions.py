"""Who is certainly in the table: decided in whole numbers, proven by row, or openly undecided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I8, I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations_from_view import Published, published_buckets
from anon_core.methods.membership.integer_program import Targets
from anon_core.methods.membership.joint_model import Asked
from anon_core.methods.membership.presolve import ranges
from anon_core.release.attack_result import MOST_GROUPS, MOST_HITS, Hits
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.people import Population
from anon_core.release.release import View

NO, UNKNOWN, YES = np.int8(0), np.int8(-1), np.int8(1)


class Answer(IntEnum):
    """What is decided of a type."""

    UNDECIDED = 0
    NEITHER = 1
    ZERO = 2
    ONE = 3
    INFEASIBLE = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """Proven bounds and witnessed extremes of how many people of each type are in the table.

    Attributes
    ----------
    people : int64 array of shape (types,)
        Public people of the type.
    least, most : int64 arrays of shape (types,)
        No solution lies outside.
    seen_least, seen_most : int64 arrays of shape (types,)
        Some solution shows them; `seen_least` > `most` where none is known.
    infeasible : bool array of shape (types,)
        The type fits equations that no choice of public people meets, so that the table is not
        part of the public one; nothing follows for it.
    broken : bool array of shape (rows,)
        Published values in such equations.
    """

    people: I64
    least: I64
    most: I64
    seen_least: I64
    seen_most: I64
    infeasible: npt.NDArray[np.bool_]
    broken: npt.NDArray[np.bool_]

    @property
    def feasible(self) -> bool:
        """Whether nothing was found to contradict that the table is part of the public one."""
        return not self.broken.any() and not self.infeasible.any()

    @property
    def all_present(self) -> I8:
        """δ = 1 for every person of the type: 1 yes, 0 no, -1 undecided; shape (types,)."""
        return self._three(self.least == self.people, self.seen_least < self.people)

    @property
    def none_present(self) -> I8:
        """δ = 0 for every person of the type; as `all_present`."""
        return self._three(self.most == 0, self.seen_most > 0)

    @property
    def some_present(self) -> I8:
        """At least one person of the type is there in every solution; as `all_present`."""
        return self._three(self.least > 0, self.seen_least == 0)

    @property
    def answer(self) -> I8:
        """One `Answer` per type, shape (types,)."""
        one, zero = self.all_present, self.none_present
        found = np.full(len(self.people), Answer.UNDECIDED, dtype=np.int8)
        found[(one == NO) & (zero == NO)] = Answer.NEITHER
        found[zero == YES] = Answer.ZERO
        found[one == YES] = Answer.ONE
        found[self.infeasible] = Answer.INFEASIBLE
        return found

    def _three(self, yes: npt.NDArray[np.bool_], no: npt.NDArray[np.bool_]) -> I8:
        found = np.full(len(self.people), UNKNOWN, dtype=np.int8)
        found[no] = NO
        found[yes] = YES
        found[self.infeasible] = UNKNOWN
        return found


def decide(asked: Asked, context: Context | None = None, *, zero: bool = True) -> Decision:
    """Decide δ = 1, δ = 0 and "some copy is there" for every type (S-86, S-92).

    Parameters
    ----------
    asked : BucketProblem or JointProblem
        Its known solution, if any, saves time and changes no answer.
    context : Context, optional
        Deadline and cancel: what is not decided then stays undecided.
    zero : bool
        Decide δ = 0 too; in large buckets this takes many times longer.

    Notes
    -----
    "Some copy is there" is asked of types with several people: it narrows limits, and in a large
    part it is tried for one turn only.

    No floating-point δ is compared with anything: presolve and the integer program reason about
    whole people (Toth 2015, alg. 5, asks for the same by listing all subsets).
    """
    context = context or Context()
    system, inside = asked.system, asked.variable >= 0
    at, outside = asked.variable[inside], asked.outside[inside]
    who, first = np.unique(at, return_index=True)
    out, people = outside[first], system.people[who]
    # In the table in full: can one be missing? With a variable for those outside: can one be out?
    questions = [(who, np.where(out, 1, people - 1), out)]
    many = people > 1
    questions.append((who[many], np.where(out, people, 0)[many], out[many]))
    if zero:
        questions.append((who, np.where(out, people - 1, 1), ~out))
    targets = Targets(
        variable=np.concatenate([v for v, _, _ in questions]),
        bound=np.concatenate([b for _, b, _ in questions]),
        up=np.concatenate([u for _, _, u in questions]),
        extra=np.repeat(
            [place == 1 for place in range(len(questions))],
            [len(v) for v, _, _ in questions],
        ),
    )
    found, broken = ranges(system, targets, context, asked.known)
    size = len(asked.variable)
    count = np.ones(size, dtype=np.int64)
    least, most, low, high = (np.zeros(size, dtype=np.int64) for _ in range(4))
    infeasible = np.zeros(size, dtype=np.bool_)
    count[inside] = system.people[at]
    whole = system.people[at]
    least[inside] = np.where(outside, whole - found.upper[at], found.lower[at])
    most[inside] = np.where(outside, whole - found.lower[at], found.upper[at])
    low[inside] = np.where(outside, whole - found.seen_high[at], found.seen_low[at])
    high[inside] = np.where(outside, whole - found.seen_low[at], found.seen_high[at])
    infeasible[inside] = found.infeasible[at]
    return Decision(
        people=count,
        least=least,
        most=most,
        seen_least=low,
        seen_most=high,
        infeasible=infeasible,
        broken=broken,
    )


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
    """Return the public rows proven present or undecided, with their groups."""
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
