"""What hears the browser's events on the whole page, and is there once.

Where the theme changes, Streamlit puts such a component in again and does not take the old one
away: a click would be heard twice, and a switch pressed twice is where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_JS = """
export default function (component) {
  window.NAME?.();
  const stop = listen(component);
  const own = () => {
    if (window.NAME === own) delete window.NAME;
    stop();
  };
  window.NAME = own;
  return own;
}
"""


def listener(name: str, script: str) -> ComponentRenderer:
    """Return a component that shows nothing and of which the latest alone listens.

    Parameters
    ----------
    name : str
        A name in JavaScript, of this component alone.
    script : str
        JavaScript that defines ``listen``: given what Streamlit gives a component, it begins to
        listen, and returns what ends that.
    """
    return component(name, js=script + _JS.replace("NAME", name), html="<span></span>")
