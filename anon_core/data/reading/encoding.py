"""Text in any encoding becomes UTF-8, or an error that names the byte."""

from __future__ import annotations

import codecs

from anon_core.base.errors import BadInput
from anon_core.data.reading.formats import SAVE_AS_CSV
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.row_locator import row_at

_HEAD = 4096
_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def as_utf8(data: bytes, options: DataOptions, name: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the text as UTF-8 without mark, and a note where another encoding was read."""
    marked = next(((bom, codec) for bom, codec in _BOMS if data.startswith(bom)), None)
    encoding = options.encoding and codecs.lookup(options.encoding).name
    if not encoding and marked is None:
        head = data[:_HEAD]
        if head.count(0) * 3 > len(head):
            raise BadInput(
                f"{name} is text in UTF-16 or UTF-32 without its mark, or no text.",
                remedy="Save it as UTF-8, or set the encoding, for example 'utf-16-le'.",
            )
        refuse_binary(head, name)
        wrong = _wrong_byte(data, "utf-8")
        if wrong is None:
            return data, ()
        # Windows-1252 is Latin-1 with letters and signs in place of 32 control characters.
        latin, title = "cp1252", "Latin-1 (Windows-1252)"
        if _wrong_byte(data, latin) is not None:
            latin, title = "latin-1", "Latin-1"
        note = f"The file was read as {title}: it is not valid UTF-8 at byte {wrong + 1}."
        return data.decode(latin).encode(), (note,)
    codec = encoding or (marked[1] if marked else "")
    wrong = _wrong_byte(data, codec)
    if wrong is not None:
        declared = f"declared as {codec}" if encoding else f"marked as {codec}"
        place = "" if codec.startswith(("utf-16", "utf-32")) else f", in {row_at(data, wrong)}"
        raise BadInput(
            f"{name} is {declared}, but is not valid {codec} at byte {wrong + 1}{place}.",
            remedy="Leave the encoding empty to have it found out, or save the file as UTF-8.",
        )
    if codec in ("utf-8", "utf-8-sig", "ascii"):
        return data.removeprefix(codecs.BOM_UTF8), ()
    text = data.decode(codec).removeprefix("\ufeff")
    note = () if encoding else (f"The file was read as {codec.upper()}, as its mark says.",)
    return text.encode(), note


def refuse_binary(data: bytes, name: str) -> None:
    """Refuse a file whose first bytes hold more control characters than text does.

    Raises
    ------
    BadInput
    """
    head = data[:_HEAD]
    if sum(head.count(byte) for byte in range(1, 9)) * 20 > len(head):
        raise BadInput(f"{name} is a binary file of an unknown kind.", remedy=SAVE_AS_CSV)


def _wrong_byte(data: bytes, codec: str) -> int | None:
    """Return the place of the first byte that `codec` cannot decode, or None."""
    if data.isascii() and codec in ("utf-8", "ascii", "cp1252", "latin-1"):
        return None
    decoder = codecs.getincrementaldecoder(codec)()
    step = 1 << 24  # in pieces, so that the decoded text never stands in memory as a whole
    for begin in range(0, len(data), step):
        carried = decoder.getstate()[0]
        try:
            decoder.decode(data[begin : begin + step], final=begin + step >= len(data))
        except UnicodeError as error:
            return begin - len(carried) + int(getattr(error, "start", 0))
    return None
