"""What contract tests set of a technique, asked of its class and not of its name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest

from anon_core.base.params import Parameter
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm


def asked_of_each(
    cases: Sequence[tuple[str, ...]],
) -> Callable[[Callable[..., None]], Callable[[str], None]]:
    """Ask a question of every case, all of a family in one test: to begin one takes longer.

    The question alone is `of` of the test.

    Parameters
    ----------
    cases : sequence of tuple of str
        What the question is asked of; of each the first is its family.
    """
    families: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for case in cases:
        families[case[0]].append(case)

    def around(question: Callable[..., None]) -> Callable[[str], None]:
        @pytest.mark.parametrize("which", list(families))
        def test(which: str) -> None:
            for case in families[which]:
                try:
                    question(*case)
                except BaseException as error:
                    error.add_note(f"asked of {case}")
                    raise

        test.__name__, test.__doc__ = question.__name__, question.__doc__
        vars(test)["of"] = question
        return test

    return around


def forming_parameters(kind: type[Algorithm]) -> list[Parameter]:
    """Return the parameters of a technique that say which other one forms its groups."""
    partitioners = set(family("partitioner"))
    return [p for p in kind.parameters() if p.kind == "technique" and partitioners & set(p.options)]


def formed(kind: type[Algorithm]) -> dict[str, object]:
    """Return settings that let groups be formed without looking at sensitive values."""
    by = "mpalm" if kind.needs.counts_public else "mondrian"
    return {p.name: by for p in forming_parameters(kind)}


def tails_at(kind: type[Algorithm], column: str, low: float, high: float) -> dict[str, object]:
    """Return settings that code a column's tails, where a technique does that."""
    limits = [p for p in kind.parameters() if p.each is not None and p.each.kind == "limits"]
    assert bool(limits) == kind.shape.codes_tails
    return {p.name: {column: {"low": low, "high": high}} for p in limits}
