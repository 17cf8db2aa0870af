"""A release's folder holds the old release or the new one, whatever fails or kills it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from anon_core.base.errors import BadInput, BadPlan
from anon_core.base.file_lock import alone
from anon_core.pipeline.publish import release_folder
from anon_core.pipeline.publish.release_folder import STAGE, write_release, writing
from anon_core.verification.files import release_files as verified_folder
from tests.often import EVERY

CHECKOUT = Path(__file__).resolve().parents[3]
NAMES = ("quasi.csv", "quasi.parquet", "sensitive.csv", "sensitive.parquet")
OLD = {name: f"old {name}".encode() for name in NAMES}
NEW = {name: f"new {name}".encode() for name in NAMES}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "desk" / "out"


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system on which two folders cannot change places in one step."""
    monkeypatch.setattr(release_folder, "exchanged", lambda _one, _other: False)


def put(out: Path, files: dict[str, bytes]) -> None:
    with writing(out, list(files)) as staged:
        new = staged.write(files)
        assert {f.name: f.read_bytes() for f in new.iterdir()} == files
        staged.publish()


def held(out: Path) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in out.iterdir()} if out.exists() else {}


def nothing_left(out: Path) -> bool:
    return [f.name for f in out.parent.iterdir()] in ([], [out.name])


def failing(monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException) -> list[Path]:
    """Let the move of that number fail; returns what is moved."""
    genuine, moved = release_folder._move, []

    def move(source: Path, target: Path) -> None:
        if target.name == STAGE:  # the trial whether anything can be moved
            return genuine(source, target)
        moved.append(target)
        if len(moved) == at:
            raise error
        return genuine(source, target)

    monkeypatch.setattr(release_folder, "_move", move)
    return moved


# ---- in one piece ----------------------------------------------------------------------------


def test_a_release_is_written_replaced_and_leaves_nothing_beside(out: Path) -> None:
    put(out, OLD)
    assert held(out) == OLD
    assert nothing_left(out)
    put(out, NEW)
    assert held(out) == NEW
    assert nothing_left(out)


def test_an_attempt_that_is_not_taken_leaves_nothing_to_the_next(out: Path) -> None:
    with writing(out, list(NEW)) as staged:
        staged.write(OLD)
        assert not list(staged.emptied().iterdir())
        staged.write(NEW)
        staged.publish()
    assert held(out) == NEW


