"""The arrays that the core works on, by what they hold; shapes are in the docstrings.

``I64``: counts, rows, places, packed keys. ``I32``: codes, which are numbers of leaves. ``I8``:
small states, -1 among them. ``U8``: states of lattice nodes. ``F64``: prices, weights, chances,
positions. ``B1``: marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
I8 = npt.NDArray[np.int8]
U8 = npt.NDArray[np.uint8]
F64 = npt.NDArray[np.float64]
B1 = npt.NDArray[np.bool_]


def weighted_sum(values: F64, weights: F64 | I64) -> float:
    """Return Σ value · weight, both of shape (n,).

    ``values @ weights`` is the same, but for a column of a table every core waits for the others,
    which takes a hundred times as long on a busy machine.

    Examples
    --------
    >>> weighted_sum(np.array([0.5, 2.0]), np.array([4, 1]))
    4.0
    """
    return float(np.einsum("i,i->", values, weights))


# Numbers and texts to Arrow and back without pandas, which `pyarrow.array` and `to_numpy` import: a
# command that reads and writes files needs none of it, and starts sooner so.


def of_numbers(values: npt.NDArray[Any]) -> pa.Array[Any]:
    """Return an array of the same numbers, which it shares where they lie one behind the other."""
    import pyarrow as pa

    whole = np.ascontiguousarray(values)
    kind: Any = pa.from_numpy_dtype(whole.dtype)
    return cast(Any, pa.Array).from_buffers(
        kind, len(whole), [None, pa.py_buffer(cast(Any, whole))]
    )


def of_texts(texts: Sequence[str], *, large: bool = False) -> pa.Array[Any]:
    """Return an array of texts: ``large_string`` or ``string``.

    Examples
    --------
    >>> of_texts(["a", "", "né"]).to_pylist(), str(of_texts(["b"], large=True).type)
    (['a', '', 'né'], 'large_string')
    """
    import pyarrow as pa

    together = "".join(texts).encode()
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if int(sizes.sum()) != len(together):  # letters of several bytes
        encoded = (len(text.encode()) for text in texts)
        sizes = np.fromiter(encoded, dtype=np.int64, count=len(texts))
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    buffers = [None, pa.py_buffer(cast(Any, ends)), pa.py_buffer(together)]
    found = cast(Any, pa.Array).from_buffers(pa.large_string(), len(texts), buffers)
    return found if large else found.cast(pa.string())


def numbers_of(array: pa.Array[Any]) -> npt.NDArray[Any]:
    """Return the numbers of an array none of which is missing, shared with it.

    Examples
    --------
    >>> numbers_of(of_numbers(np.array([3, 1, 2]))[1:]).tolist()
    [1, 2]
    """
    own: Any = array
    data = np.frombuffer(own.buffers()[1] or b"", dtype=own.type.to_pandas_dtype())
    return data[own.offset : own.offset + len(own)]
