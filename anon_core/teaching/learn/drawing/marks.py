"""Elements of HTML and SVG as escaped text, and what can be said of any of them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from anon_core.teaching.learn.pictures import People, State, Tone

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
        """Return what `element` says of a thing: its classes, and what makes it a button."""
        named = [name for name in classes if name]
        if self.chosen in people:
            named.append("chosen")
        found: dict[str, str] = {}
        if id in self.picks:
            named.append("pick")
            found = {"data_pick": id, "tabindex": "0", "role": "button"}
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
