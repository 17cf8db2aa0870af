"""What contract tests set of a technique, asked of its class and not of its name."""

from __future__ import annotations

from anon_core.base.params import Parameter
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm


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
