"""A running dashboard and a browser that sees it, and nothing but it.

A test asks for `page`; `app_url` is where the dashboard listens. To see the dark theme or
another window, override a fixture: ``@pytest.mark.parametrize("colour_scheme", ["dark"])``.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from anon_core.data.samples.adult import adult_path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
SCREENSHOTS = CHECKOUT / "test-results"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever is not this machine has no address, so that no test can reach out by mistake.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
#: Nothing moves by itself: a frame is drawn for each moment of what pulses or fades.
STILL = """
const still = new CSSStyleSheet();
still.replaceSync(
  "*, *::before, *::after {animation: none !important; transition: none !important}");
document.adoptedStyleSheets.push(still);
"""
START_SECONDS = 60
_failed = pytest.StashKey[bool]()
# What is waited for comes within a second on a machine that does nothing else; some do much else.
expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as a browser test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Remember a failure, for the screenshot that `page` takes when it closes."""
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report


@contextmanager
def served(home: Path, *, port: int = 0) -> Iterator[str]:
    """Start the dashboard with a home of its own, yield its address, and end it."""
    sample = adult_path()
    environment = os.environ | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "ANONYMITY_WORKBENCH_CACHE": str(sample.parent if sample else home / "cache"),
    }
    port = port or free_port()
    command = [sys.executable, "-m", "anonymity_workbench", "serve", "--port", str(port)]
    log = home / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://localhost:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _healthy(url):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the dashboard did not start:\n{log.read_text()}", pytrace=False)
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the dashboard with a home of its own, and return its address."""
    with served(tmp_path_factory.mktemp("home")) as url:
        yield url


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start Chromium: the one named in CHROMIUM, or one found on the path."""
    names = (os.environ.get("CHROMIUM"), *CHROMIUM_NAMES)
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("no Chromium found; name one in CHROMIUM or run `make test`", pytrace=False)
    home = str(tmp_path_factory.mktemp("browser"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path,
            args=list(CHROMIUM_ARGUMENTS),
            env={**os.environ, "HOME": home},
        )
        yield chromium
        chromium.close()


@pytest.fixture
def colour_scheme() -> str:
    """Return what the system prefers: light or dark."""
    return "light"


@pytest.fixture
def viewport() -> tuple[int, int]:
    """Return the window's width and height in pixels."""
    return 1360, 900


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    browser: Browser,
    app_url: str,
    colour_scheme: str,
    viewport: tuple[int, int],
) -> Iterator[Page]:
    """Open an empty tab; `page.goto("/")` is the dashboard's start.

    `page.requests_seen` and `page.console_errors` fill as the test goes. Afterwards the test
    fails if a request left this machine or the browser's console showed an error; a test
    that provokes an error takes it out of the list.
    """
    width, height = viewport
    context = browser.new_context(
        base_url=app_url,
        color_scheme=colour_scheme,
        viewport={"width": width, "height": height},
        accept_downloads=True,
    )
    context.add_init_script(STILL)
    tab = context.new_page()
    requests_seen: list[str] = []
    console_errors: list[str] = []
    tab.requests_seen = requests_seen
    tab.console_errors = console_errors

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not _asks_below_its_page(message):
            console_errors.append(message.text)

    context.on("request", lambda sent: requests_seen.append(sent.url))
    tab.on("websocket", lambda opened: requests_seen.append(opened.url))
    tab.on("console", note)
    tab.on("pageerror", lambda error: console_errors.append(str(error)))
    yield tab
    outside = [url for url in requests_seen if not _local(url)]
    if request.node.stash.get(_failed, False) or outside or console_errors:
        SCREENSHOTS.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", request.node.name)
        with suppress(PlaywrightError):  # a tab that crashed has nothing to show
            tab.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    context.close()
    assert not outside, f"requests left this machine: {outside}"
    assert not console_errors, f"the browser's console shows errors: {console_errors}"


def _asks_below_its_page(message: ConsoleMessage) -> bool:
    """Whether Streamlit, on a page's address, asked for its server below it before the root.

    It does so when a page is opened by its address and when a connection ends, which may be seen
    or not as a tab is left.
    """
    path = urlsplit(message.location["url"]).path
    return "404" in message.text and re.fullmatch(r"/\w+/_stcore/[\w-]+", path) is not None


def _local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname in LOCAL_HOSTS
