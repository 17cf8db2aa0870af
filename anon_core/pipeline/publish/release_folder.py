"""A folder that holds one release: staged and verified next to its place, then put there whole.

At no moment do files of two releases are in the folder. The new folder changes places with the
earlier one in a single step where the system can do that (`exchanged`), so that one of the two is
always there whole. Elsewhere files are moved one by one, and from the hidden stage of a killed
run the next one into the folder puts the earlier release back:

``new``
    The files of the release, until they are in the folder. After the exchange, the earlier ones.
``place``
    The number that the file system has for ``new``, written before the exchange: the release is
    once the folder has it.
``old``
    The files of the earlier release, while it is replaced one by one: from the first move on.
``spill``
    What a run puts aside of a table that is larger than memory.
``done``
    What ``old`` is called once every new file is in its place.
``next to``
    Which file elsewhere, the completed recipe, is replaced together with the release.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from anon_core.base.errors import BadPlan, listing
from anon_core.base.file_lock import alone, in_turn

# Two folders that change places in one step, where the system can do that.


_HERE, _SWAP = -100, 2  # AT_FDCWD; RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def exchanged(one: Path, other: Path) -> bool:
    """Let two paths of one file system name each other's folder, in one step or not at all.

    Parameters
    ----------
    one, other : Path
        Both are there.

    Returns
    -------
    bool
        False, and nothing is changed, where the system or the file system knows no such step or
        refuses it, as it does of a folder that is mounted.
    """
    if sys.platform not in ("linux", "darwin"):
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "linux":
            return int(library.renameat2(_HERE, first, _HERE, second, _SWAP)) == 0
        return int(library.renamex_np(first, second, _SWAP)) == 0
    except AttributeError:  # an older system library
        return False


def made_like(new: Path, place: Path) -> bool:
    """Give a folder the owner and rights of another; False where the other must stay.

    Anyone who is in a folder would see it go, and who may read one that belongs to others, or has
    rules of its own, need not be whom we can let read another.

    Parameters
    ----------
    new, place : Path
        The folder that was made, and the one whose place it would take.
    """
    there, made = place.stat(), new.stat()
    try:
        inside = Path.cwd().is_relative_to(place)
    except OSError:  # it is gone
        inside = False
    if inside or (there.st_uid, there.st_gid) != (made.st_uid, made.st_gid):
        return False
    new.chmod(stat.S_IMODE(there.st_mode))
    return _rules(new) == _rules(place)


def _rules(folder: Path) -> dict[str, bytes]:
    """Return what a file system notes of a folder next to its mode, such as who else may read."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(folder, name) for name in os.listxattr(folder)}
    except OSError:  # it notes nothing
        return {}


