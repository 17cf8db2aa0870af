"""Loading a file's bytes and unpacking gzip, never more of them than allowed."""

from __future__ import annotations

import zlib
from pathlib import Path

from ..errors import BadInput
from .limits import too_large

GZIP_MARK = b"\x1f\x8b"


def load(path: Path, name: str, most_bytes: int) -> bytes:
    """Return a file's bytes, or say why there are none."""
    try:
        size = path.stat().st_size
        # What is refused for its size shall not fill the memory first.
        data = path.read_bytes() if size <= most_bytes or path.is_dir() else None
    except IsADirectoryError:
        raise BadInput(
            f"'{name}' is a folder, not a file.", remedy="Name the CSV or Parquet file inside it."
        ) from None
    except FileNotFoundError:
        raise BadInput(
            f"There is no file '{path}'.", remedy="Check the path and its spelling."
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "the path is not valid"
        raise BadInput(
            f"'{name}' cannot be read ({why}).", remedy="Check the path and your permissions."
        ) from error
    if data is None:
        raise too_large(name, size, most_bytes)
    return data


def unpack(data: bytes, name: str, most_bytes: int) -> bytes:
    """Return what all members of a gzip file hold."""
    parts: list[bytes] = []
    room = most_bytes
    rest = data
    try:
        while rest.startswith(GZIP_MARK):  # a file may hold several members
            unpacker = zlib.decompressobj(wbits=31)
            part = unpacker.decompress(rest, room + 1)
            room -= len(part)
            if room < 0:
                # The packed size says nothing: a few KiB can unpack to any size.
                raise BadInput(
                    f"{name} unpacks to more than {most_bytes / 2**20:,.1f} MiB, the most that is "
                    f"read here.",
                    remedy="Leave out columns that are not needed, save it as Parquet, or use the "
                    "command line for a table of this size.",
                )
            parts.append(part)
            if not unpacker.eof:
                raise zlib.error
            rest = unpacker.unused_data
    except zlib.error:
        raise BadInput(
            f"{name} is a broken gzip file: it ends early or was changed.",
            remedy="Copy or download it again, or pack it anew.",
        ) from None
    return parts[0] if len(parts) == 1 else b"".join(parts)
