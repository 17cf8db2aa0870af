"""Texts under a secret key: HMAC-SHA-256 of fields whose lengths are before them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import unicodedata

from anon_core.base.errors import BadPlan

KEY_BYTES = 32
_DIGITS = re.compile("[0-9a-fA-F]*")


def parse_key(given: str) -> bytes:
    """Return the key that 64 hexadecimal digits write.

    HMAC pads a short key with zeros and hashes a long one, so that different keys can act alike;
    one of exactly 32 bytes represents itself.

    Raises
    ------
    BadPlan
        If they are not 64; the message does not repeat them.
    """
    text = given.strip()
    digits = sum(c in "0123456789abcdefABCDEF" for c in text)
    if _DIGITS.fullmatch(text) and len(text) == 2 * KEY_BYTES:
        return bytes.fromhex(text)
    raise BadPlan(
        f"The secret key has {digits} of {2 * KEY_BYTES} hexadecimal digits"
        + (f" and {len(text) - digits} other characters." if len(text) > digits else "."),
        remedy="Give 32 random bytes as 64 hexadecimal digits, for example those that "
        "`openssl rand -hex 32` prints, and keep them away from the release.",
    )


def message(*fields: str) -> bytes:
    """Return fields one after the other, each behind its length in four bytes.

    Examples
    --------
    >>> message("a", "bc") == message("ab", "c")
    False
    """
    parts = [field.encode("utf-8", "surrogatepass") for field in fields]
    return b"".join(len(part).to_bytes(4) + part for part in parts)


def keyed(key: bytes, told: bytes) -> bytes:
    """Return the 32 bytes of HMAC-SHA-256.

    Raises
    ------
    BadPlan
        If the key has other than 32 bytes.
    """
    if len(key) != KEY_BYTES:
        raise BadPlan(
            f"The secret key has {2 * len(key)} of {2 * KEY_BYTES} hexadecimal digits."
            if key
            else "A change asks for a secret key, and none was given.",
            remedy="Give 32 random bytes as 64 hexadecimal digits: with --key-file, or in the "
            "field for the key on Run. It is never stored.",
        )
    return hmac.new(key, told, hashlib.sha256).digest()


def normalised(text: str, *, fold: bool = False) -> str:
    """Return a text in NFC with runs of white space as one blank, none at its ends.

    Letters are made small only where that is asked for: two names may differ in nothing else.
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return unicodedata.normalize("NFC", plain.casefold()) if fold else plain


def pseudonym(key: bytes, domain: str, text: str, *, bits: int = 80, fold: bool = False) -> str:
    """Return a value's pseudonym: the first bits of its HMAC in base32, small letters."""
    told = keyed(key, message("pseudonym/1", domain, normalised(text, fold=fold)))
    return base64.b32encode(told).decode("ascii").lower()[: bits // 5]


def offset(key: bytes, domain: str, person: str, days: int, *, weeks: bool = False) -> int:
    """Return the days by which a person's dates are shifted: uniform from −days to days.

    In whole weeks they are the multiples of 7 in that range. Numbers that would make some offsets
    likelier than others are drawn again, under the next counter.
    """
    step = 7 if weeks else 1
    most = days // step
    size = 2 * most + 1
    told = message("date-shift/1", domain, person)
    for counter in range(1 << 32):
        drawn = int.from_bytes(keyed(key, told + counter.to_bytes(4))[:8])
        if drawn < (1 << 64) // size * size:
            return step * (drawn % size - most)
    raise AssertionError("2**32 numbers in a row were too large")
