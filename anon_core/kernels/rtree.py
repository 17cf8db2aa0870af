"""A spatial index of disjoint regions: tuples are inserted one at a time, full leaves are split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Counted


class Tree(NamedTuple):
    """Nodes of the index, the root first; arrays have room for twice as many as there are tuples.

    Attributes
    ----------
    attribute : int64 array of shape (nodes,)
        Attribute by which a node is split, -1 where it is a leaf.
    cut : int64 array of shape (nodes,)
        Last leaf number that goes to the first child.
    child : int64 array of shape (nodes, 2)
    head : int64 array of shape (nodes,)
        Tuple inserted last into a leaf, -1 where it is empty.
    rows : int64 array of shape (nodes,)
        Rows of a leaf.
    again : int64 array of shape (nodes,)
        Rows from which on a split of the leaf is tried.
    following : int64 array of shape (tuples,)
        Tuple inserted into the same leaf before, -1 where there is none.
    leaf : int64 array of shape (tuples,)
        Leaf of each tuple, -1 where it is not inserted yet.
    """

    attribute: I64
    cut: I64
    child: I64
    head: I64
    rows: I64
    again: I64
    following: I64
    leaf: I64


@compiled
def insert(
    prices: Prices, tuples: Counted, tree: Tree, nodes: int, some: I64, k: int, full: int
) -> int:
    """Insert tuples one after the other, and split leaves that are full.

    Parameters
    ----------
    tree : Tree, changed in place
    nodes : int
        Nodes in use; 1 for a tree without a tuple.
    some : int64 array
        The tuples to insert, one after the other.
    k : int
        Rows that every leaf keeps.
    full : int
        Rows from which on a leaf is split, 2k or more.

    Returns
    -------
    int
        Nodes in use.
    """
    codes, count = tuples.codes, tuples.rows
    for t in some:
        # 1. The regions of the leaves are disjoint: one way leads down.
        node = 0
        while tree.attribute[node] >= 0:
            beyond = codes[t, tree.attribute[node]] > tree.cut[node]
            node = int(tree.child[node, 1 if beyond else 0])
        tree.following[t], tree.head[node], tree.leaf[t] = tree.head[node], t, node
        tree.rows[node] += count[t]
        # 2. Split what is full, and what comes of it where a tuple brought many rows.
        first = nodes
        if tree.rows[node] >= tree.again[node]:
            nodes = split_leaf(prices, tuples, tree, nodes, node, k, full)
        while first < nodes:
            if tree.rows[first] >= tree.again[first]:
                nodes = split_leaf(prices, tuples, tree, nodes, first, k, full)
            first += 1
    return nodes


@compiled
def refine(
    prices: Prices, tuples: Counted, tree: Tree, nodes: int, first: int, last: int, k: int
) -> int:
    """Split the leaves among the nodes first to last, and what comes of them, down to k rows.

    Returns
    -------
    int
        Nodes in use.
    """
    begin = nodes
    for node in range(first, last):
        if tree.attribute[node] < 0 and tree.rows[node] >= 2 * k:
            nodes = split_leaf(prices, tuples, tree, nodes, node, k, 2 * k)
    while begin < nodes:
        if tree.rows[begin] >= 2 * k:
            nodes = split_leaf(prices, tuples, tree, nodes, begin, k, 2 * k)
        begin += 1
    return nodes


@compiled
def split_leaf(
    prices: Prices, tuples: Counted, tree: Tree, nodes: int, node: int, k: int, full: int
) -> int:
    """Split a leaf by the cut that leaves k rows on either side and costs least; return the nodes.

    Where there is no such cut, the leaf stays, and is tried again when it has grown by a sixteenth.
    """
    codes, count = tuples.codes, tuples.rows
    attributes = codes.shape[1]
    size, t = 0, tree.head[node]
    while t >= 0:
        size, t = size + 1, tree.following[t]
    members = np.empty(size, np.int64)
    t = tree.head[node]
    for i in range(size):
        members[i], t = t, tree.following[t]
    best, attribute, cut = np.inf, -1, 0
    low, high = np.empty((size, attributes), np.int32), np.empty((size, attributes), np.int32)
    for d in range(attributes):
        place = members[np.argsort(codes[members, d], kind="mergesort")]
        # Boxes of what lies beyond each cut, then of what lies before it.
        for i in range(size - 1, -1, -1):
            for e in range(attributes):
                c = codes[place[i], e]
                low[i, e] = c if i == size - 1 else min(c, low[i + 1, e])
                high[i, e] = c if i == size - 1 else max(c, high[i + 1, e])
        before = codes[place[0]].copy()
        upto = before.copy()
        rows = 0
        for i in range(size - 1):
            rows += count[place[i]]
            for e in range(attributes):
                before[e] = min(before[e], codes[place[i], e])
                upto[e] = max(upto[e], codes[place[i], e])
            beyond = tree.rows[node] - rows
            if rows < k or beyond < k or codes[place[i], d] == codes[place[i + 1], d]:
                continue
            one, other = 0.0, 0.0
            for e in range(attributes):
                one += cover_price(prices, e, before[e], upto[e])
                other += cover_price(prices, e, low[i + 1, e], high[i + 1, e])
            price = rows * one + beyond * other
            if price < best:
                best, attribute, cut = price, d, int(codes[place[i], d])
    if attribute < 0:
        tree.again[node] = tree.rows[node] + 1 + tree.rows[node] // 16
        return nodes
    tree.attribute[node], tree.cut[node] = attribute, cut
    for s in range(2):
        tree.child[node, s] = nodes + s
        tree.head[nodes + s], tree.rows[nodes + s], tree.again[nodes + s] = -1, 0, full
    for i in range(size - 1, -1, -1):  # the order of insertion is kept
        t = members[i]
        new = nodes + (1 if codes[t, attribute] > cut else 0)
        tree.following[t], tree.head[new], tree.leaf[t] = tree.head[new], t, new
        tree.rows[new] += count[t]
    return nodes + 2
