"""How the attributes of a lattice stand in packed keys."""

from __future__ import annotations

from typing import NamedTuple

from anon_core.base.arrays import I32, I64


class Packing(NamedTuple):
    """A lattice's attributes: where each stands in a key, and what its leaves become at a level.

    Attributes
    ----------
    word, shift, mask : int64 arrays of shape (quasi,)
        Word, bit position and field mask.
    height, stride : int64 arrays of shape (quasi,)
        Highest level, and how far neighbours stand apart in the flat lattice; 1 for the last.
    kinds : int64 array of shape (quasi, most levels)
        Nodes of each level.
    leaves, offset : int64 arrays of shape (quasi,)
        Number of leaves, and where an attribute begins in `table`.
    table : int64 array
        From `offset`, level after level by leaf: the first leaf of the leaf's node, moved to its
        place in the word.
    """

    word: I64
    shift: I64
    mask: I64
    height: I64
    stride: I64
    kinds: I64
    leaves: I64
    offset: I64
    table: I64


class Raised(NamedTuple):
    """The attributes that a roll-up raises.

    Attributes
    ----------
    shift, mask, offset : int64 arrays of shape (changed,)
        Bit position, field mask, and where an attribute's target level begins in `table`.
    table : int64 array
        First leaf of the target node of every leaf.
    """

    shift: I64
    mask: I64
    offset: I64
    table: I64


class Spare(NamedTuple):
    """Room for a roll-up of keys of one word; its content is nobody's.

    Attributes
    ----------
    words, rows : int64 arrays of shape (at least keys,)
    slot : int32 array of shape (at least twice the keys, and a power of two,)
    """

    words: I64
    rows: I64
    slot: I32
