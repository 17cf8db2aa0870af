"""Two people log in on one host: neither sees anything of the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.browser import carry_out, go, wait_for_app
from tests.e2e.conftest import STILL, free_port, served
from tests.e2e.provider import CLIENT, SECRET, Provider, provided
from tests.e2e.test_access import note, nothing_broken
from tests.e2e.test_walk import pin

PEOPLE = {
    "1": {"name": "Ana Alba", "email": "ana@clinic.test", "email_verified": True},
    "2": {"name": "Ben Bode", "email": "ben@clinic.test", "email_verified": True},
}
#: What must not be seen by the other: the title, a column and a value of the table.
TABLE = "anas_table.csv"
CELL = "Xanthogranuloma"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with provided(PEOPLE) as found:
        yield found


@pytest.fixture(scope="module")
def home(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("host")


@pytest.fixture(scope="module")
def host(provider: Provider, home: Path) -> Iterator[str]:
    port = free_port()
    (home / ".streamlit").mkdir()
    (home / ".streamlit" / "secrets.toml").write_text(
        f"""
        [auth]
        redirect_uri = "http://localhost:{port}/oauth2callback"
        cookie_secret = "a-secret-that-only-this-test-has"
        client_id = "{CLIENT}"
        client_secret = "{SECRET}"
        server_metadata_url = "{provider.issuer}/.well-known/openid-configuration"
        """
    )
    with served(home, port=port) as url:
        yield url


def log_in(browser: Browser, url: str, name: str) -> Page:
    """Log in as one of the people, in a browser of their own."""
    context: BrowserContext = browser.new_context(
        base_url=url, viewport={"width": 1360, "height": 900}, accept_downloads=True
    )
    context.add_init_script(STILL)
    page = context.new_page()
    page.goto("/")
    wait_for_app(page, seconds=60)
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page.get_by_text("Try a sample")).to_have_count(0)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name=name).click()
    expect(page.get_by_text("Logged in as")).to_contain_text(name, timeout=30_000)
    wait_for_app(page)
    return page


def test_neither_sees_anything_of_the_other(browser: Browser, host: str, home: Path) -> None:
    ana = log_in(browser, host, "Ana Alba")
    rows = "".join(f"{20 + i % 3},{CELL if i % 2 else 'Flu'}\n" for i in range(24))
    table = {"name": TABLE, "mimeType": "text/csv", "buffer": f"age,illness\n{rows}".encode()}
    ana.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(table)
    expect(ana.get_by_test_id("stSidebar")).to_contain_text(TABLE, timeout=30_000)
    wait_for_app(ana)
    ana.locator(".st-key-card-toth-private").get_by_role("button").first.click()
    expect(ana.get_by_test_id("stSidebar")).not_to_contain_text(TABLE, timeout=30_000)
    wait_for_app(ana)
    carry_out(ana)
    pin(ana, "A")

    ben = log_in(browser, host, "Ben Bode")
    expect(ben.get_by_test_id("stSidebar")).to_contain_text("No table yet")
    expect(ben.get_by_test_id("stSidebar")).not_to_contain_text("Pinned")
    nothing = "There is no table yet"
    for path, case in (("Data", nothing), ("Results", nothing), ("Compare", "No run is pinned")):
        ben.goto(f"/{path}")
        wait_for_app(ben)
        expect(ben.get_by_test_id("stMain")).to_contain_text(case)
    # The address of a session finds nothing for anybody else.
    assert "session=" in ana.url
    ben.goto(f"/Results?{ana.url.split('?')[1]}")
    wait_for_app(ben)
    expect(ben.get_by_test_id("stMain")).to_contain_text(nothing)
    ben.goto("/")
    wait_for_app(ben)
    expect(ben.get_by_text("Continue a session")).to_have_count(0)
    expect(ben.get_by_role("button", name="Restore the previous table")).to_have_count(0)

    # Ana still has what she had, also what was replaced; what she had is gone when she logs out.
    go(ana, "Start", title="Anonymity Workbench")
    ana.get_by_role("button", name="Restore the previous table").click()
    expect(ana.get_by_test_id("stSidebar")).to_contain_text(TABLE, timeout=30_000)
    go(ana, "Data")
    expect(ana.get_by_test_id("stMain")).to_contain_text(CELL)
    ana.get_by_role("button", name="Log out").click()
    expect(ana.get_by_role("button", name="Log in")).to_be_visible(timeout=30_000)
    expect(ana.locator("body")).not_to_contain_text(CELL)
    ana.goto("/Data")
    wait_for_app(ana)
    expect(ana.get_by_role("button", name="Log in")).to_be_visible()
    expect(ana.get_by_test_id("stMain")).not_to_contain_text("There is no table")

    # Another person on the same browser begins with nothing.
    ana.get_by_role("button", name="Log in").click()
    ana.get_by_role("link", name="Ben Bode").click()
    expect(ana.get_by_text("Logged in as")).to_contain_text("Ben Bode", timeout=30_000)
    expect(ana.get_by_test_id("stSidebar")).to_contain_text("No table yet")
    ana.context.close()
    ben.context.close()

    # What the server wrote, Streamlit's own lines among it, tells what happened and no value.
    written = (home / "server.log").read_text()
    case = [json.loads(line) for line in written.splitlines() if line.startswith('{"time"')]
    assert {"session", "open", "work", "log out"} <= {one["event"] for one in case}
    assert len({one["who"] for one in case}) == 2
    assert not [text for text in (CELL, TABLE, "illness", "Alba", "clinic") if text in written]


@pytest.mark.long
def test_the_login_page_can_be_used_by_everyone(browser: Browser, host: str) -> None:
    found: dict[str, Any] = {"broken": {}, "known": set()}
    for scheme in ("light", "dark"):
        context = browser.new_context(base_url=host, color_scheme=scheme)
        page = context.new_page()
        page.goto("/")
        wait_for_app(page, seconds=60)
        for width in (1360, 800):
            page.set_viewport_size({"width": width, "height": 900})
            wait_for_app(page)
            note(page, (width, scheme), found)
        context.close()
    nothing_broken(found)