#: What the stage of a folder is called: next to the folder after its name, or inside of it.
STAGE = ".anonymity-workbench"
#: No room on a disk, or none left of what someone may take there.
_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT") if hasattr(errno, name))
_SPILL, _PLACE = "spill", "place"
#: Writes a text to a place.
Writer = Callable[[Path, str], None]


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A release on its way into its folder.

    Attributes
    ----------
    folder : Path
        Where the release goes.
    stage : Path
        The hidden folder in which it waits.
    restored : bool
        Whether an earlier run was stopped while it replaced a release, which was put back.
    cleared : bool
        Whether an earlier run was killed and had put private data aside, which was removed.
    """

    folder: Path
    stage: Path
    restored: bool
    cleared: bool = False
    _moved: list[bool] = field(default_factory=list[bool])

    @property
    def in_place(self) -> bool:
        """Whether the release is in its place, for good."""
        return bool(self._moved)

    @property
    def spill(self) -> Path:
        """A folder for what a run must put aside of the private table; it goes with the stage."""
        place = self.stage / _SPILL
        place.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def new(self) -> Path:
        """The folder in which the release waits, for anyone who writes it file by file."""
        place = self.stage / "new"
        place.mkdir(exist_ok=True)
        return place

    def emptied(self) -> Path:
        """Return that folder without what an attempt before wrote, which was not taken."""
        shutil.rmtree(self.stage / "new", ignore_errors=True)
        return self.new

    def write(self, files: Mapping[str, bytes]) -> Path:
        """Write the files down, to the disk itself, and return the folder they wait in."""
        new = self.stage / "new"
        new.mkdir(exist_ok=True)
        for name, content in files.items():
            _write(new / name, content)
        _sync(new)
        return new

    def flush(self) -> None:
        """Wait until all that was written is on the disk.

        Raises
        ------
        OSError
            If the disk has no room for it.
        """
        for path in (self.stage / "new").iterdir():
            with path.open("r+b") as file:
                os.fsync(file.fileno())

    def publish(self) -> None:
        """Put the written files in the place of an earlier release; all of them or none.

        Raises
        ------
        BadPlan
            If files of something else have come into the folder since.
        OSError
            If a file cannot be replaced; the earlier release is back in its place.
        """
        shutil.rmtree(self.stage / _SPILL, ignore_errors=True)  # room, and nothing private for long
        self.flush()
        names = sorted(entry.name for entry in (self.stage / "new").iterdir())
        made = not self.folder.exists()
        self.folder.mkdir(exist_ok=True)
        _refuse_others(self.folder, names)
        _write(self.stage / "names", json.dumps(names).encode())
        try:
            if not self._exchange(names):
                self._swap(names)
            self._moved.append(True)
        except BaseException:
            self._moved.clear()
            _put_back(self.stage, self.folder)
            if made:
                with suppress(OSError):
                    self.folder.rmdir()
            raise

    @contextmanager
    def replacing(self, place: Path, content: str, write: Writer) -> Generator[None, None, None]:
        """Write a file elsewhere together with the release: both are the new ones, or neither.

        Parameters
        ----------
        place : Path
            Resolved; it may be there already.
        write : callable
            Given place and content; it writes the file, by way of the second of `waiting`.
        """
        aside, _ = waiting(place, os.getpid())
        note = {"file": str(place), "process": os.getpid(), "new": _digest(content.encode())}
        _write(self.stage / "beside", json.dumps(note).encode())
        _sync(self.stage)
        with suppress(FileNotFoundError):
            place.replace(aside)
        try:
            write(place, content)
            yield
        except BaseException:
            if self.in_place:  # with it the recipe stays
                aside.unlink(missing_ok=True)
                raise
            place.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                aside.replace(place)
            raise
        aside.unlink(missing_ok=True)

    def _exchange(self, names: Sequence[str]) -> bool:
        """Let the new folder and the earlier one change places; False where that cannot be done."""
        new = self.stage / "new"
        if self.stage.parent == self.folder or not made_like(new, self.folder):
            return False
        _write(self.stage / _PLACE, str(new.stat().st_ino).encode())
        _sync(self.stage)
        if not exchanged(new, self.folder):
            (self.stage / _PLACE).unlink()
            return False
        _refuse_others(new, names)  # whatever came since the last look goes back with the folder
        _sync(self.folder.parent)
        return True

    def _swap(self, names: Sequence[str]) -> None:
        new, old = self.stage / "new", self.stage / "old"
        old.mkdir()
        _sync(self.stage)
        for name in names:
            if (self.folder / name).exists():
                _move(self.folder / name, old / name)
        for name in names:
            _move(new / name, self.folder / name)
        _sync(self.folder)
        _move(old, self.stage / "done")
        _sync(self.stage)


@contextmanager
def writing(folder: Path, names: Sequence[str]) -> Generator[Staged, None, None]:
    """Make ready to write one release into a folder, and clear away afterwards.

    Parameters
    ----------
    folder : Path
        It need not be there yet. It may hold an earlier release of the same files, and nothing
        else.
    names : sequence of str
        The names of the files that will be written.

    Raises
    ------
    BadPlan
        If the folder is a file, holds something else, or another run is writing to it; if the disk
        becomes full meanwhile.
    OSError
        If nothing can be written there.
    """
    place = Path(os.path.realpath(folder))
    if place.exists() and not place.is_dir():
        raise BadPlan(f"{folder} is a file, not a folder.", remedy="Name a folder for the release.")
    missing = [f for f in (place, *place.parents) if not f.exists()]
    stage: Path | None = None
    try:
        with ExitStack() as held:
            with suppress(OSError):  # who cannot make it is refused below
                place.parent.mkdir(parents=True, exist_ok=True)
            with in_turn(place.parent):
                left = any((stage / _SPILL).is_dir() for stage in _stages(place))
                restored = sum(_recovered(stage, place) for stage in _stages(place)) > 0
                _refuse_others(place, names)
                stage = _made(place)
                if not held.enter_context(alone(stage / "lock", wait=False)):
                    raise _busy(place)
            try:
                yield Staged(folder=place, stage=stage, restored=restored, cleared=left)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                raise BadPlan(
                    f"The disk that holds {folder}, or what is written with it, is full "
                    f"({error.strerror}).",
                    remedy="Free some space there, or name a folder on another disk. Nothing was "
                    "released, and an earlier release there is unchanged.",
                ) from error
            finally:
                try:
                    _clear_after(stage, place, made=place in missing)
                except KeyboardInterrupt:  # ended while it clears away
                    _clear_after(stage, place, made=place in missing)
                    raise
    finally:
        if stage is not None and os.name == "nt":  # it keeps a file that is locked
            _clear(stage)
        for parent in missing:
            if parent != place:
                with suppress(OSError):
                    parent.rmdir()


def write_release(folder: Path | str, files: Mapping[str, bytes]) -> None:
    """Write a release that was verified into a folder, instead of an earlier one or not at all.

    Parameters
    ----------
    files : mapping of str to bytes
        The published files by name; `writing` says what else the folder may hold, and what errors
        there are.
    """
    with writing(Path(folder), list(files)) as staged:
        staged.write(files)
        staged.publish()


def _stages(place: Path) -> tuple[Path, Path]:
    """Return where the stage of a folder may lie: next to it, or else inside."""
    return place.with_name(f".{place.name}{STAGE}") if place.name else place / STAGE, place / STAGE


def _made(place: Path) -> Path:
    """Make the stage: inside the folder only where nothing can be moved there from next to it."""
    outside, inside = _stages(place)
    try:
        outside.parent.mkdir(parents=True, exist_ok=True)
        outside.mkdir(mode=0o700)
    except FileExistsError as error:
        raise _busy(place) from error
    except OSError:
        pass  # the folder above is somebody else's
    else:
        if not place.exists() or _reaches(outside, place):
            return outside
        outside.rmdir()
    place.mkdir(parents=True, exist_ok=True)
    try:
        inside.mkdir(mode=0o700)
    except FileExistsError as error:
        raise _busy(place) from error
    return inside


def _reaches(stage: Path, place: Path) -> bool:
    """Say whether what lies in the stage can be moved into the folder: not where that is mounted.

    It is asked by moving what is not there. Linux answers for mounts before it looks for that, and
    elsewhere what is mounted lies on another device.
    """
    if stage.stat().st_dev != place.stat().st_dev:
        return False
    try:
        _move(stage / "probe", place / STAGE)
    except FileNotFoundError:
        return os.access(place, os.W_OK | os.X_OK)
    except OSError:
        return False
    return True


def _refuse_others(place: Path, names: Sequence[str]) -> None:
    """Refuse a folder that holds anything but an earlier release of the same files."""
    if not place.exists():
        return
    entries = sorted(place.iterdir())
    odd = [e.name for e in entries if e.name in names and (not e.is_file() or e.is_symlink())]
    if odd:
        raise BadPlan(
            f"{listing(odd)} in {place} is not a plain file, so no release can replace it.",
            remedy="Name another folder, or remove it.",
        )
    others = [e.name for e in entries if e.name not in (*names, STAGE)]
    if others:
        raise BadPlan(
            f"The folder {place} holds {listing(others)}, which is not part of this release "
            f"({listing(names)}). Tables of two releases reveal more together than either "
            "alone.",
            remedy="Name another folder, or remove these files.",
        )


def _busy(place: Path) -> BadPlan:
    return BadPlan(
        f"Another run is writing its release to {place}.",
        remedy="Wait until it is done, or name another folder.",
    )


def _recovered(stage: Path, place: Path) -> bool:
    """Clear away what a killed run left; whether it had begun to replace a release."""
    if not stage.is_dir():
        return False
    try:
        with alone(stage / "lock", wait=False) as mine:
            if not mine:
                raise _busy(place)
            published = (stage / "done").is_dir() or _is_exchanged(stage, place)
            began = not published and _put_back(stage, place)
            _settle_outside(stage, published=published)
            _clear(stage)
    except FileNotFoundError:  # who made it has just cleared it away
        return False
    if os.name == "nt":  # it keeps a file that is locked
        _clear(stage)
    return began


def waiting(place: Path, process: int) -> tuple[Path, Path]:
    """Return where a file waits while a process replaces it: as it was before, and the new one."""
    before, part = (f".{place.name}.{process}.{state}" for state in ("before", "part"))
    return place.with_name(before), place.with_name(part)


def _settle_outside(stage: Path, *, published: bool) -> None:
    """Let the file that a killed run was replacing be that of the release which is.

    Only what waits next to it is moved or removed, and what others have written there since stays.
    """
    try:
        note = json.loads((stage / "beside").read_text(encoding="utf-8"))
        place, process, new = Path(note["file"]), int(note["process"]), str(note["new"])
    except (OSError, ValueError, KeyError, TypeError):  # the run did not come so far
        return
    aside, part = waiting(place, process)
    with suppress(OSError):
        part.unlink(missing_ok=True)
        if published:
            aside.unlink(missing_ok=True)
        elif aside.is_file() and (not place.exists() or _digest(place.read_bytes()) == new):
            aside.replace(place)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _put_back(stage: Path, place: Path) -> bool:
    """Put the earlier release back if its replacement is not complete; whether it had begun.

    Can itself be killed and begun again: each file is either where it was or where it goes.
    """
    new, old = stage / "new", stage / "old"
    if _is_exchanged(stage, place):
        exchanged(new, place)
        return True
    if not old.is_dir():
        return False
    names = cast(list[str], json.loads((stage / "names").read_text(encoding="utf-8")))
    for name in names:
        if (place / name).exists() and not (new / name).exists():
            _move(place / name, new / name)
    for entry in sorted(old.iterdir()):
        _move(entry, place / entry.name)
    _sync(place)
    old.rmdir()
    return True


def _is_exchanged(stage: Path, place: Path) -> bool:
    """Say whether the folder is the one that was made in the stage."""
    try:
        return int((stage / _PLACE).read_bytes()) == place.stat().st_ino
    except (OSError, ValueError):
        return False


def _clear_after(stage: Path, place: Path, *, made: bool) -> None:
    with in_turn(place.parent):
        _clear(stage)
        if made:  # only what stayed empty goes
            with suppress(OSError):
                place.rmdir()


def _clear(stage: Path) -> None:
    """Remove a stage, unless files of an earlier release could not be put back from it."""
    if not (stage / "old").exists():
        shutil.rmtree(stage, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Write a new file down to the disk itself."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _move(source: Path, target: Path) -> None:
    """Rename a file or folder; the one way in which anything gets into or out of the folder."""
    source.rename(target)


def _sync(folder: Path) -> None:
    """Let the names in a folder reach the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
