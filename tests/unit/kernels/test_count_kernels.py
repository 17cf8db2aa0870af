"""The kernels behind count queries against plain loops, compiled and uncompiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anon_core.kernels import query_overlap as kernels
from tests import naive_kernels
from tests.often import EVERY

pytestmark = pytest.mark.kernels


def plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function behind a kernel."""
    return getattr(kernel, "py_func", kernel)


@pytest.mark.often
@pytest.mark.parametrize("seed", range(6) if EVERY else (0, 3, 5))
def test_compiled_kernels_equal_their_plain_lines(seed: int) -> None:
    """Larger tables, so that groups cross the tiles the kernels work in."""
    rng = np.random.default_rng([137, seed])
    groups, entries = (5, 5000) if seed < 4 else (1, 2500)
    group = np.sort(rng.integers(0, groups, entries))
    start = np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
    codes = rng.integers(0, 4, (2, entries)).astype(np.int32)
    count = rng.integers(1, 4, entries)
    size = np.bincount(group, weights=count, minlength=groups)
    which = rng.integers(-1, 3, (7, 2))
    tables = rng.random((2, 3, 4)) if seed % 2 else rng.integers(0, 2, (2, 3, 4)).astype(float)
    at, wide = np.array([0, 12, 24]), np.array([4, 4])
    flat = tables.ravel() if seed % 2 else tables.ravel().astype(np.int16)
    overlaps = kernels.Overlaps(flat, at, wide)
    counted = count.astype(np.float64) if seed % 2 else count
    listed = [
        [(tuple(codes[:, e].tolist()), int(count[e])) for e in np.flatnonzero(group == g)]
        for g in range(groups)
    ]

    def mean(q: int, g: int, columns: tuple[int, ...] = (0, 1)) -> float:
        asked = [tables[c, w].tolist() if (w := which[q, c]) >= 0 else None for c in columns]
        entries = [(tuple(own[c] for c in columns), rows) for own, rows in listed[g]]
        return naive_kernels.mean_overlap(entries, asked)

    expected = np.array([[mean(q, g) * size[g] for g in range(groups)] for q in range(7)])
    to_the_bit = np.tile(size, (7, 1))
    kernels.together(start, 0, codes, counted, size, overlaps, which, to_the_bit)
    for function in (kernels.together, plain(kernels.together), kernels.together_in_arrays):
        found = np.tile(size, (7, 1))
        function(start, 0, codes, counted, size, overlaps, which, found)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        part = np.tile(size[groups // 2 :], (7, 1))
        function(start, groups // 2, codes, counted, size, overlaps, which, part)
        np.testing.assert_allclose(part, expected[:, groups // 2 :], rtol=1e-10)
        assert found.tobytes() == to_the_bit.tobytes()
    to_the_bit = np.tile(size, (7, 1))
    for c in range(2):
        kernels.alone(start, 0, codes[c], count, size, tables[c], which[:, c].copy(), to_the_bit)
    for function in (kernels.alone, plain(kernels.alone), kernels.alone_in_arrays):
        found = np.tile(size, (7, 1))
        for c in range(2):
            function(start, 0, codes[c], count, size, tables[c], which[:, c].copy(), found)
        alone = [[mean(q, g, (0,)) * mean(q, g, (1,)) for g in range(groups)] for q in range(7)]
        np.testing.assert_allclose(found, np.array(alone) * size, rtol=1e-10)
        assert found.tobytes() == to_the_bit.tobytes()
