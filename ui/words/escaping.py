"""Words: names made harmless, and what each technique is."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Protocol

import streamlit as st

from anon_core.base.terms import few

if TYPE_CHECKING:
    from anon_core.teaching.learn.lesson import Lesson

#: Settings that a drawer names; of more it says how many.
_NAMED = 2
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=\"'])")
# After parsing, texts are searched once more for emoji shortcodes, icons, links and addresses;
# an invisible word joiner keeps them from being found.
_JOINER = "\u2060"
_DOI = re.compile(r"doi (10\.\d{4,}/[\w./-]*\w)")
#: Between a number and its per cent sign no line ends.
_UNIT = re.compile(r"(?<=\d) (?=%)")
_FOUND_LATER = re.compile(r":(?=[\w+/-]+:)|:(?=//)|(?<=www)(?=\.)|@", re.IGNORECASE)


def linked(text: str) -> str:
    """Return text as `plain` does, with every DOI in it as a link.

    Examples
    --------
    >>> print(linked("See doi 10.1109/69.971193."))
    See [doi 10.1109/69.971193](https://doi.org/10.1109/69.971193)\\.
    """
    parts = _DOI.split(text)
    texts = [
        f"{' ' * part[:1].isspace()}{plain(part)}{' ' * part[-1:].isspace()}" for part in parts
    ]
    texts[1::2] = [f"[doi {doi}](https://doi.org/{doi})" for doi in parts[1::2]]
    return "".join(texts)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; the rest is for a tooltip.

    Examples
    --------
    >>> first_sentence("Links are cut. Values stay.")
    'Links are cut.'
    >>> first_sentence("Links are cut.")
    'Links are cut.'
    """
    first, ends, _ = text.partition(". ")
    return f"{first}." if ends else first


def plain(text: str) -> str:
    """Return `text` so that Streamlit's markdown shows it letter by letter.

    Column names and values come from a file: nothing in them may become a link, a heading, an
    icon, a formula or HTML. Line breaks become blanks; no line ends before a per cent sign.
    """
    shown = _FOUND_LATER.sub(lambda found: found.group() + _JOINER, " ".join(text.split()))
    return _MARKS.sub(r"\\\1", _UNIT.sub("\u00a0", shown))


class Explained(Protocol):
    """What has a title, a summary, and perhaps a formula and a source."""

    title: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]


def what_is_this(technique: type[Explained]) -> None:
    """Draw a small "What is this?": the summary, and one click deeper its formula and source."""
    with st.popover("What is this?", icon=":material/help:", type="tertiary"):
        explained(technique)


def explained(technique: type[Explained]) -> None:
    """Draw what a technique is; its formula and source are one click deeper."""
    # In one piece: a page explains thirty techniques, each of which would be five elements.
    deeper = "".join(
        f"<{tag}>{html.escape(text)}</{tag}>"
        for tag, text in (("pre", technique.formula), ("p", technique.source))
        if text
    )
    fold = f"<details><summary>Formula and source</summary>{deeper}</details>"
    st.html(
        f'<div class="aw-explained"><b>{html.escape(technique.title)}</b>'
        f"<p>{html.escape(technique.summary)}</p>{fold if deeper else ''}</div>"
    )
    from anon_core.teaching.learn.lesson import lesson_about  # a second that Start does without

    lesson = lesson_about(getattr(technique, "name", ""))
    if lesson is not None:
        lesson_link(lesson)


def lesson_link(lesson: Lesson) -> None:
    """Draw the way to a lesson."""
    st.page_link(
        "pages/8_Learn.py",
        label=f"Lesson: {plain(lesson.title)}",
        icon=":material/school:",
        query_params={"lesson": lesson.name},
    )


def changed(names: Iterable[str], *, usual: str = "as usual") -> str:
    """Return what is on a drawer behind its name: which of its settings differ, or none.

    Parameters
    ----------
    names : iterable of str
        Of the settings that differ from their default.
    usual : str
        What is said where none does.
    """
    names_once = list(dict.fromkeys(names))
    if not names_once:
        return usual
    return f"{len(names_once)} changed: {plain(few(names_once, _NAMED))}"
