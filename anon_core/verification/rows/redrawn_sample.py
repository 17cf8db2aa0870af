"""The sample that a secret draws row by row, drawn again from the recipe, and its classes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np

from anon_core.verification.evidence import CannotTell, Evidence
from anon_core.verification.rows.histogram import tally
from anon_core.verification.rows.tables import joined

_CELL, _ROW = "\x1f", "\x1e"
_BLOCK = 1 << 16
#: Choices of levels that fit the published texts and are tried, at most.
_MOST_CHOICES = 64

Texts = tuple[str, ...]


def redrawn(evidence: Evidence, seed: int, share: Fraction) -> tuple[list[Texts], list[int]]:
    """Return the distinct rows of the private table, and how many of each the secret draws.

    Rows are taken in the order of their texts, quasi-identifiers as the recipe lists them, and
    each has 64 bits of its own: it is drawn where they are less than its share of 2**64.
    """
    private, quasi = evidence.private, evidence.promise.quasi
    columns = [private.codes(name) for name in quasi]
    texts: list[list[str]] = []
    for name in quasi:
        written = private.written(name)
        texts.append([*(written.get(key, "") for key in private.columns[name].keys), ""])
    which, first = joined(columns, len(private))
    rows = [
        tuple(own[code] for own, code in zip(texts, codes, strict=True))
        for codes in zip(*(column[first].tolist() for column in columns), strict=True)
    ]
    size = tally(which, private.count, len(rows)).tolist()
    table = sorted(zip(rows, size, strict=True))
    lines = [_CELL.join(quasi), *(_CELL.join((*row, str(n))) for row, n in table)]
    digest = hashlib.sha256(_ROW.join(lines).encode("utf-8", "surrogatepass")).digest()
    plan = _told([evidence.promise.algorithm, list(evidence.promise.models)])
    secret = hashlib.sha256(seed.to_bytes(32) + hashlib.sha256(b"protection").digest()).digest()
    parts = (b"rows", plan.encode(), digest)
    key = hashlib.sha256(secret + b"".join(hashlib.sha256(p).digest() for p in parts)).digest()
    need = 8 * private.rows
    stream = b"".join(
        hashlib.shake_256(key + block.to_bytes(8, "little")).digest(_BLOCK)
        for block in range(-(-need // _BLOCK))
    )
    bar = int(share * (1 << 64))
    heads = np.cumsum(np.frombuffer(stream[:need], dtype="<u8") < np.uint64(bar), dtype=np.int64)
    ends = np.cumsum([n for _, n in table])
    drawn = np.diff(heads[ends - 1], prepend=0)
    return [row for row, _ in table], drawn.tolist()


def _told(value: object) -> str:
    """Return what a recipe says as one text; 1 and 1.0 are the same number."""
    if isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, int | float):
        return str(Fraction(str(value)))
    if isinstance(value, Mapping):
        told = cast(Mapping[str, Any], value)
        return "{" + ",".join(f"{key!r}:{_told(told[key])}" for key in sorted(told)) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(_told(one) for one in cast(Sequence[Any], value)) + "]"
    return repr(value)


def labels_by_level(evidence: Evidence, name: str) -> list[dict[str, str]]:
    """Return, level by level, the label of every text that the private table has in a column.

    The missing value hangs directly under the root.
    """
    column, written = evidence.private.columns[name], evidence.private.written(name)
    rows = evidence.levels.get(name)
    paths = {key: (text, "*") for key, text in written.items()}
    if rows is not None:
        above = {column.spelling.key(row[0].strip()): [c.strip() for c in row[1:]] for row in rows}
        if any(key not in above for key in written):
            raise CannotTell(f"the hierarchy of '{name}' lacks a value of the table")
        paths = {key: (text, *(above[key] or ["*"])) for key, text in written.items()}
    height = max((len(path) - 1 for path in paths.values()), default=1)
    top = next((path[-1] for path in paths.values()), "*")
    return [
        {**{path[0]: path[level] for path in paths.values()}, "": top if level == height else ""}
        for level in range(height + 1)
    ]


def classes_of(
    rows: Sequence[Texts], drawn: Sequence[int], labels: Sequence[Mapping[str, str]], least: int
) -> Counter[Texts]:
    """Return the classes that have at least `least` drawn rows when published by these labels."""
    found: Counter[Texts] = Counter()
    for row, count in zip(rows, drawn, strict=True):
        if count:
            found[tuple(own[text] for own, text in zip(labels, row, strict=True))] += count
    return Counter({texts: count for texts, count in found.items() if count >= least})


def published_classes(evidence: Evidence) -> Counter[Texts]:
    """Return the published classes by their texts, quasi-identifiers as the recipe lists them."""
    part = evidence.grouped
    first = np.unique(part.group, return_index=True)[1]
    cells = [
        [part.table.texts_of(name)[code] for code in part.table.codes_of(name)[first].tolist()]
        for name in evidence.promise.quasi
    ]
    return Counter(dict(zip(zip(*cells, strict=True), part.sizes.tolist(), strict=True)))


def fitting_levels(
    published: Counter[Texts], levels: Sequence[Sequence[Mapping[str, str]]]
) -> Iterator[tuple[int, ...]]:
    """Return the choices of one level a column whose labels all published texts are."""
    fits: list[list[int]] = []
    for place, own in enumerate(levels):
        shown = {texts[place] for texts in published}
        fits.append([n for n, labels in enumerate(own) if shown <= set(labels.values())])
    for number, choice in enumerate(product(*fits)):
        if number < _MOST_CHOICES:
            yield choice
