"""A search's lattice for drawing: what became of each node, and its numbers.

What the search looked at is in its account. Of the nodes that it did not need, the numbers are
computed here, so that a person may compare them; the search is not carried out again.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context, now
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.methods.lattice.lattice import Node
from anon_core.methods.lattice.lattice_decisions import FAILED, SATISFIED, UNKNOWN
from anon_core.methods.lattice.node_cost import NodeCost
from anon_core.methods.lattice.nodes import MOST_LISTED, Nodes, rows_allowed
from anon_core.release.outcome import SearchAccount
from anon_core.release.problem import Problem

#: A lattice of so many nodes is drawn whole.
MOST_DRAWN = 400
#: A lattice of so many nodes is counted by height.
MOST_COUNTED = 1_000_000
#: What became of a node: looked at, and the answer; decided by another node; or left undecided.
Fate = Literal["satisfied", "failed", "must hold", "must fail", "not looked at"]
FATES: tuple[Fate, ...] = ("satisfied", "failed", "must hold", "must fail", "not looked at")


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """One node.

    Attributes
    ----------
    levels : tuple of int
        Per quasi-identifier, of the hierarchy as it was given.
    height : int
        Steps above the bottom of the lattice that was searched.
    fate : str
        One of `FATES`, as far as the search went; where the account lists no nodes, as computed
        here.
    holds : bool or None
        Whether the node keeps the privacy models within the budget; None where it is not known.
    removed, classes : int or None
        Rows that have to go, and classes that stay; None where there was no time to count.
    cost : float or None
        By the picture's metric.
    minimal, locally_minimal : bool
        Whether no node anywhere below it holds, and whether it is the lowest that holds on some
        path from the bottom (Samarati 2001); as far as that is known.
    """

    levels: Node
    height: int
    fate: Fate
    holds: bool | None
    removed: int | None
    classes: int | None
    cost: float | None
    chosen: bool
    minimal: bool
    locally_minimal: bool


@dataclass(frozen=True, kw_only=True)
class LatticePicture:
    """A lattice as it is drawn.

    Attributes
    ----------
    columns : tuple of str
        The quasi-identifiers.
    size : int
        Nodes of the lattice.
    whole : bool
        Whether `nodes` are all of them; else they are the chosen one and its neighbours.
    nodes : tuple of Pictured
        By height, then by levels.
    links : tuple of pairs of int
        Places in `nodes` of which the second is one step above the first.
    by_height : tuple of mappings of Fate to int
        Nodes of every height by what became of them; empty where the lattice is too large.
    metric : str
        Name of the metric of `Pictured.cost`.
    budget : int
        Rows that may be suppressed.
    recorded : bool
        Whether the search reported which nodes it looked at.
    """

    columns: tuple[str, ...]
    size: int
    whole: bool
    nodes: tuple[Pictured, ...]
    links: tuple[tuple[int, int], ...]
    by_height: tuple[Mapping[Fate, int], ...]
    metric: str
    budget: int
    recorded: bool


def lattice_picture(
    problem: Problem,
    models: Sequence[GroupModel],
    account: SearchAccount,
    context: Context,
    *,
    max_suppression: float = 0.0,
    transformation: str = "AG_TS",
    metric: Metric | None = None,
    seconds: float = 3.0,
) -> LatticePicture:
    """Return the lattice behind an account whose `node` is given.

    Parameters
    ----------
    max_suppression : float
        Share of rows the search was allowed to remove.
    transformation : str
        One of `transformation.LEVEL_MODELS`.
    metric : Metric, optional
        What nodes are priced by; the loss where none is given.
    seconds : float
        Time for counting; the chosen node is counted first, then those that were looked at.
    """
    nodes = Nodes(problem, models, rows_allowed(problem, max_suppression), context, transformation)
    chosen = _searched(nodes, tuple((account.node or {})[name] for name in problem.quasi))
    looked = {_searched(nodes, node): removed for node, removed in account.looked.items()}
    shape, size = nodes.lattice.shape, nodes.lattice.size
    status = _status(nodes, looked, account) if size <= MOST_COUNTED else None
    whole = size <= MOST_DRAWN
    drawn = list(nodes.lattice.nodes()) if whole else _around(chosen, nodes.lattice.heights)
    drawn.sort(key=lambda node: (sum(node), node))
    priced = metric if metric is not None else cast(Metric, find("metric", "loss")())
    numbers = _counted(nodes, drawn, chosen, looked, priced, seconds)
    pictured = tuple(
        _pictured(nodes, node, chosen, looked, status, numbers.get(node), account) for node in drawn
    )
    if whole and not account.locally_minimal:
        pictured = _marked(drawn, pictured)
    by_height: tuple[Mapping[Fate, int], ...] = ()
    if status is not None and looked:
        by_height = _by_height(shape, status, list(looked))
    return LatticePicture(
        columns=problem.quasi,
        size=size,
        whole=whole,
        nodes=pictured,
        links=_links(drawn),
        by_height=by_height,
        metric=priced.name,
        budget=nodes.budget,
        recorded=bool(looked),
    )


def _searched(nodes: Nodes, original: Node) -> Node:
    """Return a node of the lattice that is searched by the levels as they were given."""
    found: list[int] = []
    for d, (level, height) in enumerate(zip(original, nodes.lattice.heights, strict=True)):
        at = list(nodes.lattice.heights)
        for step in range(height + 1):
            at[d] = step
            if nodes.original(tuple(at))[d] == level:
                found.append(step)
    return tuple(found)


def _around(node: Node, heights: Node) -> list[Node]:
    found = [node]
    for d, height in enumerate(heights):
        found += [(*node[:d], node[d] - 1, *node[d + 1 :])] if node[d] else []
        found += [(*node[:d], node[d] + 1, *node[d + 1 :])] if node[d] < height else []
    return found


def _status(
    nodes: Nodes, looked: Mapping[Node, int], account: SearchAccount
) -> npt.NDArray[np.uint8]:
    """Return what follows from the nodes that were looked at, by `classify`'s signs."""
    status = np.full(nodes.lattice.shape, UNKNOWN, dtype=np.uint8)
    good = sorted((n for n, r in looked.items() if nodes.within(r)), key=sum)
    bad = sorted((n for n, r in looked.items() if not nodes.within(r)), key=sum, reverse=True)
    for some, sign in ((good, SATISFIED), (bad, FAILED)):
        for node in some:
            if status[node] == UNKNOWN:
                here = tuple(slice(n, n + 1) for n in node)
                if nodes.monotone:
                    here = tuple(
                        slice(n, None) if sign == SATISFIED else slice(None, n + 1) for n in node
                    )
                status[here] = sign
    # Where the search decided all nodes, those that follow from none fail by rows that are alone.
    every = account.checked + account.inferred == account.nodes and len(looked) < MOST_LISTED
    if every and account.minimal and nodes.monotone:
        status[status == UNKNOWN] = FAILED
    return status