def test_a_part_of_the_earlier_release_is_replaced(out: Path) -> None:
    put(out, {"quasi.csv": b"old"})
    put(out, NEW)
    assert held(out) == NEW


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("error", [PermissionError(13, "locked"), KeyboardInterrupt()])
def test_what_fails_at_any_step_leaves_the_earlier_release(
    out: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    put(out, OLD)
    steps = 2 * len(NAMES) + 1
    for at in range(1, steps + 1):
        with monkeypatch.context() as patch:
            moved = failing(patch, at, error)
            with pytest.raises(type(error)):
                put(out, NEW)
            assert len(moved) >= at
        assert held(out) == OLD
        assert nothing_left(out)
    with monkeypatch.context() as patch:
        assert len(failing(patch, steps + 1, error)) == 0
        put(out, NEW)
    assert held(out) == NEW


@pytest.mark.usefixtures("one_by_one")
def test_a_first_release_that_fails_leaves_no_folder(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(1, len(NAMES) + 2):
        with monkeypatch.context() as patch:
            failing(patch, at, PermissionError(13, "locked"))
            with pytest.raises(PermissionError):
                put(out, NEW)
        assert not out.parent.exists()


def test_a_run_that_fails_leaves_the_earlier_release_and_no_stage(out: Path) -> None:
    put(out, OLD)
    with suppress(RuntimeError), writing(out, NAMES) as staged:
        staged.write(NEW)
        raise RuntimeError
    assert held(out) == OLD
    assert nothing_left(out)


@pytest.mark.usefixtures("one_by_one")
def test_what_could_not_be_put_back_is_kept(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(out, OLD)
    genuine, moved = release_folder._move, []

    def move(source: Path, target: Path) -> None:
        moved.append(target)
        if len(moved) > 5:
            raise PermissionError(13, "locked")
        genuine(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(release_folder, "_move", move)
        with pytest.raises(PermissionError):
            put(out, NEW)
    with pytest.raises(BadInput, match="stopped while it replaced"):
        verified_folder.refuse_unfinished(out)
    with writing(out, NAMES) as staged:
        assert staged.restored
        assert held(out) == OLD
    assert nothing_left(out)


def test_a_verified_release_is_written_in_one_call(out: Path) -> None:
    put(out, OLD)
    write_release(out, NEW)
    assert held(out) == NEW
    with pytest.raises(BadPlan):
        write_release(out, {"release.csv": b"other"})
    assert held(out) == NEW


# ---- killed ----------------------------------------------------------------------------------

_KILLED = """
import json, os, signal, sys
from pathlib import Path
from anon_core.pipeline.publish import release_folder

at, out, files = int(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
genuine, moved = release_folder._move, []
release_folder.exchanged = lambda one, other: False

def move(source, target):
    moved.append(target)
    if len(moved) == at:
        os.kill(os.getpid(), signal.SIGKILL)
    genuine(source, target)

release_folder._move = move
with release_folder.writing(out, list(files)) as staged:
    staged.write({name: text.encode() for name, text in files.items()})
    staged.publish()
"""


_KILLED_ANYWHERE = """
import json, os, signal, sys
from pathlib import Path
from anon_core.pipeline.publish import release_folder

at, out, files = int(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
steps, parent = [], str(out.parent)

def step(event, given):
    path = str(given[0]) if given else ""
    changes = event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "exchange")
    if (changes or event == "open") and (path.startswith(parent) or not path.startswith("/")):
        steps.append(event)
        if len(steps) == at:
            os.kill(os.getpid(), signal.SIGKILL)

def exchanged(one, other):
    step("exchange", (one,))
    done = genuine(one, other)
    step("exchange", (one,))
    return done

genuine, release_folder.exchanged = release_folder.exchanged, exchanged
sys.addaudithook(step)
with release_folder.writing(out, list(files)) as staged:
    staged.write({name: text.encode() for name, text in files.items()})
    staged.publish()
"""


def put_and_killed(out: Path, files: dict[str, bytes], at: int, script: str = _KILLED) -> bool:
    """Write a release in a process that kills itself at a step; whether it came so far."""
    texts = {name: content.decode() for name, content in files.items()}
    status = subprocess.run(
        [sys.executable, "-c", script, str(at), str(out), json.dumps(texts)],
        cwd=CHECKOUT, check=False,
    ).returncode  # fmt: skip
    assert status in (0, -signal.SIGKILL)
    return status != 0


def is_named(out: Path) -> bool:
    try:
        verified_folder.refuse_unfinished(out)
    except BadInput:
        return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal to send")
def test_a_kill_at_any_step_never_leaves_new_beside_old(out: Path) -> None:
    old = {name: OLD[name] for name in NAMES[:2]}
    new = {name: NEW[name] for name in NAMES[:2]}
    put(out, old)
    seen: list[bool] = []
    for at in range(1, 20):
        if not put_and_killed(out, new, at):
            break
        found = held(out)
        assert found.items() <= old.items() or found.items() <= new.items()
        whole = found == old
        assert is_named(out) or whole
        seen.append(is_named(out))
        if is_named(out):  # anyone who puts it back may be killed as well
            assert put_and_killed(out, new, 2)
            assert is_named(out) or held(out) == old
        named = is_named(out)
        with writing(out, list(new)) as staged:
            assert staged.restored == named
            assert held(out) == old
        assert nothing_left(out)
        assert not is_named(out)
    assert seen == [False] + [True] * 5  # the trial, two out, two in, and the word that all are in
    assert held(out) == new
    assert nothing_left(out)


@pytest.mark.often
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders need to change places")
@pytest.mark.parametrize("first", [pytest.param(True, marks=pytest.mark.long), False])
def test_where_folders_change_places_one_release_is_always_there_whole(
    out: Path, first: bool
) -> None:
    old, new = ({} if first else {"r.csv": b"old"}), {"r.csv": b"new", "r.parquet": b"new"}
    seen: list[bool] = []
    step = 1 if EVERY else 2
    for at in range(1, 60, step):
        shutil.rmtree(out.parent, ignore_errors=True)
        out.parent.mkdir()
        if old:
            put(out, old)
        if not put_and_killed(out, new, at, _KILLED_ANYWHERE):
            break
        found = held(out)
        assert found in (old, new)
        assert not is_named(out)
        seen.append(found == new)
        assert all(f.stat().st_mode & 0o777 == 0o700 for f in out.parent.glob(f".*{STAGE}"))
        with writing(out, list(new)) as staged:
            assert not staged.restored
            assert held(out) == found
        assert nothing_left(out)
    assert seen == sorted(seen)
    assert 3 < step * seen.count(True) < step * len(seen) - 8
    assert held(out) == new


def test_what_fails_after_folders_changed_places_changes_them_back(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(out, OLD)
    genuine = release_folder._sync

    def interrupted(folder: Path) -> None:
        genuine(folder)
        if folder == out.parent:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(release_folder, "_sync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            put(out, NEW)
    assert held(out) == OLD
    assert nothing_left(out)


def test_a_folder_keeps_its_place_where_somebody_stands_in_it_and_its_mode_elsewhere(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(out, OLD)
    out.chmod(0o750)
    before = out.stat().st_ino
    with monkeypatch.context() as patch:
        patch.chdir(out)
        put(out, NEW)
    assert out.stat().st_ino == before
    put(out, OLD)
    assert (out.stat().st_ino == before) == (sys.platform not in ("linux", "darwin"))
    assert out.stat().st_mode & 0o777 == 0o750


# ---- what is replaced together with the release ----------------------------------------------

_KILLED_THERE = """
import os, signal, sys
from pathlib import Path
from anon_core.pipeline.publish import release_folder
from anon_core.pipeline.publish.release_folder import Staged, waiting, writing

at, out, place = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])

def die(*given, **more):
    os.kill(os.getpid(), signal.SIGKILL)

def write(place, text):
    _, part = waiting(place, os.getpid())
    part.write_text(text)
    if at == "part":
        die()
    part.replace(place)
    if at == "recipe":
        die()

if at == "begun":
    release_folder.exchanged = lambda one, other: False
    Staged._swap = lambda self, names: ((self.stage / "old").mkdir(), die())
if at == "published":
    release_folder._clear = die
with writing(out, ["release.csv"]) as staged:
    staged.write({"release.csv": b"new"})
    with staged.replacing(place, "new recipe", write):
        staged.publish()
        if at == "done":
            die()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal to send")
@pytest.mark.parametrize("at", ["part", "recipe", "begun", "done", "published"])
def test_the_recipe_of_the_release_that_stands_is_there_after_a_kill(out: Path, at: str) -> None:
    put(out, {"release.csv": b"old"})
    place = out.parent.parent / "kept" / "made.toml"
    place.parent.mkdir()
    place.write_text("old recipe")
    command = [sys.executable, "-c", _KILLED_THERE, at, str(out), str(place)]
    status = subprocess.run(command, cwd=CHECKOUT, check=False).returncode
    assert status == -signal.SIGKILL
    with writing(out, ["release.csv"]):
        pass
    which = "new" if at in ("done", "published") else "old"
    assert held(out) == {"release.csv": which.encode()}
    assert {f.name: f.read_text() for f in place.parent.iterdir()} == {
        "made.toml": f"{which} recipe"
    }


def test_a_recipe_that_another_run_wrote_since_is_left(out: Path) -> None:
    put(out, {"release.csv": b"old"})
    place = out.parent / "made.toml"
    place.write_text("old recipe")
    command = [sys.executable, "-c", _KILLED_THERE, "recipe", str(out), str(place)]
    subprocess.run(command, cwd=CHECKOUT, check=False)
    place.write_text("of another run")
    with writing(out, ["release.csv"]):
        pass
    assert place.read_text() == "of another run"


# ---- refused ---------------------------------------------------------------------------------


def refused(out: Path, says: str) -> None:
    before = sorted(out.iterdir())
    with pytest.raises(BadPlan, match=says) as caught, writing(out, NAMES):
        raise AssertionError
    assert caught.value.remedy
    assert sorted(out.iterdir()) == before
    assert nothing_left(out)


def test_a_folder_with_another_release_is_refused(out: Path) -> None:
    put(out, {"release.csv": b"another", "release.parquet": b"another"})
    refused(out, "holds 'release.csv', 'release.parquet', which is not part of this release")


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "quasi.csv.bak", "Quasi.csv"])
def test_a_folder_with_other_files_is_refused(out: Path, name: str) -> None:
    put(out, OLD)
    (out / name).write_text("mine")
    refused(out, name)


def test_what_is_no_plain_file_is_not_replaced(out: Path) -> None:
    put(out, OLD)
    (out / "quasi.parquet").unlink()
    (out / "quasi.parquet").mkdir()
    refused(out, "'quasi.parquet' in .* is not a plain file")
    (out / "quasi.parquet").rmdir()
    (out / "quasi.parquet").symlink_to(out / "quasi.csv")
    refused(out, "'quasi.parquet' in .* is not a plain file")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BadPlan, match="is a file"), writing(tmp_path / "out", NAMES):
        raise AssertionError


def test_a_file_that_comes_during_the_run_is_not_published_with_the_release(out: Path) -> None:
    put(out, OLD)
    with writing(out, NAMES) as staged:
        staged.write(NEW)
        (out / "notes.txt").write_text("mine")
        with pytest.raises(BadPlan, match=r"notes\.txt"):
            staged.publish()
    assert held(out) == {**OLD, "notes.txt": b"mine"}
    assert nothing_left(out)


def test_two_runs_do_not_write_to_one_folder(out: Path) -> None:
    with writing(out, NAMES) as staged:
        staged.write(OLD)
        with pytest.raises(BadPlan, match="Another run is writing"), writing(out, NAMES):
            raise AssertionError
        staged.publish()
    assert held(out) == OLD


# ---- where nothing can be moved from next to the folder -----------------------------------------


def test_a_folder_that_is_mounted_is_staged_inside(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(out, OLD)
    genuine = release_folder._move

    def move(source: Path, target: Path) -> None:
        if out in target.parents and out not in source.parents:
            raise OSError(18, "Invalid cross-device link", str(source))
        genuine(source, target)

    monkeypatch.setattr(release_folder, "_move", move)
    with writing(out, NAMES) as staged:
        assert staged.stage.parent == out
        staged.write(NEW)
        assert not verified_folder.check_folder(out, NAMES).holds
        staged.publish()
    assert held(out) == NEW
    assert nothing_left(out)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_below_one_that_cannot_be_written_is_staged_inside(out: Path) -> None:
    put(out, OLD)
    out.parent.chmod(0o500)
    try:
        put(out, NEW)
    finally:
        out.parent.chmod(0o700)
    assert held(out) == NEW


@pytest.mark.parametrize("inside", [False, True])
def test_a_stage_that_was_left_is_cleared_away(out: Path, inside: bool) -> None:
    put(out, OLD)
    left = out / STAGE if inside else out.with_name(f".{out.name}{STAGE}")
    (left / "new").mkdir(parents=True)
    (left / "new" / "quasi.csv").write_text("half")
    with writing(out, NAMES) as staged:
        assert not staged.restored
        assert not (staged.stage / "new").exists()
    assert held(out) == OLD
    assert nothing_left(out)


# ---- what verification says of a folder --------------------------------------------------------


def test_verification_knows_the_stage_by_its_name() -> None:
    assert verified_folder.STAGE == STAGE


@pytest.mark.parametrize("name", ["notes.txt", "release.csv", STAGE, ".quasi.csv.1.part"])
def test_verification_names_files_it_does_not_know(out: Path, name: str) -> None:
    put(out, OLD)
    assert verified_folder.check_folder(out, NAMES).holds
    (out / name).mkdir() if name == STAGE else (out / name).write_text("other")
    found = verified_folder.check_folder(out, NAMES)
    assert not found.holds
    assert name in found.sentence


# ---- the lock --------------------------------------------------------------------------------


def test_a_lock_is_held_once_and_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with alone(path, wait=False) as mine, alone(path, wait=False) as other:
        assert mine
        assert not other
    with alone(path, wait=True) as mine:
        assert mine


def test_a_stage_is_cleared_also_where_the_run_is_told_to_end_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, values = shutil.rmtree, list[Path]()

    def interrupted(place: Path, **more: bool) -> None:
        values.append(place)
        if len(values) == 1:
            raise KeyboardInterrupt
        remove(place, **more)

    writes = writing(tmp_path / "out", ["a"])
    stage = writes.__enter__().stage
    monkeypatch.setattr(release_folder.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writes.__exit__(None, None, None)
    assert values == [stage] * 2
    assert not list(tmp_path.iterdir())
