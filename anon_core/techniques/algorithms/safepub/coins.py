"""Coins that protection rests on: exact chances from bits that no one without the secret foretells.

A generator for simulations must not decide who is in a sample: what it gives can be determined from
what it gave. The bits are those of SHAKE-256 (FIPS 202, doi 10.6028/NIST.FIPS.202), keyed by a
secret of 256 bits; every chance is decided in whole numbers, so that no rounding of floats leaks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

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
        told = hashlib.sha256(secret)
        for part in purpose:
            told.update(hashlib.sha256(part).digest())
        self._key = told.digest()
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
