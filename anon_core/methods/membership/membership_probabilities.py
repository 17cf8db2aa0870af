"""Everyone's chance of presence, as far as it is known and how, and how chances are spread."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.data.frequency import dense_rank
from anon_core.methods.membership.brackets import expected
from anon_core.methods.membership.decisions import YES, Decision, Members
from anon_core.methods.membership.estimated_chances import estimate, interval
from anon_core.methods.membership.exact_chances import Counted, count, shares
from anon_core.methods.membership.joint_model import JointProblem
from anon_core.release.attack_result import Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.people import Population

#: Where chances are cut for telling how they are spread; both ends are distinguished from them.
EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Graded:
    """δ of one person of every type of the public table.

    Attributes
    ----------
    chance : float64 array of shape (types,)
        δ, counted or estimated; NaN where neither came through. Whether it is 0 or 1 is never read
        off it: `sure` and `never` are decided in whole numbers.
    low, high : float64 arrays of shape (types,)
        Nothing outside is possible, by what was proven. Both are δ where it was counted. What is
        held against a threshold is `high`.
    sure, never : bool arrays of shape (types,)
        Proven δ = 1, and δ = 0.
    counted : bool array of shape (types,)
        The chance is exact up to rounding.
    estimated : bool array of shape (types,)
        The chance is an estimate: of `between` its interval is indicative only. It lies within the
        proven limits.
    between : tuple of float64 arrays of shape (types,)
        Indicative interval of an estimate.
    people : int64 array of shape (types,)
        Public people of each type.
    """

    chance: F64
    low: F64
    high: F64
    sure: B1
    never: B1
    counted: B1
    estimated: B1
    between: tuple[F64, F64]
    people: I64

    @cached_property
    def unknown(self) -> B1:
        """Types of which only a bracket is known, shape (types,)."""
        return np.isnan(self.chance)

    @cached_property
    def part(self) -> I64:
        """Place of each type in `LABELS`, shape (types,)."""
        low, high = (
            np.searchsorted(EDGES[1:-1], np.where(self.unknown, limit, self.chance), side="right")
            for limit in (self.low, self.high)
        )
        found = low + 1
        found[self.never] = 0
        found[self.sure] = len(EDGES)
        found[(low != high) & ~self.sure & ~self.never] = len(EDGES) + 1
        return found.astype(np.int64)


#: How chances are reported: none, six ranges, certainty, and what was not counted.
LABELS = (
    "0",
    *(f"{a:g} – {b:g}" for a, b in pairwise(EDGES)),
    "1",
    "not known",
)


def grade(members: Members, context: Context, *, max_states: int) -> Graded:
    """Return everyone's chance of presence, counted where it can be, else estimated in time.

    Parameters
    ----------
    members : Members
        What was decided.
    context : Context
        Its deadline bounds counting and estimating; its generator draws what is estimated.
    max_states : int
        Layer width up to which a part is counted.
    """
    joint, decision, fits = members.published.joint, members.decision, members.fits
    counted = count(joint.system, context, max_states=max_states)
    found = estimate(joint.system, counted, context)
    blank = fits & (members.doubtful | decision.infeasible)  # of whom nothing follows
    least, most = _extremes(joint, counted, decision)
    least[blank], most[blank] = 0, decision.people[blank]
    # Anyone who every solution of some of the equations holds is held by those of all.
    sure = (members.present == YES) | (fits & ~blank & (least == decision.people))
    never = ~fits | (~blank & ~sure & (most == 0))
    exact, guessed = np.zeros_like(fits), np.zeros_like(fits)
    at = joint.variable[fits]
    exact[fits], guessed[fits] = counted.counted[at], found.estimated[at]
    exact = (exact & ~blank) | sure | never
    guessed &= ~blank & ~exact
    chance = np.where(exact | guessed, shares(joint, found.mean), np.nan)
    chance[sure], chance[never] = 1.0, 0.0
    low, high = _limits(joint, counted, least, most, fits & ~blank)
    low, high = np.where(sure, 1.0, low), np.where(never, 0.0, high)
    chance = np.where(guessed, np.clip(chance, low, high), chance)
    known = exact & ~sure & ~never
    low[known], high[known] = chance[known], chance[known]
    return Graded(
        chance=chance,
        low=low,
        high=high,
        sure=sure,
        never=never,
        counted=exact,
        estimated=guessed,
        between=interval(joint, found),
        people=joint.count,
    )


def _extremes(joint: JointProblem, counted: Counted, decision: Decision) -> tuple[I64, I64]:
    """Return the fewest and most people any solution holds of each type's look-alikes."""
    least, most = decision.least.copy(), decision.most.copy()
    inside = joint.variable >= 0
    at, outside, people = joint.variable[inside], joint.outside[inside], decision.people[inside]
    low = np.where(outside, people - counted.most[at], counted.least[at])
    high = np.where(outside, people - counted.least[at], counted.most[at])
    least[inside] = np.maximum(low, least[inside])
    most[inside] = np.minimum(high, most[inside])
    return least, most


