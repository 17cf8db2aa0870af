"""What .xls and .xlsb files say of the formats of numbers, which python-calamine does not tell.

Both hold records, found by their kind; [MS-XLS] 2.4 and [MS-XLSB] 2.4 number them.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping

#: The formats of days and times that every workbook has without saying so.
_DAY_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
#: What a format shows as it is, and a colour or a country; hours over 24 are none of these.
_UNREAD = re.compile(r'"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
#: Records of an .xls file: a format's number, length and width; a style's format; row, column,
#: style and number of a cell or formula; length, row and first column of numbers in a row.
_FORMAT_RECORD = re.compile(rb"\x1e\x04..(..)(..)([\x00\x01])", re.DOTALL)
_STYLE_RECORD = re.compile(rb"\xe0\x00\x14\x00..(..).{16}", re.DOTALL)
_NUMBER_RECORD = re.compile(
    rb"(?:\x03\x02\x0e\x00|\x06\x00[^\x00].)(..)(..)(..)(.{8})",
    re.DOTALL,
)
_SHORT_RECORD = re.compile(rb"\x7e\x02\x0a\x00(..)(..)(..)(....)", re.DOTALL)
_NUMBERS_RECORD = re.compile(rb"\xbd\x00(..)(..)(..)", re.DOTALL)


def binary_formats(data: bytes) -> dict[int, str]:
    """Return the number formats that an .xls or .xlsb file has of its own, by their number."""
    if data.startswith(b"PK"):
        records = _records(_styles(data))
        texts = ((body[:2], body[6:]) for kind, body in records if kind == 44)
        return {_int(number): text.decode("utf-16-le", "replace") for number, text in texts}
    codes: dict[int, str] = {}
    for m in _FORMAT_RECORD.finditer(data):
        text = data[m.end() : m.end() + (_int(m[2]) << m[3][0])]
        codes[_int(m[1])] = text.decode("utf-16-le" if m[3][0] else "latin-1", "replace")
    return codes


def binary_days(data: bytes) -> Iterator[tuple[int, int, float]]:
    """Yield row, column and number of what an .xls or .xlsb file shows as days, of any sheet."""
    codes = binary_formats(data)
    if data.startswith(b"PK"):
        records = list(_records(_styles(data)))
        kinds = [kind for kind, _ in records]
        own = records[kinds.index(617) : kinds.index(618)] if {617, 618} <= set(kinds) else []
        dated = _dated((_int(body[2:4]) for _, body in own[1:]), codes)
        for part in _parts(data, "worksheets/") if dated else ():
            row = 0
            for kind, body in _records(part):
                if kind == 0:
                    row = _int(body[:4])
                elif kind in (2, 5, 9) and _int(body[4:7]) in dated:
                    yield row, _int(body[:4]), _number(body[8 : 12 if kind == 2 else 16])
        return
    dated = _dated((_int(m[1]) for m in _STYLE_RECORD.finditer(data)), codes)
    for m in (*_NUMBER_RECORD.finditer(data), *_SHORT_RECORD.finditer(data)) if dated else ():
        if _int(m[3]) in dated:
            yield _int(m[1]), _int(m[2]), _number(m[4])
    for m in _NUMBERS_RECORD.finditer(data) if dated else ():
        for place, at in enumerate(range(m.end(), m.end() + _int(m[1]) - 6, 6)):
            if _int(data[at : at + 2]) in dated:
                yield _int(m[2]), _int(m[3]) + place, _number(data[at + 2 : at + 6])


def shows_days(number: int, code: str | None) -> bool:
    """Say whether a number format shows days or times.

    Examples
    --------
    >>> shows_days(14, None), shows_days(164, "dd/mm/yyyy"), shows_days(165, "[h]:mm")
    (True, True, True)
    >>> shows_days(0, None), shows_days(166, '0.00" dm"'), shows_days(167, "[Red]0;[$-407]0")
    (False, False, False)
    """
    if code is None:
        return number in _DAY_FORMATS
    shown = _UNREAD.sub("", code.split(";")[0]).lower()
    return shown != "general" and any(sign in shown for sign in "dmyhs")


def _dated(formats: Iterator[int], codes: Mapping[int, str]) -> set[int]:
    """Return which styles, whose formats are given in order, show days or times."""
    return {style for style, own in enumerate(formats) if shows_days(own, codes.get(own))}


def _styles(data: bytes) -> bytes:
    return next(iter(_parts(data, "xl/styles.bin")), b"")


def _parts(data: bytes, called: str) -> list[bytes]:
    """Return the parts of an .xlsb file whose names hold a text."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            names = packed.namelist()
            return [packed.read(n) for n in names if called in n and n.endswith(".bin")]
    except (zipfile.BadZipFile, NotImplementedError):
        return []  # opening it says so


def _records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of the records of a part of an .xlsb file."""
    at = 0
    while at < len(part):
        head = [0, 0]
        for which, most in enumerate((2, 4)):  # kind and length: seven bits a byte, lowest first
            for place in range(most):
                byte = part[at] if at < len(part) else 0
                at += 1
                head[which] |= (byte & 127) << 7 * place
                if byte < 128:
                    break
        yield head[0], part[at : at + head[1]]
        at += head[1]


def _number(content: bytes) -> float:
    """Return a number of an .xls or .xlsb file: eight bytes, or four of them and two marks."""
    if len(content) > 4:
        return float(struct.unpack("<d", content.ljust(8, b"\0"))[0])
    marked = _int(content)
    if marked & 2:
        number = float(marked >> 2)  # what is below 0 is no late day
    else:
        number = float(struct.unpack("<d", bytes(4) + struct.pack("<I", marked & ~3))[0])
    return number / 100 if marked & 1 else number


def _int(content: bytes) -> int:
    return int.from_bytes(content, "little")