def _counted(
    nodes: Nodes,
    drawn: Sequence[Node],
    chosen: Node,
    looked: Mapping[Node, int],
    metric: Metric,
    seconds: float,
) -> dict[Node, tuple[int, int, float]]:
    """Return rows suppressed, classes kept and cost of as many nodes as there is time for."""
    began = now()
    priced = NodeCost(nodes.problem, metric)
    found: dict[Node, tuple[int, int, float]] = {}
    for place, node in enumerate(
        sorted(drawn, key=lambda n: (n != chosen, n not in looked, sum(n), n))
    ):
        if place and now() - began > seconds:
            break
        nodes.context.report(place / len(drawn), "Counting the nodes' classes")
        classes, keep = nodes.keep_mask(node)
        fields = [nodes.lattice.field(classes, d) for d in range(len(node))]
        removed = nodes.rows - int(classes.count[keep].sum())
        cost = priced.of(node, classes, keep, fields)
        found[node] = (removed, int(np.count_nonzero(keep)), float(cost))
    return found


def _pictured(
    nodes: Nodes,
    node: Node,
    chosen: Node,
    looked: Mapping[Node, int],
    status: npt.NDArray[np.uint8] | None,
    numbers: tuple[int, int, float] | None,
    account: SearchAccount,
) -> Pictured:
    removed = numbers[0] if numbers else looked.get(node)
    holds = None if removed is None else nodes.within(removed)
    follows = UNKNOWN if status is None else status[node]
    fate: Fate = "not looked at"
    if (node in looked or not looked) and holds is not None:
        fate = "satisfied" if holds else "failed"
    elif follows != UNKNOWN:
        fate = "must hold" if follows == SATISFIED else "must fail"
        holds = bool(follows == SATISFIED)
    return Pictured(
        levels=nodes.original(node),
        height=sum(node),
        fate=fate,
        holds=holds,
        removed=removed,
        classes=numbers[1] if numbers else None,
        cost=numbers[2] if numbers else None,
        chosen=node == chosen,
        minimal=nodes.original(node) in account.minimal,
        locally_minimal=nodes.original(node) in account.locally_minimal,
    )


