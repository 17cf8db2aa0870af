"""An editor drawn by the browser: what it is made of, and how its edits reach Python.

The rules of what is edited live in Python; the browser draws, and asks for edits. A Streamlit
component takes its code as one text, so the files are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st
from streamlit.components.v2 import component

from ui.components.guard import handled

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, kw_only=True)
class Editor:
    """A component of the pages.

    Attributes
    ----------
    name : str
        Its folder, and the class of its outermost element.
    scripts : tuple of str
        Its files in this order; what a file defines, the later ones use.
    panel : str
        The panel of the page that shows what goes wrong with an edit.
    """

    name: str
    scripts: tuple[str, ...]
    panel: str = "Builder"

    def script(self) -> str:
        """Return its code."""
        return _joined("shared/element.js", *(f"{self.name}/{file}" for file in self.scripts))

    def style(self) -> str:
        """Return its style sheet."""
        return _joined("shared/editor.css", f"{self.name}/{self.name}.css")

    def draw(
        self, message: Mapping[str, Any], *, key: str, edited: Callable[[Mapping[str, Any]], None]
    ) -> None:
        """Draw it.

        Parameters
        ----------
        message : mapping
            What the browser draws, as plain values.
        key : str
        edited : callable
            Gets each edit as plain values, before the page is drawn again.
        """

        @handled(self.panel)
        def take_edit() -> None:
            asked = st.session_state[key].get("edit")
            if isinstance(asked, Mapping):
                edited(cast(Mapping[str, Any], asked))

        self._drawn(key=key, data=dict(message), on_edit_change=take_edit)

    @cached_property
    def _drawn(self) -> ComponentRenderer:
        return component(f"workbench_{self.name}", js=self.script(), css=self.style())


def _joined(*files: str) -> str:
    return "\n".join((_HERE / file).read_text(encoding="utf-8") for file in files)
