"""Columns of plain whole numbers are read at once, and as they would be text by text."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import BadInput
from anon_core.data import column as columns
from anon_core.data.column import Column, encode, trimmed
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.options import DataOptions
from anon_core.data.values.thousands import whole_numbers

_PLAIN = st.integers(0, 10**15 - 1).map(str) | st.integers(0, 30).map(str)
_ODD = st.sampled_from(["", " 7", "07", "00", "-1", "1.0", "1e3", "٣", "²", "a", "1" * 16, "99"])
_POOLS = st.lists(_PLAIN, max_size=12) | st.lists(_PLAIN | _ODD, max_size=12)


def _codes(pool: list[str], seed: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    drawn = np.random.default_rng(seed).integers(-1, max(len(pool), 1), size=20)
    return np.minimum(drawn, len(pool) - 1).astype(np.int32)


def _text_by_text(*given: object, **named: object) -> Column | str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "whole_numbers", lambda _texts: None)
        return _told(*given, **named)


def _told(*given: object, **named: object) -> Column | str:
    try:
        return encode(*given, **named)  # type: ignore[arg-type]
    except BadInput as error:
        return error.message


def _same(found: Column | str, expected: Column | str) -> None:
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    for own in fields(Column):
        one, other = getattr(found, own.name), getattr(expected, own.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
        else:
            assert repr(one) == repr(other)


@given(
    _POOLS,
    st.integers(0, 99),
    st.sampled_from([None, "number", "text", "ordered", "date"]),
    st.sampled_from([None, "", ".", "?"]),
)
def test_encoded_at_once(
    pool: list[str], seed: int, kind: str | None, thousands: str | None
) -> None:
    codes = _codes(pool, seed)
    named = {"kind": kind, "thousands": thousands, "notes": ("seen",)}
    _same(_told("c", codes, pool, **named), _text_by_text("c", codes, pool, **named))


@given(st.lists(_PLAIN | _ODD, max_size=12), st.integers(0, 99), st.booleans())
def test_trimmed_at_once(pool: list[str], seed: int, repeated: bool) -> None:
    pool = pool if repeated else list(dict.fromkeys(pool))
    codes = _codes(pool, seed)
    absent = {"", "99"}
    bare, texts = trimmed(codes, pool, absent)
    matching = [None if pool[c].strip() in absent else pool[c].strip() for c in codes if c >= 0]
    assert [None if c < 0 else texts[c] for c in bare[codes >= 0]] == matching
    assert np.all(bare[codes < 0] == -1)
    assert len(set(texts)) == len(texts)
    assert bare.dtype == np.int32


@given(_POOLS, st.integers(0, 99))
def test_read_at_once(pool: list[str], seed: int) -> None:
    pool = list(dict.fromkeys(pool))
    codes = _codes(pool, seed)
    options = DataOptions(missing_values=("", "99"))
    found = read_column("c", codes, pool, options, None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "whole_numbers", lambda _texts: None)
        _same(found, read_column("c", codes, pool, options, None))


@given(_POOLS)
def test_only_the_one_way_to_write_a_number(texts: list[str]) -> None:
    found = whole_numbers(texts)
    plain = bool(texts) and all(
        t.isascii() and t.isdigit() and str(int(t)) == t and len(t) <= 15 for t in texts
    )
    assert (found is not None) == plain
    if found is not None:
        assert found.tolist() == [int(t) for t in texts]
