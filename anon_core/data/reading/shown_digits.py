"""What Excel shows of whole numbers whose format adds zeros before them: 02139, 012-34-5678.

A sheet stores 2139 and a format, 00000. Read without the format, a postcode loses its zeros.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

#: A format of zeros alone, perhaps with dashes, blanks or strokes between them.
_ZEROS = re.compile(r'0(?:\\?[-/ ]|"[-/ ]"|0)*0')
_CELL = re.compile(r"([A-Z]+)([0-9]+)")
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

#: By row and column, both from 0, the format of a cell, with only its zeros and what is between.
Forms = dict[tuple[int, int], str]


def zero_forms(data: bytes, sheet: str) -> Forms:
    """Return the formats that add zeros, by the cells of one sheet; none of what is no .xlsx."""
    if not data.startswith(b"PK"):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            forms = _forms_of_styles(packed)
            return dict(_cells(packed, sheet, forms)) if forms else {}
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, NotImplementedError):
        return {}  # another format, or broken: opening it says so


def shown(value: object, form: str) -> object:
    """Return what a format of zeros shows of a cell; what is no whole number as it is.

    Examples
    --------
    >>> shown(2139.0, "00000"), shown(12345678.0, "000-00-0000"), shown(2.5, "00000")
    ('02139', '012-34-5678', 2.5)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if value < 0 or value != int(value):
        return value
    digits = str(int(value)).rjust(form.count("0"), "0")
    more = len(digits) - form.count("0")
    left = iter(digits[more:])
    return digits[:more] + "".join(next(left) if sign == "0" else sign for sign in form)


def _forms_of_styles(packed: zipfile.ZipFile) -> dict[str, str]:
    """Return, by the number of a style, its format of zeros."""
    if "xl/styles.xml" not in packed.namelist():
        return {}
    root = ElementTree.fromstring(packed.read("xl/styles.xml"))
    by_id: dict[str, str] = {}
    for one in root.iter():
        if _name(one) == "numFmt":
            first = one.get("formatCode", "").split(";")[0]
            if _ZEROS.fullmatch(first):
                by_id[one.get("numFmtId", "")] = re.sub(r'[\\"]', "", first)
    styles = next((one for one in root if _name(one) == "cellXfs"), ())
    numbered = ((str(i), own.get("numFmtId", "")) for i, own in enumerate(styles))
    return {style: by_id[form] for style, form in numbered if form in by_id}


def _cells(
    packed: zipfile.ZipFile, sheet: str, forms: dict[str, str]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the cells of a sheet that hold numbers with one of some formats."""
    with packed.open(_place(packed, sheet)) as file:
        for _, one in ElementTree.iterparse(file):
            if _name(one) == "c" and one.get("t", "n") == "n" and one.get("s", "") in forms:
                found = _CELL.fullmatch(one.get("r", ""))
                if found is not None:
                    yield (int(found[2]) - 1, _column(found[1])), forms[one.get("s", "")]
            if _name(one) == "row":
                one.clear()


def _place(packed: zipfile.ZipFile, sheet: str) -> str:
    """Return the part of the file that holds a sheet."""
    book = ElementTree.fromstring(packed.read("xl/workbook.xml"))
    sheets = (one for one in book.iter() if _name(one) == "sheet" and one.get("name") == sheet)
    wanted = next((one.get(_RELATED) for one in sheets), None)
    related = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
    target = next((one.get("Target", "") for one in related if one.get("Id") == wanted), "")
    return target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
