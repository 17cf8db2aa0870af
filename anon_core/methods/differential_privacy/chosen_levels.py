"""What SafePub draws: exact coins, and levels by the exponential mechanism."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.methods.lattice.lattice import Lattice, Node

_BLOCK = 1 << 16


class Coins:
    """A stream of bits.

    Parameters
    ----------
    secret : bytes
        At least 32 bytes from the operating system.
    *purpose : bytes
        What is drawn, and from what: streams of different purposes have nothing in common.
    """

    def __init__(self, secret: bytes, *purpose: bytes) -> None:
        digest = hashlib.sha256(secret)
        for part in purpose:
            digest.update(hashlib.sha256(part).digest())
        self._key = digest.digest()
        self._blocks = 0
        self._bytes = b""
        self._at = 0

    def _take(self, size: int) -> bytes:
        """Return the next bytes of the stream."""
        found = self._bytes[self._at : self._at + size]
        self._at += len(found)
        while len(found) < size:
            counter = self._blocks.to_bytes(8, "little")
            self._bytes = hashlib.shake_256(self._key + counter).digest(_BLOCK)
            self._blocks += 1
            self._at = size - len(found)
            found += self._bytes[: self._at]
        return found

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Return uniform numbers of 64 bits, shape (size,)."""
        blocks = [
            np.frombuffer(self._take(min(_BLOCK, 8 * size - start)), dtype="<u8")
            for start in range(0, 8 * size, _BLOCK)
        ]
        return np.concatenate([np.empty(0, np.uint64), *blocks]).astype(np.uint64)

    def below(self, limit: int) -> int:
        """Return a uniform whole number from 0 to `limit` − 1."""
        bits = (limit - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            found = int.from_bytes(self._take(size), "little") & ((1 << bits) - 1)
            if found < limit:
                return found

    def chance(self, share: Fraction) -> bool:
        """Return True with a probability of exactly `share`."""
        return self.below(share.denominator) < share.numerator

    def falls_as(self, exponent: Fraction) -> bool:
        """Return True with a probability of exactly e^−x (Canonne, Kamath, Steinke 2020, alg. 1).

        doi 10.29012/jpc.784: of tries with chances x/1, x/2, x/3, … the first that fails is an odd
        one with probability e^−x, for x up to 1; beyond, e^−1 is tried once for every whole.
        """
        whole, rest = divmod(exponent, 1)
        if any(not self._falls_by(Fraction(1)) for _ in range(whole)):
            return False
        return self._falls_by(rest)

    def _falls_by(self, exponent: Fraction) -> bool:
        tries = 1
        while self.chance(exponent / tries):
            tries += 1
        return tries % 2 == 1

    def candidate(self, scores: Sequence[Fraction], epsilon: Fraction) -> int:
        """Draw a candidate with a probability in proportion to e^(ε · score / 2).

        The exponential mechanism (McSherry, Talwar 2007, doi 10.1109/FOCS.2007.66); it is
        ε-differentially private where one row more or less changes no score by more than 1. A
        candidate is drawn evenly and taken with probability e^(−ε (best − score) / 2), until one
        is taken.
        """
        best = max(scores)
        while True:
            drawn = self.below(len(scores))
            if self.falls_as(epsilon * (best - scores[drawn]) / 2):
                return drawn


#: What a choice of levels is judged by. One row more or less changes each by at most 1: it changes
#: the size of one class by one. With m the size from which a class counts:
#:
#: - detail: the rows of each class beyond m, times the mean of 1 − level / height over the columns.
#:   Those of one class change by one at most, and the mean is at most 1. (All rows of classes of at
#:   least m would be nearer to what is published, but jump by m where a class reaches m: so much
#:   noise would have to hide them that they would steer nothing.)
#: - classes: the number of classes of at least m, and one for the rest where there is one. A row
#:   that founds a class may make the rest appear; one that lets a class reach m adds that class,
#:   and may make the rest vanish.
Score = Literal["detail", "classes"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The levels that were drawn, and how.

    Attributes
    ----------
    node : tuple of int
        Level of every quasi-identifier.
    steps : tuple of mappings
        The nodes drawn, in order; the last is the choice among them. Scores are not reported:
        they are figures of the private table.
    looked : int
        Nodes that were scored.
    """

    node: Node
    steps: tuple[Mapping[str, int | float | str], ...]
    looked: int


def draw_levels(
    lattice: Lattice,
    least: int,
    score: Score,
    steps: int,
    epsilon: Fraction,
    coins: Coins,
    context: Context,
) -> Choice:
    """Draw levels, from the most general ones downwards (Bild, Kuhn, Prasser 2018).

    Every step draws one of the nodes just below those visited, the last draws among all visited.
    Each spends the same part of ε; what is left to choose from follows from what was drawn before,
    so the parts add up. Which nodes there are follows from the hierarchies alone.

    Parameters
    ----------
    least : int
        m, the rows from which a class counts.
    score : {'detail', 'classes'}
    steps : int
        Nodes that are visited below the top.
    epsilon : Fraction
        For all draws together.
    """
    spent = epsilon / (steps + 1)
    scores: dict[Node, Fraction] = {}

    def scored(nodes: list[Node]) -> list[Fraction]:
        for node in nodes:
            if node not in scores:
                context.check()
                scores[node] = score_of(lattice, node, least, score)
        return [scores[node] for node in nodes]

    visited: list[Node] = [lattice.top]
    draws: list[Mapping[str, int | float | str]] = []
    for step in range(steps):
        context.report(step / (steps + 1), "Drawing levels")
        below = sorted({n for v in visited for n in _finer(v)} - set(visited))
        if not below:
            break
        drawn = below[coins.candidate(scored(below), spent)]
        visited.append(drawn)
        draws.append({"step": step + 1, **lattice.names(drawn)})
    best = visited[coins.candidate(scored(visited), spent)]
    draws.append({"step": len(draws) + 1, **lattice.names(best)})
    return Choice(node=best, steps=tuple(draws), looked=len(scores))


def score_of(lattice: Lattice, node: Node, least: int, score: Score) -> Fraction:
    """Return what a choice of levels is worth; see `Score`."""
    sizes = lattice.at(node).count
    if score == "classes":
        large = sizes >= least
        return Fraction(int(np.count_nonzero(large)) + int(not large.all()))
    detail = [1 - Fraction(n, top) for n, top in zip(node, lattice.top, strict=True) if top]
    mean = sum(detail, start=Fraction(0)) / len(node)
    return mean * int(np.maximum(sizes - least, 0).sum())


def _finer(node: Node) -> list[Node]:
    return [(*node[:d], n - 1, *node[d + 1 :]) for d, n in enumerate(node) if n]
