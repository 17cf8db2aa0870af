"""The wheel holds all that the workbench needs, and runs where nothing of the checkout is."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hatchling.build import build_wheel
from packaging.requirements import Requirement

from anon_core import VERSION

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
#: Folders of the checkout, and where their files lie in the wheel.
PACKED = {
    "anon_core": "anon_core",
    "anonymity_workbench": "anonymity_workbench",
    "pages": "anonymity_workbench/pages",
    "ui": "anonymity_workbench/ui",
    "hierarchies": "anonymity_workbench/hierarchies",
    ".streamlit": "anonymity_workbench/.streamlit",
}
NOT_PACKED = {"__pycache__", "secrets.toml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of the checkout, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(CHECKOUT)
        return folder / build_wheel(str(folder))


def test_the_wheel_holds_the_checkout_and_nothing_else(wheel: Path) -> None:
    expected = {"anonymity_workbench/app.py"}
    for folder, packed in PACKED.items():
        for path in (CHECKOUT / folder).rglob("*"):
            if path.is_file() and not NOT_PACKED.intersection(path.parts):
                expected.add(f"{packed}/{path.relative_to(CHECKOUT / folder).as_posix()}")
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == expected
    for name in ("components/tree/view.js", "components/cuts/cuts.css"):
        assert f"anonymity_workbench/ui/{name}" in found


def test_the_wheel_is_of_this_version(wheel: Path) -> None:
    assert wheel.name == f"anonymity_workbench-{VERSION}-py3-none-any.whl"


def test_the_tested_versions_are_among_those_that_an_installation_takes() -> None:
    lines = (CHECKOUT / "requirements.txt").read_text().splitlines()
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)$", "\n".join(lines), flags=re.MULTILINE))
    taken = {found.name: found for found in map(Requirement, PROJECT["dependencies"])}
    assert set(taken) == set(tested)
    for name, requirement in taken.items():
        assert requirement.specifier.contains(tested[name]), name


class Installed:
    """An environment that has the wheel, what it depends on, and nothing of the checkout."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder / "elsewhere"
        self.folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        self.python = folder / "env" / "bin" / "python"
        self.program = folder / "env" / "bin" / "anonymity-workbench"
        install = [sys.executable, "-m", "pip", "--python", str(self.python), "install"]
        install += ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
        subprocess.run(install, check=True, capture_output=True)
        (packages,) = (folder / "env").glob("lib/python*/site-packages")
        # Lines of these packages' own .pth files, such as the checkout's path, are not followed.
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def does(self, *command: str | Path) -> str:
        """Carry out a command far from the checkout and return what it prints."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Return an environment whose home is empty."""
        return {"HOME": str(self.folder), "PATH": ""}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


RECIPE = """
[roles]
quasi = ["age", "sex"]
insensitive = []
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""


@pytest.mark.long
def test_the_installed_command_lists_runs_and_verifies(installed: Installed) -> None:
    listed = json.loads(installed.does(installed.program, "list", "--json"))
    assert listed["version"] == VERSION
    assert {"optimal", "mondrian"} <= {one["name"] for one in listed["algorithms"]}
    rows = [f"{age},{sex}" for age in (20, 30, 40) for sex in "mfmf"]
    (installed.folder / "table.csv").write_text("\n".join(["age,sex", *rows]) + "\n")
    (installed.folder / "recipe.toml").write_text(RECIPE)
    given = ("recipe.toml", "--data", "table.csv")
    installed.does(installed.program, "run", *given, "--out", "release")
    assert (installed.folder / "release" / "release.csv").is_file()
    content = installed.does(installed.program, "verify", *given, "--release", "release", "--json")
    assert json.loads(content)["status"] == "holds"


DRAWN = """
from pathlib import Path
import anon_core
from anon_core.base.installation import shipped
from streamlit.testing.v1 import AppTest
assert not Path(anon_core.__file__).is_relative_to({checkout!r}), anon_core.__file__
app = AppTest.from_file(str(shipped() / "app.py"), default_timeout=60).run()
assert not app.exception, app.exception
app.button(key="start/sample/hospital").click().run()
app.switch_page("pages/3_Hierarchies.py").run()
assert not app.exception, app.exception
assert not app.error, [one.value for one in app.error]
print(app.title[0].value)
"""


@pytest.mark.long
def test_installed_pages_are_drawn(installed: Installed) -> None:
    code = DRAWN.format(checkout=str(CHECKOUT))
    assert installed.does(installed.python, "-c", code).strip() == "Hierarchies"


def _page(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, OSError):
        return b""


@pytest.mark.long
@pytest.mark.parametrize("command", [(), ("serve",)])
def test_the_installed_command_serves(installed: Installed, command: Sequence[str]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1] if command else 8501
    wanted = ("--port", str(port)) if command else ()
    log = installed.folder / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [installed.program, *command, *wanted],
            cwd=installed.folder,
            env=installed.environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        address = None
        while address is None:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
            address = re.search(r"http://localhost:\d+", log.read_text())
        if command:
            assert address[0].endswith(str(port))
        while b"<title>Streamlit</title>" not in (page := _page(address[0])):
            assert time.monotonic() < deadline, page
            time.sleep(0.1)
        # The settings that were packed are in force: it listens on localhost and says no more.
        assert "Network URL" not in log.read_text()
        assert "External URL" not in log.read_text()
    finally:
        server.terminate()
        server.wait(timeout=20)
