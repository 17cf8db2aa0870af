"""Which of several minimal generalizations is preferred (Samarati 2001, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anon_core.base.params import choice
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.nodes import Nodes

CRITERIA = ("absolute distance", "relative distance", "distinct tuples", "suppression")


def preference_choice() -> Any:
    """Declare the parameter; Samarati's search and Incognito have the same."""
    return choice(
        default="absolute distance",
        options=dict(
            zip(
                CRITERIA,
                (
                    "fewest steps",
                    "fewest steps, as shares of each hierarchy's height",
                    "most distinct rows left",
                    "fewest rows suppressed",
                ),
                strict=True,
            )
        ),
        help="Which of several minimal choices of levels is taken.",
        label="Prefer by",
    )


def criterion(nodes: Nodes, node: Node, which: str) -> float:
    """Return what one criterion says of a node; lower is preferred.

    Parameters
    ----------
    node : tuple of int
    which : str
        One of `CRITERIA`. `distinct tuples` is negative, since more of them are preferred.
    """
    if which == "absolute distance":
        return float(sum(nodes.original(node)))
    if which == "relative distance":
        heights = nodes.original(nodes.lattice.top)
        steps = zip(nodes.original(node), heights, strict=True)
        # Exact, so that equal distances are a tie and not a matter of rounding.
        return float(sum((Fraction(n, h) for n, h in steps if h), Fraction(0)))
    classes, keep = nodes.keep_mask(node)
    if which == "distinct tuples":
        return -float(np.count_nonzero(keep))
    return float(nodes.problem.rows - int(classes.count[keep].sum()))


def preferred(nodes: Nodes, candidates: Sequence[Node], which: str) -> Node:
    """Return the candidate preferred by a criterion; among equals the lowest, then the first."""
    return min(candidates, key=lambda n: (criterion(nodes, n, which), sum(n), n))
