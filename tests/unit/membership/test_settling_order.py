"""How a state packs the rows that are open, and when laying it out is given up."""

from __future__ import annotations

import numpy as np

from anon_core.base.context import Context, now
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.settling_order import _Fields, plan


def first_fit(used: list[set[int]], bits: int) -> tuple[int, int]:
    """Take the first free run, looked for place by place."""
    for word, taken in enumerate([*used, set()]):
        for shift in range(62 - bits + 1):
            run = set(range(shift, shift + bits))
            if not taken & run:
                if word == len(used):
                    used.append(set())
                used[word] |= run
                return word, shift
    raise AssertionError


def test_fields_are_given_out_first_fit() -> None:
    generator = np.random.default_rng(3)
    fields, plain = _Fields(), list[set[int]]()
    held: list[tuple[int, int, int]] = []
    for _ in range(400):
        if held and generator.random() < 0.4:
            word, shift, bits = held.pop(int(generator.integers(len(held))))
            fields.give(word, shift, bits)
            plain[word] -= set(range(shift, shift + bits))
        else:
            bits = int(generator.integers(1, 14))
            at = fields.take(bits)
            assert at == first_fit(plain, bits)
            held.append((*at, bits))
    assert fields.words == len(plain) > 1


def test_laying_out_ends_with_its_time() -> None:
    one = np.ones(1, dtype=np.int64)
    system = System(
        rows=np.zeros((1, 1), dtype=np.int32),
        total=one,
        lower=0 * one,
        upper=one,
        people=one,
        shared=np.zeros(1, dtype=np.bool_),
    )
    assert plan(system) is not None
    assert plan(system, Context(deadline=now() - 1)) is None
