"""Loading a file's bytes and unpacking gzip, never more of them than allowed."""

from __future__ import annotations

import zlib
from pathlib import Path

from anon_core.base.bounded_reading import TooManyBytes, read_regular
from anon_core.base.errors import BadInput, clipped
from anon_core.data.reading.limits import ALWAYS_UNPACKED, MOST_RATIO, too_large, unpacks_too_far

GZIP_MARK = b"\x1f\x8b"
#: Bytes that are unpacked at first and at most in one step; what one step leaves over is copied.
_FIRST_STEP, _LARGEST_STEP = 1 << 9, 1 << 20


def load(path: Path, name: str, most_bytes: int) -> bytes:
    """Return a file's bytes, or say why there are none."""
    try:
        return read_regular(path, most_bytes)
    except TooManyBytes as error:
        raise too_large(name, error.size, most_bytes) from error
    except IsADirectoryError:
        raise BadInput(
            f"'{name}' is a folder, not a file.", remedy="Name the CSV or Parquet file inside it."
        ) from None
    except FileNotFoundError:
        raise BadInput(
            f"There is no file '{clipped(str(path))}'.", remedy="Check the path and its spelling."
        ) from None
    except OSError as error:
        raise BadInput(
            f"'{name}' cannot be read ({error.strerror}).",
            remedy="Check the path and your permissions.",
        ) from error


def unpack(data: bytes, name: str, most_bytes: int) -> bytes:
    """Return what all members of a gzip file hold."""
    # The packed size says little: a few KiB can unpack to any size.
    most = min(most_bytes, max(ALWAYS_UNPACKED, MOST_RATIO * len(data)))
    parts: list[bytes] = []
    room, at = most, 0
    view = memoryview(data)
    try:
        while data.startswith(GZIP_MARK, at):  # a file may hold several members
            unpacker = zlib.decompressobj(wbits=31)
            step = _FIRST_STEP
            while not unpacker.eof:
                piece = view[at : at + step]
                if not piece:
                    raise zlib.error
                part = unpacker.decompress(piece, room + 1)
                room -= len(part)
                if room < 0:
                    raise unpacks_too_far(name, len(data), most, most_bytes)
                parts.append(part)
                at += len(piece) - len(unpacker.unused_data)
                step = min(2 * step, _LARGEST_STEP)
    except zlib.error:
        raise BadInput(
            f"{name} is a broken gzip file: it ends early or was changed.",
            remedy="Copy or download it again, or compress it again.",
        ) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)
