"""What every test shares."""

from __future__ import annotations

import gc
import hashlib
import shutil
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from anon_core.base import secret
from anon_core.kernels import compilation

# Loops are tested as machine code; what runs before the compiler is imported has tests of its own.
compilation.use_machine_code()

# Speed is measured by the benchmarks; a busy machine must not fail a test. The same examples are
# tried every time, so that a failure can be repeated.
settings.register_profile(
    "workbench",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("workbench")
gc.disable()  # what is loaded stays; see `pytest_collection_finish`
# It would also draw constants found in the modules that are loaded: a test would try other examples
# in other company, and each new module would be parsed for them.
providers._get_local_constants = providers.Constants


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite the assertions of a share of files, where each worker would rewrite those of all."""
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    named = [config.invocation_params.dir / one for one in config.args]
    ignored = [config.invocation_params.dir / one for one in config.getoption("ignore") or ()]
    files = sorted(file for folder in named for file in folder.rglob("test_*.py"))
    files = [file for file in files if not any(map(file.is_relative_to, ignored))]
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        kept = rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)
        if not kept.exists() and rewrite.try_makedirs(kept.parent):
            source_hash, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, kept)


def pytest_collection_finish() -> None:
    """Leave what is loaded by now out of every later look for rubbish: it stays to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()
    # Each look goes through all that is new and still there; the server looks five times as often.
    gc.set_threshold(500_000, 50, 100)


@pytest.fixture
def nobody_compiles_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile where a loop is called, though a page that was drawn before still compiles ahead."""
    monkeypatch.setattr(compilation, "_DOING", compilation._Doing())


@pytest.fixture(scope="session")
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Name a folder for what programs keep, which is none of the person's who runs the tests."""
    home = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        yield home


@pytest.fixture(autouse=True)
def no_session_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no session of a page that a test opens; tests of that set the folder themselves."""
    monkeypatch.setenv("ANONYMITY_WORKBENCH_SESSIONS", "off")


@pytest.fixture(autouse=True)
def nothing_kept(data_home: Path) -> Iterator[None]:
    """Fail the test that leaves a session where those of this computer are kept."""
    yield
    sessions = data_home / "anonymity-workbench" / "sessions"
    left = sorted(sessions.glob("*/*")) if sessions.exists() else []
    shutil.rmtree(sessions, ignore_errors=True)
    assert not left, f"kept in the home of whoever runs the tests: {[p.name for p in left]}"


@pytest.fixture(autouse=True)
def same_secrets(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draw the same secrets in every run of a test, so that a failure can be repeated."""
    number = count()

    def randbits(bits: int) -> int:
        text = f"{request.node.nodeid} {next(number)}".encode()
        return int.from_bytes(hashlib.shake_256(text).digest(bits // 8))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret, "secrets", SimpleNamespace(randbits=randbits))
        yield
