"""Anyone who knocks on a server's door, the server itself calls nobody."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
#: Read by every Python at its start: notes who would be called, and lets no call through.
WATCH = """
import os, sys
_HERE = {"localhost", "127.0.0.1", "::1", "", None, "0.0.0.0", "::"}

def _watch(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = given[0]
    elif event in ("socket.connect", "socket.sendto"):
        host = given[1][0] if isinstance(given[1], tuple) else None
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _HERE:
        with open(os.environ["CALLED"], "a", encoding="utf-8") as file:
            file.write(f"{event} {host}\\n")
        raise OSError("nobody may be called")

sys.addaudithook(_watch)
"""
SERVE = ("-m", "anonymity_workbench", "serve", "--port")
STREAMLIT = ("-m", "streamlit", "run", "app.py", "--server.port")


class Watched:
    """A server, or any Python, whose calls are noted."""

    def __init__(self, folder: Path) -> None:
        (folder / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
        self.calls = folder / "calls.txt"
        self.port = 0
        self.environment = os.environ | {
            "PYTHONPATH": str(folder),
            "CALLED": str(self.calls),
            "HOME": str(folder),
        }

    def called(self) -> list[str]:
        """Return whom it tried to call."""
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    @contextmanager
    def serving(self, command: tuple[str, ...]) -> Iterator[None]:
        """Serve the dashboard while the block runs."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, *command, str(self.port)],
            cwd=CHECKOUT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 60
            while self.asked("/_stcore/health") != 200:
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server did not start"
                time.sleep(0.05)
            yield
        finally:
            server.terminate()
            server.wait(timeout=20)

    def asked(self, path: str, **headers: str) -> int:
        """Return the status that the server answers a plain request with; 0 where it is silent."""
        lines = {"Host": f"localhost:{self.port}", "Connection": "close"} | headers
        sentence = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in lines.items())
        try:
            with socket.create_connection(("localhost", self.port), timeout=20) as line:
                line.sendall(f"GET {path} HTTP/1.1\r\n{sentence}\r\n".encode())
                first = line.recv(4096).split(b"\r\n")[0].split()
        except OSError:
            return 0
        return int(first[1]) if len(first) > 1 else 0

    def knocked(self, **headers: str) -> int:
        """Return the status of an attempt to open the page's WebSocket."""
        return self.asked(
            "/_stcore/stream",
            **{
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec_WebSocket_Version": "13",
                "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec_WebSocket_Protocol": "streamlit",
            }
            | headers,
        )


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_whoever_knocks_the_server_calls_nobody(watched: Watched) -> None:
    with watched.serving(SERVE):
        assert watched.knocked(Origin=f"http://localhost:{watched.port}") == 101
        for origin in ("https://elsewhere.example", "http://192.0.2.7:8501", "null"):
            assert watched.knocked(Origin=origin) == 403
        # A name of somebody else's that points to this machine: page and socket agree on it.
        theirs = f"elsewhere.example:{watched.port}"
        assert watched.knocked(Host=theirs, Origin=f"http://{theirs}") == 403
        for path in ("/", "/_stcore/health", "/_stcore/host-config", "/Run", "/robots.txt"):
            assert watched.asked(path) == 200
            watched.asked(path, Host=theirs, Origin="https://elsewhere.example")
    assert watched.called() == []


def test_the_watch_sees_what_streamlit_does_by_itself(watched: Watched) -> None:
    with watched.serving(STREAMLIT):
        assert watched.knocked(Origin="https://elsewhere.example") == 403
    called = watched.called()
    assert any("amazonaws" in line for line in called), called


def test_a_page_drawn_under_plain_streamlit_stops_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from streamlit import net_util
    from streamlit.testing.v1 import AppTest
    from streamlit.web.server import server_util

    def outside() -> str:
        raise AssertionError("asked for its own address")

    monkeypatch.setattr(net_util, "get_external_ip", outside)
    monkeypatch.setattr(net_util, "get_internal_ip", outside)
    AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=30).run()
    assert not server_util.is_url_from_allowed_origins("https://elsewhere.example")
    assert server_util.is_url_from_allowed_origins("http://localhost:8501")
