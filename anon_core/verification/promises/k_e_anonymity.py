"""(k, e)-anonymity, recomputed."""

from __future__ import annotations

from fractions import Fraction

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("k-e-anonymity", forms=("whole", "averaged", "permuted"))
def k_e_anonymity(evidence: Evidence) -> list[Check]:
    """Every class shows k different numbers, and the greatest exceeds the least by e."""
    least, width = evidence.integer("k"), evidence.number("e", least=0)

    def wide(shown: Counts) -> tuple[bool, float]:
        if any(value is None for value in shown):
            raise CannotTell("a value is missing, which is no number")
        numbers = sorted(Fraction(value) for value in shown)
        if len(numbers) < least:
            return False, 0.0
        return numbers[-1] - numbers[0] >= width, float(numbers[-1] - numbers[0])

    return [
        class_check(
            evidence,
            f"k = {least}, e = {float(width):g} for '{column}'",
            *evidence.numbers(column).each(wide),
            bound=float(width),
            measured="smallest range",
            column=column,
        )
        for column in evidence.columns
    ]
