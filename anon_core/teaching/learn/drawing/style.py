"""The style sheet of lessons, in a light and a dark set of colours."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

#: Name → (light, dark); each reaches a contrast of 4.5:1 as text on its page.
_COLOURS = {
    "ink": ("#0F1720", "#E6EAEE"),
    "muted": ("#4B5563", "#A9B4C0"),
    "page": ("#FFFFFF", "#14181D"),
    "soft": ("#F2F5F8", "#1E252D"),
    "grid": ("#D5DBE1", "#39424D"),
    "now": ("#0072B2", "#56B4E9"),
    "good": ("#1B6B3A", "#6FCF97"),
    "bad": ("#B3261E", "#FF8A80"),
    "a": ("#00795A", "#3CBF99"),
    "b": ("#9A5F00", "#E69F00"),
    "c": ("#5B4FC4", "#A79BF2"),
    "d": ("#B0304F", "#FF8FA3"),
    "e": ("#1F6FB2", "#7FB3F5"),
    "f": ("#666600", "#C9C95A"),
    "identifier": ("#B84A00", "#F0A868"),
    "quasi": ("#0072B2", "#56B4E9"),
    "sensitive": ("#AA3377", "#E58BBB"),
}


@cache
def style(theme: Literal["light", "dark", "system"]) -> str:
    """Return the style sheet for one theme; `system` follows that of anyone who reads."""
    rules = (Path(__file__).parent / "lesson.css").read_text(encoding="utf-8")
    light, dark = (_set(place) for place in (0, 1))
    if theme == "system":
        return f"{light}@media screen and (prefers-color-scheme: dark) {{{dark}}}\n{rules}"
    return f"{dark if theme == 'dark' else light}{rules}"


def _set(place: int) -> str:
    named = "".join(f"--l-{name}: {both[place]};" for name, both in _COLOURS.items())
    return f".lesson {{{named}}}\n"
