"""Secrets that chance starts from: drawn from the operating system, never a default.

A release that permutes, samples or draws can be undone by anyone who has its seed, and a small seed
is found by trying. So a seed has 256 bits, and everything that is drawn from it is drawn
separately.
"""

from __future__ import annotations

import hashlib
import re
import secrets

import numpy as np

from anon_core.base.errors import BadPlan

BITS = 256
#: The smallest seed that no one finds by trying; of those drawn, one in 2**128 is smaller.
ENOUGH = 1 << 128
_DIGITS = re.compile(f"[0-9a-fA-F]{{1,{BITS // 4}}}")
#: Of 64 digits that are drawn, fewer different ones are there once in 2**50 draws.
_DIFFERENT = 9


def draw() -> int:
    """Draw a new seed from the operating system."""
    return secrets.randbits(BITS)


def is_secret(seed: int) -> bool:
    """Return whether a seed is too long, and too irregular, to be found by trying.

    What someone made up to be long, such as one digit again and again, is soon tried.

    Examples
    --------
    >>> is_secret(31337), is_secret(1 << 200), is_secret(draw())
    (False, False, True)
    """
    digits = f"{seed:x}"
    repeated = any(digits[n:] == digits[:-n] for n in range(1, len(digits) // 2 + 1))
    return seed >= ENOUGH and not repeated and len(set(digits)) >= _DIFFERENT


def spell(seed: int) -> int | str:
    """Return a seed as a recipe has it: hexadecimal digits, since numbers of TOML end at 64 bits.

    A seed that is short stays the number it was.

    Examples
    --------
    >>> spell(7), spell(1 << 255)
    (7, '8000000000000000000000000000000000000000000000000000000000000000')
    """
    return f"{seed:0{BITS // 4}x}" if seed >= ENOUGH else seed


def parse(given: object) -> int:
    """Return the seed that a recipe gives, as text or as a number.

    Raises
    ------
    BadPlan
        If it is neither; the message does not repeat it.
    """
    if isinstance(given, str) and _DIGITS.fullmatch(given):
        return int(given, 16)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << BITS:
        return given
    raise BadPlan(
        f"The recipe's seed is neither a text of at most {BITS // 4} hexadecimal digits nor a "
        "whole number from 0 up.",
        remedy="Leave it out: a new secret is then drawn.",
    )


def refuse_guessable(seed: int, what: str) -> None:
    """Refuse to start chance from a seed that can be found by trying.

    Parameters
    ----------
    what : str
        What depends on chance, as the beginning of a sentence.

    Raises
    ------
    BadPlan
    """
    if not is_secret(seed):
        raise BadPlan(
            f"{what} depends on chance, and the recipe's seed is so short or so regular that it "
            "can be found by trying: the release could be undone from the published file alone.",
            remedy="Leave the seed out of the recipe: a new secret is then drawn.",
        )


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """Return the random numbers that a seed gives for one purpose.

    Numbers of different purposes say nothing of each other, nor of the seed: anyone who comes to
    know all that was drawn for one is no nearer to another.

    Parameters
    ----------
    *purpose : str
        What is drawn, and from what.
    """
    entropy = np.random.SeedSequence(int.from_bytes(key(seed, *purpose)))
    return np.random.Generator(np.random.Philox(entropy))


def key(seed: int, *purpose: str) -> bytes:
    """Return the 32 bytes that a seed gives for one purpose; see `stream`."""
    digest = hashlib.sha256(seed.to_bytes(BITS // 8))
    for part in purpose:
        digest.update(hashlib.sha256(part.encode()).digest())
    return digest.digest()
