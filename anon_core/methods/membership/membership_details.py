"""What lies behind the membership attack: how chances are spread, and what the union would say."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I64
from anon_core.methods.membership.membership_probabilities import LABELS, Graded
from anon_core.release.attack_result import Details
from anon_core.release.knowledge.people import Population

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
    told = [f"Mean δ of members {apart[0]}, of non-members {apart[1]}."]
    guessed = int(graded.people[graded.estimated].sum())
    if guessed:
        told.append(
            f"The δ of {guessed:,} people is estimated; intervals of estimates are indicative."
        )
    open_ones = graded.unknown & ~graded.sure & ~graded.never
    if open_ones.any():
        low, high = graded.low[open_ones], graded.high[open_ones]
        told.append(
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
        note=" ".join(told),
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


def beside_union(joint: Graded, union: Graded, population: Population) -> Details:
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
