"""What columns shuffled in sets tell of a person: the buckets that may hold them, and p(t, s)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from anon_core.methods.bucketized.slice_chances import matching
from anon_core.teaching.learn.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Chances:
    """What the sliced table says of a person.

    Attributes
    ----------
    shows : mapping of int to tuple of (int, int)
        Of every bucket, for each set of columns the rows that show what the person shows, and all.
    buckets : mapping of int to Fraction
        p(t, B) of the buckets that match.
    next to : mapping of int to mapping of str to Fraction
        p(s | t, B) of each of them.
    value : mapping of str to Fraction
        p(t, s).
    """

    shows: Mapping[int, tuple[tuple[int, int], ...]]
    buckets: Mapping[int, Fraction]
    seen_with: Mapping[int, Mapping[str, Fraction]]
    value: Mapping[str, Fraction]


def blocks_shown(trace: Trace, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the sets of columns that show something known, and that of the sensitive column."""
    view = trace[name].release.view
    own = view.block_of(trace.sensitive[0])
    return tuple(b.columns for b in view.blocks if b is own or {*b.columns} & {*view.quasi})


@lru_cache(maxsize=256)
def chances(trace: Trace, name: str, row: int) -> Chances:
    """Return a person's chances, read from the index that the privacy model is measured by."""
    run, column = trace[name], trace.sensitive[0]
    view, frequency = run.release.view, run.result.problem.frequency
    index = matching(view, frequency.run_codes, column)
    texts = view.vocabularies[column].texts
    of = index.value[frequency.run[frequency.row_key[row]]].tolist()
    shows: dict[int, tuple[tuple[int, int], ...]] = {}
    weight: dict[int, Fraction] = {}
    seen_with: dict[int, dict[str, Fraction]] = {}
    for group, size in enumerate(index.size.tolist()):
        rows: list[int] = []
        for b, shown in enumerate(of):
            begin, end = index.value_start[shown : shown + 2].tolist() if shown >= 0 else (0, 0)
            (at,) = np.nonzero(index.group[begin:end] == group)
            rows.append(int(index.rows[begin + at[0]]) if len(at) else 0)
            if len(at) and b == index.star:
                entries = slice(*index.entry_start[begin + at[0] : begin + at[0] + 2].tolist())
                said = zip(index.sensitive[entries], index.together[entries], strict=True)
                seen_with[group] = {texts[s]: Fraction(int(n), rows[-1]) for s, n in said}
        shows[group] = tuple((n, size) for n in rows)
        if all(rows):
            weight[group] = prod((Fraction(n, size) for n in rows), start=Fraction(1))
    total = sum(weight.values(), start=Fraction(0))
    buckets = {group: f / total for group, f in weight.items()}
    value: dict[str, Fraction] = defaultdict(Fraction)
    for group, p in buckets.items():
        for text, share in seen_with[group].items():
            value[text] += p * share
    return Chances(
        shows=shows,
        buckets=buckets,
        seen_with={group: seen_with[group] for group in buckets},
        value=dict(sorted(value.items(), key=lambda one: (-one[1], one[0]))),
    )
