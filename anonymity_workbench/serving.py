"""Serve the dashboard on the wanted port, or on the next one that is free."""

from __future__ import annotations

import argparse
import os
import socket
import sys

from anon_core.__main__ import Command
from anon_core.base.errors import BadInput
from anon_core.base.installation import shipped
from anon_core.cli.output import OK

TRIES = 100


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a number from 1 to 65535 is needed, not {text!r}")
    return int(text)


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=_port, default=8501, help="port of this machine (default 8501)"
    )
    parser.set_defaults(command=_serve)


def taken(port: int) -> bool:
    """Tell whether something answers on `port` of this machine."""
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


def _serve(options: argparse.Namespace) -> int:
    """Be the Streamlit server; it prints its address once it listens."""
    wanted: int = options.port
    ports = range(wanted, min(wanted + TRIES, 65536))
    port = next((port for port in ports if not taken(port)), None)
    if port is None:
        raise BadInput(
            f"Ports {ports[0]} to {ports[-1]} are all taken.", remedy="Choose another one."
        )
    if port != wanted:
        sys.stdout.write(f"Port {wanted} is taken; using {port}.\n")
        sys.stdout.flush()
    home = shipped()
    os.chdir(home)  # Streamlit finds its settings in the folder that it is started in
    sys.path.insert(0, str(home))
    # Before the server listens: a stranger's socket may come before the first page is drawn.
    from ui import this_machine

    this_machine.stay()
    from streamlit.web import cli

    sys.argv = ["streamlit", "run", "app.py", "--server.port", str(port)]
    cli.main(prog_name="streamlit")
    return OK


SERVE = Command(
    name="serve",
    help="serve the dashboard and print its address; what is done without a command",
    declare=_declare,
)
