"""(ε, m)-anonymity, recomputed."""

from __future__ import annotations

from fractions import Fraction

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Counts


@recomputes("epsilon-m-anonymity", forms=("whole", "averaged", "permuted"))
def epsilon_m_anonymity(evidence: Evidence) -> list[Check]:
    """Around every row of a class, at most one m-th of the class's rows are within ε."""
    reach, most = evidence.number("epsilon", least=0), evidence.number("m", least=1)
    relative = evidence.model.get("relative", False)
    if not isinstance(relative, bool):
        raise CannotTell("relative is neither true nor false")

    def apart(shown: Counts) -> tuple[bool, float]:
        if any(value is None for value in shown):
            raise CannotTell("a value is missing, which is no number")
        if any(isinstance(value, str) for value in shown):
            raise CannotTell("a value is a text, which is no number")
        rows = sorted((Fraction(value), count) for value, count in shown.items())
        if relative and rows[0][0] <= 0:
            raise CannotTell("a number is not above 0, so that its share is no distance")
        size = sum(count for _, count in rows)
        crowd = first = last = near = 0
        # Both ends of what is near only move up from one number to the next.
        for number, _ in rows:
            width = reach * number if relative else reach
            while last < len(rows) and rows[last][0] <= number + width:
                near += rows[last][1]
                last += 1
            while rows[first][0] < number - width:
                near -= rows[first][1]
                first += 1
            crowd = max(crowd, near)
        return most * crowd <= size, size / crowd

    return [
        class_check(
            evidence,
            f"ε = {float(reach):g}, m = {float(most):g} for '{column}'",
            *evidence.numbers(column).each(apart),
            bound=float(most),
            measured="least rows per near one",
            column=column,
        )
        for column in evidence.columns
    ]