def _limits(
    joint: JointProblem, counted: Counted, least: I64, most: I64, clear: B1
) -> tuple[F64, F64]:
    """Return proven limits of δ by type: of how many are there, and of the mean of solutions."""
    system = joint.system
    at, outside = joint.variable[clear], joint.outside[clear]
    people = system.people[at]
    fewest, largest = counted.least.copy(), counted.most.copy()
    fewest[at] = np.where(outside, people - most[clear], least[clear])
    largest[at] = np.where(outside, people - least[clear], most[clear])
    means = [mean[at] / people for mean in expected(system, fewest, largest)]
    whole = np.maximum(joint.count, 1)
    low, high = least / whole, most / whole
    low[clear] = np.where(outside, 1.0 - means[1], means[0])
    high[clear] = np.where(outside, 1.0 - means[0], means[1])
    return low, high


def in_table(population: Population, truth: Truth, quasi: tuple[str, ...]) -> I64:
    """Return how many rows of the private table each public type has, shape (types,).

    It is the truth, and says of a chance only how right it is.
    """
    assert population.codes is not None
    codes = truth.frequency.run_codes
    own = [population.place[name][codes[:, d]] for d, name in enumerate(quasi)]
    both = [np.append(c, population.codes[:, d]) + np.int32(1) for d, c in enumerate(own)]
    sizes = [len(population.hierarchies[name].leaves) + 1 for name in quasi]
    rank, first = dense_rank(both, sizes)
    rows = np.bincount(rank[: len(codes)], truth.frequency.run_count, len(first))
    return rows[rank[len(codes) :]].astype(np.int64)


#: People of whom both models are reported, where they differ most.
_LISTED = 12


def spread_of(graded: Graded, rows: I64) -> Details:
    """Return how many members and others have which chance.

    Parameters
    ----------
    rows : int64 array of shape (types,)
        Rows of the table of each type: the truth, for scoring.
    """
    inside = np.minimum(rows, graded.people)
    members, others = (
        np.bincount(graded.part, people, len(LABELS)) for people in (inside, graded.people - inside)
    )
    apart = _mean(graded, inside), _mean(graded, graded.people - inside)
    notes = [f"Mean δ of members {apart[0]}, of non-members {apart[1]}."]
    guessed = int(graded.people[graded.estimated].sum())
    if guessed:
        notes.append(
            f"The δ of {guessed:,} people is estimated; intervals of estimates are indicative."
        )
    open_ones = graded.unknown & ~graded.sure & ~graded.never
    if open_ones.any():
        low, high = graded.low[open_ones], graded.high[open_ones]
        notes.append(
            f"Of {int(graded.people[open_ones].sum()):,} people only a bracket is known, within "
            f"[{low.min():.3g}, {high.max():.3g}]; the widest spans {(high - low).max():.2g}."
        )
    return Details(
        title="How chances of presence (δ) are spread",
        rows=tuple(
            {"δ": label, "members": int(members[at]), "non-members": int(others[at])}
            for at, label in enumerate(LABELS)
        ),
        x="δ",
        y=("members", "non-members"),
        drawn="bars",
        shares=False,
        note=" ".join(notes),
    )


def how_known(graded: Graded) -> Details:
    """Return of how many people δ is certain, counted, estimated, or open within a bracket."""
    open_ones = graded.unknown & ~graded.sure & ~graded.never
    exact = graded.counted & ~graded.sure & ~graded.never
    kinds = {
        "δ = 1, proven": graded.sure,
        "δ = 0, proven": graded.never,
        "in between, counted exactly": exact,
        "in between, estimated": graded.estimated & ~exact & ~graded.sure & ~graded.never,
        "open: a bracket only": open_ones,
    }
    return Details(
        title="How much is known of them",
        rows=tuple(
            {
                "known": words,
                "people": int(graded.people[which].sum()),
                "lowest δ": float(graded.low[which].min()),
                "highest δ": float(graded.high[which].max()),
            }
            for words, which in kinds.items()
            if which.any()
        ),
        x="known",
        y=("people",),
        drawn="table",
        shares=False,
        note="Lowest and highest are proven limits; where δ was counted they are its extremes.",
    )


def against_union(joint: Graded, union: Graded, population: Population) -> Details:
    """Return the people of whom both models differ most: all buckets together, and their union."""
    assert population.row_tuple is not None
    apart = np.abs(np.nan_to_num(joint.chance - union.chance))
    kinds = np.argsort(-apart, kind="stable")[:_LISTED]
    kinds = kinds[apart[kinds] > 1e-9]
    place = np.full(len(apart), -1, dtype=np.int64)
    rows = population.row_tuple[::-1]
    place[rows] = np.arange(len(rows))[::-1]  # the first row of each type
    sure = [int(g.people[g.sure].sum()) for g in (joint, union)]
    differ = int(joint.people[apart > 1e-9].sum())
    return Details(
        title="Overlapping groups: kept separate, and united",
        rows=tuple(
            {
                "public row": int(place[t]) + 1,
                "δ, groups kept separate": float(joint.chance[t]),
                "δ, groups united": float(union.chance[t]),
            }
            for t in kinds.tolist()
        ),
        x="public row",
        y=("δ, groups kept separate", "δ, groups united"),
        drawn="table",
        note=f"Certain of {sure[0]:,} people with the groups kept separate, of {sure[1]:,} with "
        f"overlapping ones united as their source does; {differ:,} people's chances differ. The "
        "union forgets which group a value belonged to, so it understates what is learned.",
    )


def _mean(graded: Graded, people: I64) -> str:
    known = ~graded.unknown & (people > 0)
    total = float(people[known].sum())
    return f"{float(graded.chance[known] @ people[known]) / total:.3g}" if total else "–"
