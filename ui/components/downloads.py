"""The one door to files that are downloaded: each is made of values that were captured.

Streamlit makes a file when it is asked for, in a thread without a session: what a function reads of
the session there is empty, and no error says so. A function and its arguments are handed over here,
so that all it needs is read while the page is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, ParamSpec

import streamlit as st

_P = ParamSpec("_P")
Content = str | bytes


def later(
    make: Callable[_P, Content], *args: _P.args, **kwargs: _P.kwargs
) -> Callable[[], Content]:
    """Return what makes a file later, from values that are known now.

    Parameters
    ----------
    make : callable
        A function that reads nothing but its arguments, above all nothing of the session.
    *args, **kwargs
        What it is called with.
    """
    return partial(make, *args, **kwargs)


def download(
    label: str,
    content: Content | Callable[[], Content],
    *,
    file: str,
    mime: str | None = None,
    key: str,
    icon: str | None = None,
    help: str | None = None,
    disabled: bool = False,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Draw a button that downloads a file; the page stays as it is.

    Parameters
    ----------
    label : str
    content : str, bytes or callable
        The file, or what makes it when it is asked for; see `later`.
    file, mime : str
    key, icon, help, disabled, width
        As `streamlit.download_button` takes them.
    """
    st.download_button(
        label,
        content,
        file_name=file,
        mime=mime,
        key=key,
        icon=icon,
        help=help,
        disabled=disabled,
        width=width,
        on_click="ignore",
    )
