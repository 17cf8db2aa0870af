"""Keep the server from asking the network for its own address."""

from __future__ import annotations

from streamlit import net_util


def stay() -> None:
    """Let Streamlit find no address of this machine but localhost.

    When a WebSocket comes from another origin, Streamlit also compares that origin with the
    machine's addresses, and asks a service on the internet for the outer one. No option turns that
    off. The dashboard listens on localhost alone, so that neither address can be its own: without
    them the origin is refused as before, and nothing leaves.
    """
    net_util.get_external_ip = _none
    net_util.get_internal_ip = _none


def _none() -> None:
    return None
