"""Anyone who tries every small seed on a release by chance: what comes back, against guessing.

The attackers are those of the tests, on one table and with every seed below 100,000.
"""

from __future__ import annotations

import time

import numpy as np

from anon_core.base import secret
from anon_core.data.sampling import sampled
from benchmarks.bench import Bench
from tests.attacker import ROWS, drawing, linked, released, table

#: The small seed that is planted as a control.
PLANTED = 31_337


def seeds(bench: Bench) -> None:
    """Try every small seed on every technique that uses chance, and on a sample."""
    many = 40_000 if bench.quick else 100_000
    print(f"\nSeeds from 0 to {many - 1:,}, tried on releases of {ROWS} rows")
    for name, ways in drawing().items():
        began = time.perf_counter()
        hidden, planted = (released(ways, 0, seed) for seed in (secret.draw(), PLANTED))
        found = [list(target.seeds(range(many))) for target in (hidden, planted)]
        bench.check(
            found == [[], [PLANTED]],
            f"{name}: no seed draws what a secret drew, and {PLANTED} is found where it was "
            f"planted ({time.perf_counter() - began:.0f} s)",
        )
        if linked(ways, 0, PLANTED) is not None:
            _links(bench, name, many)
    _sample(bench, many)


def _links(bench: Bench, name: str, many: int) -> None:
    """Undo permutations from the published file; count the people whose value is right."""
    ways = drawing()[name]
    hidden, planted = (linked(ways, 0, seed) for seed in (secret.draw(), PLANTED))
    assert hidden is not None
    assert planted is not None
    right = [hidden.right(seed) for seed in range(many)]
    # Each try is right for one person or another, as a draw is: all seeds together are so as often
    # as guessing is, within a standard error of less than 0.0005.
    bench.check(
        max(right) < 1
        and abs(float(np.mean(right)) - hidden.guessing) < 0.01
        and planted.right(PLANTED) == 1,
        f"{name}: from the published file the values of {np.mean(right):.1%} of people come back, "
        f"at best {max(right):.0%}; guessing gives {hidden.guessing:.1%}; of a planted seed all",
    )


def _sample(bench: Bench, many: int) -> None:
    """Draw the sample of a known table again."""
    case, size = table(0), ROWS // 2
    by_age = sorted(case.columns["age"], key=lambda age: int(str(age)))

    def drawn(seed: int) -> set[str]:
        found = sampled(case.dataset, case.dataset.names, 0.5, seed)
        return set(found.column("age").texts().tolist())

    hidden, planted = drawn(secret.draw()), drawn(PLANTED)
    shared: list[int] = []
    found: list[int] = []
    for seed in range(many):
        places = secret.stream(seed, "sample").permutation(ROWS)[:size]
        again = {by_age[place] for place in places.tolist()}
        shared.append(len(again & hidden))
        if again == planted:
            found.append(seed)
    bench.check(
        max(shared) < size and found == [PLANTED],
        f"sample: {np.mean(shared):.2f} of {size} people are drawn again on average, at best "
        f"{max(shared)}; guessing gives {size * size / ROWS:.2f}; a planted seed is found",
    )
