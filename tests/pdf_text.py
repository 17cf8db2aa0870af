"""The text of a PDF that Typst set: what is drawn, turned into letters by each font's own map."""

from __future__ import annotations

import re
import zlib

_OBJECT = re.compile(rb"(\d+) 0 obj\s*(.*?)\s*endobj", re.DOTALL)
_PAGE = re.compile(rb"/Type/Page/Resources (\d+) 0 R.*?/Contents (\d+) 0 R", re.DOTALL)
_FONTS = re.compile(rb"/Font<<(.*?)>>")
_FONT = re.compile(rb"/([\w.+-]+) (\d+) 0 R")
_PAIR = re.compile(rb"<([0-9a-fA-F]+)>\s*<([0-9a-fA-F]+)>")
_ONE = rb"<[0-9a-fA-F]*>|\((?:\\.|[^()\\])*\)"
_DRAWN = re.compile(
    rb"/([\w.+-]+) [\d.]+ Tf|\[((?:%b|[-\d.\s])*)\]\s*TJ|(%b)\s*Tj" % (_ONE, _ONE), re.DOTALL
)
_STRING = re.compile(rb"<([0-9a-fA-F]*)>|\(((?:\\.|[^()\\])*)\)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([nrtbf()\\]|[0-7]{1,3})", re.DOTALL)
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def pdf_text(content: bytes) -> str:
    """Return the text of all pages, in the order in which it is drawn."""
    objects = {int(n): _unpacked(body) for n, body in _OBJECT.findall(content)}
    said: list[str] = []
    for body in objects.values():
        page = _PAGE.search(body)
        if page is None:
            continue
        named = _FONTS.search(objects[int(page.group(1))])
        fonts = (
            {name: _letters(objects, int(at)) for name, at in _FONT.findall(named.group(1))}
            if named
            else {}
        )
        said.append(_drawn(objects[int(page.group(2))], fonts))
    return "\n".join(said)


def _unpacked(body: bytes) -> bytes:
    head, found, rest = body.partition(b"stream")
    if not found or b"/FlateDecode" not in head:
        return body
    return head + zlib.decompressobj().decompress(rest.lstrip(b"\r\n"))


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    answer = re.search(rb"/ToUnicode (\d+) 0 R", objects[font])
    cmap = objects[int(answer.group(1))] if answer else b""
    found: dict[int, str] = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.DOTALL):
        for code, text in _PAIR.findall(block):
            found[int(code, 16)] = bytes.fromhex(text.decode()).decode("utf-16-be")
    return found


def _drawn(body: bytes, maps: dict[bytes, dict[int, str]]) -> str:
    said: list[str] = []
    letters: dict[int, str] = {}
    for font, several, one in _DRAWN.findall(body):
        if font:
            letters = maps.get(font, {})
        for hexed, quoted in _STRING.findall(several or one):
            raw = bytes.fromhex(hexed.decode()) if hexed else _ESCAPE.sub(_char, quoted)
            codes = (int.from_bytes(raw[at : at + 2]) for at in range(0, len(raw), 2))
            said += [letters.get(code, "") for code in codes]
    return "".join(said)


def _char(found: re.Match[bytes]) -> bytes:
    one = found.group(1)
    if one in _PLAIN:
        return _PLAIN[one]
    return bytes([int(one, 8)]) if one.isdigit() else one
