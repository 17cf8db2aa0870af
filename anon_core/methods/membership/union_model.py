"""The union model of overlapping buckets, beside the joint one (Toth 2015, 4.1.2; S-87, E-08).

Buckets that somebody fits in common are taken for one. What is then not asked any more is in which
of them a value stood, so the union understates what follows from all of them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from anon_core.base.arrays import I64
from anon_core.methods.membership.joint_model import JointProblem
from anon_core.release.release import BlockTable, View

if TYPE_CHECKING:
    import scipy.sparse
    import scipy.sparse.csgraph


def overlapping(joint: JointProblem, buckets: int) -> I64:
    """Return a number for each bucket, the same where people fit both; shape (buckets,)."""
    types = len(joint.count)
    links = scipy.sparse.coo_array(
        (np.ones(len(joint.types)), (joint.bucket, buckets + joint.types)),
        shape=(buckets + types, buckets + types),
    )
    label = scipy.sparse.csgraph.connected_components(links, directed=False)[1][:buckets]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def united(view: View, label: I64) -> View:
    """Return the view with buckets of one label taken for one.

    Parameters
    ----------
    label : int64 array of shape (groups,)
    """
    blocks: list[BlockTable] = []
    for block in view.blocks:
        keyed = np.column_stack([label[block.group], block.codes]).astype(np.int64)
        found, which = np.unique(keyed, axis=0, return_inverse=True)
        blocks.append(
            BlockTable(
                columns=block.columns,
                group=found[:, 0],
                codes=found[:, 1:].astype(np.int32),
                count=np.bincount(which.ravel(), block.count, len(found)).astype(np.int64),
            )
        )
    return View(
        vocabularies=view.vocabularies,
        blocks=tuple(blocks),
        group_size=np.bincount(label, view.group_size).astype(np.int64),
        quasi=view.quasi,
        sensitive=view.sensitive,
        published=True,
        guarantee=view.guarantee,
    )
