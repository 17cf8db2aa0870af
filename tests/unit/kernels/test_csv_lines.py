"""Lines of a CSV file counted byte by byte against a pattern of a whole line, on random input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.verification.files import plain_bytes
from anon_core.verification.files.csv_lines import count_lines
from tests import naive_kernels
from tests.often import often

pytestmark = pytest.mark.kernels

_CELL = st.sampled_from(["", "a", "é b", '"x"', '"a,b"', '"a""b"', '""'])
_LINE = st.lists(_CELL, min_size=2, max_size=2).map(",".join)
_ODD = st.text(alphabet='a",\n\r\0;', max_size=6)


@often(400)
@given(
    lines=st.lists(_LINE, max_size=5),
    odd=st.lists(st.tuples(st.integers(0, 60), _ODD), max_size=2),
    windows=st.booleans(),
    separator=st.sampled_from([",", ";", "\t"]),
    width=st.sampled_from([2, 2, 2, 1, 3]),
    whole=st.booleans(),
)
@example(lines=["a,b"], odd=[], windows=False, separator=",", width=2, whole=False)
@example(lines=['a,"b"'], odd=[], windows=True, separator=",", width=2, whole=True)
def test_plain_lines_are_those_of_a_pattern(
    lines: list[str],
    odd: list[tuple[int, str]],
    windows: bool,
    separator: str,
    width: int,
    whole: bool,
) -> None:
    end = "\r\n" if windows else "\n"
    text = end.join(lines) + (end if whole else "")
    for place, more in odd:
        text = text[:place] + more + text[place:]
    content = text.replace(",", separator).encode()
    found = np.frombuffer(content, dtype=np.uint8)
    expected = naive_kernels.plain_csv_lines(content, separator, width, end.encode())
    assert count_lines(found, ord(separator), width, windows) == expected


@often(100)
@given(lines=st.lists(_LINE, min_size=1, max_size=8), end=st.booleans(), block=st.integers(1, 40))
def test_a_file_is_counted_in_blocks_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: bool, block: int
) -> None:
    place: Path = tmp_path_factory.mktemp("lines") / "table.csv"
    place.write_text("\n".join(lines) + ("\n" if end else ""), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_bytes, "_BLOCK", block)
        assert plain_bytes.plain_lines(place, ",", 2) == len(lines)
