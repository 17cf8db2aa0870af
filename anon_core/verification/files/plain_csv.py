"""A fast way to read CSV text about which no two readers differ; everything else is not for it."""

from __future__ import annotations

import csv
import io
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.text.texts import Codes

_BLOCK = 1 << 24
_SAMPLE = 1 << 17  # bytes by which it is judged whether lines repeat
_QUOTE, _COMMA, _LINE = ord('"'), ord(","), ord("\n")

#: Header, codes and distinct texts by column, and the number of rows.
Parsed = tuple[list[str], list[Codes], list[list[str]], int]


def read_plain(content: bytes) -> Parsed | None:
    """Return a CSV file's columns as codes into their texts; None where it is not plain.

    Plain is UTF-8 without carriage returns, marks and empty lines, in which every quote opens or
    closes a whole cell or is doubled inside one, and every row is as long as the header.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    if b"\r" in content or b"\0" in content or content.startswith((b"\n", b"\xef\xbb\xbf")):
        return None
    if b"\n\n" in content or not _quotes_are_plain(content):
        return None
    try:
        header = next(csv.reader(io.StringIO(_first_line(content), newline=""), strict=True), [])
        if not header or any("\n" in name for name in header):
            return None
        names = [str(place) for place in range(len(header))]
        lines, place = _distinct_lines(content)
        table = arrow.read_csv(
            cast(Any, pa.BufferReader(lines)),
            read_options=arrow.ReadOptions(
                column_names=names, skip_rows=1, block_size=_BLOCK, use_threads=False
            ),
            parse_options=arrow.ParseOptions(
                double_quote=True, newlines_in_values=True, ignore_empty_lines=False
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
                strings_can_be_null=False,
            ),
        ).unify_dictionaries()
    except (pa.ArrowException, UnicodeDecodeError, csv.Error):
        return None
    codes: list[Codes] = []
    texts: list[list[str]] = []
    for column in table.columns:
        if column.null_count:
            return None
        chunks = cast(Any, column.chunks)
        found = np.concatenate(
            [np.empty(0, np.int64), *(c.indices.to_numpy(zero_copy_only=False) for c in chunks)]
        ).astype(np.int64)
        codes.append(found if place is None else found[place])
        texts.append([str(t) for t in chunks[0].dictionary.to_pylist()] if chunks else [])
    return header, codes, texts, table.num_rows if place is None else len(place)


def _distinct_lines(content: bytes) -> tuple[bytes, npt.NDArray[np.int32] | None]:
    """Return a CSV file with every line once, and for each row which of these it is.

    Rows that are the same bytes are the same cells: what hides people in groups repeats its lines,
    and reading each of them once is several times faster. Where lines hardly repeat, or a line is
    no row since a quoted cell goes over several, the file itself and None.
    """
    import pyarrow as pa

    some = content[:_SAMPLE].split(b"\n")[1:-1]
    if 2 * len(set(some)) > len(some):
        return content, None
    text = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(text == _LINE) + 1
    if len(ends) < 2 or ends[-1] != len(text):
        return content, None
    if np.any(np.searchsorted(np.flatnonzero(text == _QUOTE), ends) % 2):
        return content, None
    lines = cast(
        Any,
        pa.LargeBinaryArray.from_buffers(
            pa.large_binary(),
            len(ends) - 1,
            [None, pa.py_buffer(cast(Any, ends.astype(np.int64))), pa.py_buffer(content)],
        ),
    )
    coded = lines.dictionary_encode()
    once = b"".join(coded.dictionary.to_pylist())
    return content[: ends[0]] + once, coded.indices.to_numpy(zero_copy_only=False)


def _first_line(content: bytes) -> str:
    end = content.find(b"\n")
    return (content if end < 0 else content[:end]).decode("utf-8")


def _quotes_are_plain(content: bytes) -> bool:
    """Say whether quotes stand around whole cells or doubled inside them only."""
    text = np.frombuffer(content, dtype=np.uint8)
    place = np.flatnonzero(text == _QUOTE)
    if len(place) % 2:
        return False
    opening, closing = place[::2], place[1::2]
    before = text[np.maximum(opening - 1, 0)]
    after = text[np.minimum(closing + 1, len(text) - 1)]
    starts = (before == _COMMA) | (before == _LINE) | (opening == 0)
    ends = (after == _COMMA) | (after == _LINE) | (closing == len(text) - 1)
    # A doubled quote closes and opens again at once.
    doubled = opening[1:] == closing[:-1] + 1
    return bool(
        (starts | np.concatenate([[False], doubled])[: len(starts)]).all()
        and (ends | np.concatenate([doubled, [False]])[: len(ends)]).all()
    )
