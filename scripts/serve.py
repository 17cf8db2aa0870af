"""Start the dashboard on the wanted port, or on the next one that is free."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
TRIES = 100


def taken(port: int) -> bool:
    """Tell whether something answers on `port` of this machine."""
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


def main() -> None:
    """Become the Streamlit server; it prints its address once it listens."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else "8501"
    if not wanted.isdecimal() or not 1 <= int(wanted) <= 65535:
        sys.exit(f"PORT must be a number from 1 to 65535, got {wanted!r}.")
    ports = range(int(wanted), min(int(wanted) + TRIES, 65536))
    port = next((port for port in ports if not taken(port)), None)
    if port is None:
        sys.exit(f"Ports {ports[0]} to {ports[-1]} are all taken; choose another with PORT=.")
    if port != int(wanted):
        print(f"Port {wanted} is taken; using {port}.", flush=True)
    os.chdir(CHECKOUT)
    server = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    os.execv(sys.executable, server)


if __name__ == "__main__":
    main()
