"""Whose session it is: the person who logged in, and whether several people use this host.

The host's `.streamlit/secrets.toml` decides: with a table `[auth]` (OpenID Connect) no one works
without a login; with `shared = true` in `[hosting]` alone, several people work without one. On
one's own computer there is neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from ui import journal


@dataclass(frozen=True, kw_only=True)
class Person:
    """Someone who logged in.

    Attributes
    ----------
    issuer, subject : str
        Together they are the person: the provider, and its name for the person, which it never
        gives to another one (OpenID Connect Core 1.0, section 2).
    name, email : str
        To be read; empty where the provider does not tell, or where it calls an address
        unconfirmed.
    """

    issuer: str
    subject: str
    name: str = ""
    email: str = ""

    @property
    def key(self) -> str:
        """64 hexadecimal digits that represent the person, fit for the name of a folder."""
        return hashlib.sha256(f"{self.issuer}\n{self.subject}".encode()).hexdigest()

    @property
    def shown(self) -> str:
        """Name and address for a reader, or what the provider calls the person."""
        if self.name and self.email:
            return f"{self.name} ({self.email})"
        return self.email or self.name or self.subject


def needs_login() -> bool:
    """Return whether no one works here without a login."""
    return bool(_secrets("auth"))


def is_shared() -> bool:
    """Return whether several people use this host, with logins or without."""
    return needs_login() or _secrets("hosting").get("shared") is True


def person() -> Person | None:
    """Return who logged in; None without logins, and where no one did."""
    if not needs_login():
        return None
    claims = cast(Mapping[str, Any], st.user)
    issuer, subject = _text(claims, "iss"), _text(claims, "sub")
    if claims.get("is_logged_in") is not True or not issuer or not subject:
        return None
    confirmed = claims.get("email_verified") in (None, True, "true")
    return Person(
        issuer=issuer,
        subject=subject,
        name=_text(claims, "name"),
        email=_text(claims, "email") if confirmed else "",
    )


def providers() -> tuple[str, ...]:
    """Return the names under which the host knows its providers; empty for an only, unnamed one."""
    auth = _secrets("auth")
    named = tuple(str(name) for name, table in auth.items() if isinstance(table, Mapping))
    named = tuple(name for name in named if name != "client_kwargs")
    return named or ("",)


def hosting() -> Mapping[str, Any]:
    """Return what the host's `[hosting]` says; empty on one's own computer."""
    return _secrets("hosting")


def note_what_happens() -> None:
    """Let this session's journal begin, where the host keeps one."""
    one = person()
    who = "" if one is None else one.key
    salt = str(_secrets("auth").get("cookie_secret", ""))
    journal.begin(hosting(), shared=is_shared(), who=who, salt=salt)


def _text(claims: Mapping[str, Any], claim: str) -> str:
    value = claims.get(claim)
    return value.strip() if isinstance(value, str) else ""


def _secrets(table: str) -> Mapping[str, Any]:
    if not st.secrets.load_if_toml_exists() or table not in st.secrets:
        return {}
    found = cast(object, st.secrets[table])
    return cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}
