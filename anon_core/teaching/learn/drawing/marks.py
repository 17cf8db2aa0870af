"""SVG marks of lessons and their style sheet, in a light and a dark set of colours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from markupsafe import Markup, escape

from anon_core.teaching.learn.pictures import People, State, Tone

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


#: How a thing is → its sign; colour never is alone.
SIGNS: dict[Tone, str] = {
    "plain": "",
    "quiet": "·",
    "now": "◎",
    "good": "✓",
    "bad": "✗",
    **{letter: letter.upper() for letter in ("a", "b", "c", "d", "e", "f")},
}
#: State of a node → sign and word.
STATES: dict[State, tuple[str, str]] = {
    "open": ("", "not looked at"),
    "now": ("◎", "looked at now"),
    "holds": ("✓", "holds"),
    "fails": ("✗", "fails"),
    "must hold": ("(✓)", "must hold"),
    "must fail": ("(✗)", "must fail"),
    "pruned": ("⊘", "pruned"),
    "candidate": ("?", "candidate"),
    "chosen": ("★", "chosen"),
}


@dataclass(frozen=True, kw_only=True)
class View:
    """How pictures are looked at: who is followed, and what can be clicked.

    Attributes
    ----------
    chosen : int
        Row of the person who is followed; -1 for no one.
    picks : frozenset of str
        Ids of what can be clicked.
    """

    chosen: int = -1
    picks: frozenset[str] = frozenset()

    def marks(self, id: str, people: People = (), *classes: str) -> dict[str, str]:
        """Return what `element` says of a thing: its id, its classes, and what makes it a button.

        By its id a thing is followed from step to step.
        """
        named = [name for name in classes if name]
        if self.chosen in people:
            named.append("chosen")
        found: dict[str, str] = {"data_part": id}
        if id in self.picks:
            named.append("pick")
            found |= {"data_pick": id, "tabindex": "0", "role": "button"}
        return {"class_": " ".join(named), **found} if named else found

    def follows(self, people: People) -> bool:
        """Say whether the person who is followed is among some rows."""
        return self.chosen in people


def element(tag: str, *inside: Markup | str, **attributes: str | float | int) -> Markup:
    """Return an element; what is inside is escaped unless it is an element.

    A name's `_` becomes `-`, and one at its end is dropped: `class_`, `text_anchor`.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for name, value in attributes.items()
        if value != ""
    )
    return Markup(f"<{tag}{given}>") + Markup("").join(inside) + Markup(f"</{tag}>")


def _text(value: str | float | int) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def text(x: float, y: float, said: str, **attributes: str | float | int) -> Markup:
    """Return a text in a drawing."""
    return element("text", said, x=x, y=y, **attributes)


def svg(wide: float, high: float, said: str, *inside: Markup) -> Markup:
    """Return a drawing of so many pixels, with what is read aloud in its place."""
    return element(
        "svg",
        element("title", said),
        *inside,
        viewBox=f"0 0 {_text(float(wide))} {_text(float(high))}",
        role="group",
        aria_label=said,
        width=float(wide),
        height=float(high),
    )


def wide_of(said: str, size: float = 13) -> float:
    """Return about how wide a text is drawn, in pixels."""
    return len(said) * size * 0.58


def shortened(said: str, most: int = 16) -> str:
    """Return a text that fits."""
    return said if len(said) <= most else said[: most - 1] + "…"
