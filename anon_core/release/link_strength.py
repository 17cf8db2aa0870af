"""Which links a release keeps and which it cuts: people and what is known of them, and secrets.

Li, He, Cao and Chen 2015, section 5: a person and her quasi-identifiers, these and the sensitive
values, and quasi-identifiers among each other. Every technique cuts or weakens some; an attack
needs those it goes along.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from anon_core.data.hierarchy import TOP
from anon_core.release.release import View

LinkName = Literal["identity–quasi", "quasi–sensitive", "quasi–quasi"]


@dataclass(frozen=True, kw_only=True)
class Link:
    """What is left of one kind of link.

    Attributes
    ----------
    name : {'identity–quasi', 'quasi–sensitive', 'quasi–quasi'}
    kept, weakened, cut : tuple of tuples of str
        Single quasi-identifiers a person is known by, or pairs of columns. Of single ones those are
        kept that every published row shows exactly, weakened where cells represent several values,
        and cut where no row says anything; pairs are kept where they are in one row, and cut
        where they are permuted separately inside groups.
    """

    name: LinkName
    kept: tuple[tuple[str, ...], ...]
    weakened: tuple[tuple[str, ...], ...] = ()
    cut: tuple[tuple[str, ...], ...] = ()


def links(view: View) -> tuple[Link, ...]:
    """Return what is left of each kind of link in a release."""
    state = {name: _shown(view, name) for name in view.quasi}
    secret = [name for name in view.sensitive if name not in view.quasi]
    block = {name: number for number, b in enumerate(view.blocks) for name in b.columns}

    def pairs(name: LinkName, of: list[tuple[str, str]]) -> Link:
        return Link(
            name=name,
            kept=tuple(p for p in of if block[p[0]] == block[p[1]]),
            cut=tuple(p for p in of if block[p[0]] != block[p[1]]),
        )

    return (
        Link(
            name="identity–quasi",
            kept=tuple((n,) for n in view.quasi if state[n] == "kept"),
            weakened=tuple((n,) for n in view.quasi if state[n] == "weakened"),
            cut=tuple((n,) for n in view.quasi if state[n] == "cut"),
        ),
        pairs("quasi–sensitive", [(q, s) for q in view.quasi for s in secret]),
        pairs("quasi–quasi", list(combinations(view.quasi, 2))),
    )


def _shown(view: View, column: str) -> str:
    """Return whether a person's own value is shown exactly, in part, or not at all."""
    block, vocabulary = view.block_of(column), view.vocabularies[column]
    used = np.unique(block.codes[:, block.columns.index(column)])
    lo, hi = vocabulary.lo[used], vocabulary.hi[used]
    if vocabulary.shown is not None:  # an average represents several values
        return "weakened"
    if (lo == hi).all():
        return "kept"
    return "cut" if len(used) == 1 and vocabulary.texts[used[0]] == TOP else "weakened"
