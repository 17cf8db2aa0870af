"""Tables of any number of rows, drawn from a seed: numbers only, so that any cut is possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_core import Dataset, Roles
from anon_core.data.column import Column
from anon_core.release.problem import Problem, build_problem


def skewed(rows: int, sizes: Sequence[int], seed: int) -> Problem:
    """Return a table in which low numbers are more frequent, so that many rows are alike."""
    rng = np.random.default_rng(seed)
    return _problem([(size * rng.random(rows) ** 2).astype(np.int32) for size in sizes], sizes)


def distinct(rows: int, sizes: Sequence[int], seed: int) -> Problem:
    """Return a table in which no two rows are alike.

    Row i is combination i · step of all that are possible, of which `step` skips none.
    """
    room = int(np.prod(sizes, dtype=np.int64))
    step = int(np.random.default_rng(seed).integers(room // 3, room // 2))
    while np.gcd(step, room) != 1:
        step += 1
    key = np.array([0], dtype=np.int64)
    while len(key) < rows:  # doubled without a product that is too large
        jump = len(key) * step % room
        key = np.concatenate([key, (key + jump) % room])
    key = key[:rows]
    codes: list[npt.NDArray[np.int32]] = []
    for size in sizes:
        codes.append((key % size).astype(np.int32))
        key //= size
    return _problem(codes, sizes)


def _problem(codes: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]) -> Problem:
    columns = tuple(
        Column(
            name=f"q{d}",
            kind="number",
            codes=code,
            values=tuple(str(v) for v in range(size)),
            measure=np.arange(size, dtype=np.float64),
        )
        for d, (code, size) in enumerate(zip(codes, sizes, strict=True))
    )
    return build_problem(
        Dataset(columns=columns, rows=len(codes[0])),
        Roles(quasi=tuple(column.name for column in columns)),
    )
