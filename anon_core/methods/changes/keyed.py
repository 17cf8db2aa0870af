"""Texts under a secret key: HMAC-SHA-256 of fields whose lengths are before them, and FF1."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anon_core.base.errors import AnonError, BadInput, BadPlan

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


def keyed(key: bytes, text: bytes) -> bytes:
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
    return hmac.new(key, text, hashlib.sha256).digest()


def normalised(text: str, *, fold: bool = False) -> str:
    """Return a text in NFC with runs of white space as one blank, none at its ends.

    Letters are made small only where that is asked for: two names may differ in nothing else.
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return unicodedata.normalize("NFC", plain.casefold()) if fold else plain


def pseudonym(key: bytes, domain: str, text: str, *, bits: int = 80, fold: bool = False) -> str:
    """Return a value's pseudonym: the first bits of its HMAC in base32, small letters."""
    code = keyed(key, message("pseudonym/1", domain, normalised(text, fold=fold)))
    return base64.b32encode(code).decode("ascii").lower()[: bits // 5]


def offset(key: bytes, domain: str, person: str, days: int, *, weeks: bool = False) -> int:
    """Return the days by which a person's dates are shifted: uniform from −days to days.

    In whole weeks they are the multiples of 7 in that range. Numbers that would make some offsets
    likelier than others are drawn again, under the next counter.
    """
    step = 7 if weeks else 1
    most = days // step
    size = 2 * most + 1
    content = message("date-shift/1", domain, person)
    for counter in range(1 << 32):
        drawn = int.from_bytes(keyed(key, content + counter.to_bytes(4))[:8])
        if drawn < (1 << 64) // size * size:
            return step * (drawn % size - most)
    raise AssertionError("2**32 numbers in a row were too large")


# Codes that look like the values: format-preserving encryption.


#: What represents other signs of the same kind, by its name.
ALPHABETS: Mapping[str, str] = {
    "digits": string.digits,
    "small": string.digits + string.ascii_lowercase,
    "capital": string.digits + string.ascii_uppercase,
}
#: Values of one form that there are at least (NIST SP 800-38G, revision 1).
LEAST_FORMS = 1_000_000
#: What the optional part of the installation is called.
EXTRA = "ff1"


def refuse_small(texts: Sequence[str], column: str, alphabet: str) -> None:
    """Refuse values that FF1 cannot hide: few of their form, or signs that it would leave.

    Raises
    ------
    BadInput
    """
    signs = ALPHABETS[alphabet]
    others = [t for t in texts if any(c.isalnum() and c not in signs for c in t)]
    if others:
        raise BadInput(
            f"Values of '{column}' with letters or digits beyond the alphabet '{alphabet}': "
            f"{len(others):,}. They would be published as they are.",
            remedy="Choose another alphabet, ignore case, or publish codes.",
            values=others[:5],
        )
    least = next(n for n in range(1, 7) if len(signs) ** n >= LEAST_FORMS)
    short = [t for t in texts if sum(c in signs for c in t) < least]
    if short:
        raise BadInput(
            f"Values of '{column}' with fewer than 10^6 of their form, {least} signs of the "
            f"alphabet '{alphabet}': {len(short):,}. So few are tried one by one.",
            remedy="Publish codes, which may have any value.",
            values=short[:5],
        )


def same_form(key: bytes, domain: str, alphabet: str) -> Callable[[str], str]:
    """Return what gives a value another of its form: FF1 of AES-256 (NIST SP 800-38G).

    Signs of the alphabet change, others keep their places. The domain is the tweak, in UTF-8:
    anyone who has the key decrypts with it.

    Raises
    ------
    AnonError
        If the library is not installed.
    """
    keyed(key, b"")  # the same words for a key that is missing
    signs = ALPHABETS[alphabet]
    tweak = domain.encode("utf-8", "surrogatepass")
    cipher = ff1(key, signs)

    def encrypted(text: str) -> str:
        new = iter(cipher.encrypt("".join(c for c in text if c in signs), tweak=tweak))
        return "".join(next(new) if c in signs else c for c in text)

    return encrypted


def ff1(key: bytes, alphabet: str) -> Any:
    """Return the library's cipher over an alphabet; it refuses what has fewer than 10^6 values.

    Raises
    ------
    AnonError
        If it is not installed.
    """
    try:
        from ffx import FF1
    except ImportError as error:
        raise AnonError(
            "Codes of the same form need the library libffx, and it is not installed.",
            remedy=f"Install the extra '{EXTRA}': pip install 'anonymity-workbench[{EXTRA}]'.",
        ) from error
    return FF1(key, alphabet=alphabet)