def _marked(drawn: Sequence[Node], pictured: tuple[Pictured, ...]) -> tuple[Pictured, ...]:
    """Return all nodes, the minimal and locally minimal ones marked; if all are known.

    Parameters
    ----------
    drawn : sequence of Node
        All nodes of the lattice that was searched, by height.
    """
    holds = {node: picture.holds for node, picture in zip(drawn, pictured, strict=True)}
    if any(known is None for known in holds.values()):
        return pictured
    open_below: set[Node] = set()  # reached from the bottom by nodes that all fail
    held: set[Node] = set()  # those with one that holds at or below them
    found: list[Pictured] = []
    for node, picture in zip(drawn, pictured, strict=True):
        below = [(*node[:d], n - 1, *node[d + 1 :]) for d, n in enumerate(node) if n]
        reached = not below or any(under in open_below for under in below)
        if reached and not holds[node]:
            open_below.add(node)
        lowest = not any(under in held for under in below)
        if holds[node] or not lowest:
            held.add(node)
        found.append(
            replace(
                picture,
                minimal=bool(lowest and holds[node]),
                locally_minimal=bool(reached and holds[node]),
            )
        )
    return tuple(found)


def _links(drawn: Sequence[Node]) -> tuple[tuple[int, int], ...]:
    place = {node: i for i, node in enumerate(drawn)}
    above = (
        (node, (*node[:d], node[d] + 1, *node[d + 1 :]))
        for node, d in itertools.product(drawn, range(len(drawn[0])))
    )
    return tuple((place[low], place[high]) for low, high in above if high in place)


def _by_height(
    shape: Node, status: npt.NDArray[np.uint8], looked: Sequence[Node]
) -> tuple[Mapping[Fate, int], ...]:
    """Return per height how many nodes met which fate."""
    height = np.zeros(shape, dtype=np.int64)
    for d, levels in enumerate(shape):
        height += np.arange(levels).reshape([-1 if i == d else 1 for i in range(len(shape))])
    seen = np.zeros(shape, dtype=np.bool_)
    seen[tuple(np.array(looked, dtype=np.int64).T)] = True
    parts: dict[Fate, npt.NDArray[np.bool_]] = {
        "satisfied": seen & (status == SATISFIED),
        "failed": seen & (status == FAILED),
        "must hold": ~seen & (status == SATISFIED),
        "must fail": ~seen & (status == FAILED),
        "not looked at": status == UNKNOWN,
    }
    wide = int(height.max(initial=0)) + 1
    counts = {fate: np.bincount(height[mask], minlength=wide) for fate, mask in parts.items()}
    return tuple({fate: int(counts[fate][h]) for fate in FATES} for h in range(wide))
