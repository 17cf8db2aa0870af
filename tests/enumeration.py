"""Every node of a small lattice by plain loops: what searches are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests import naive
from tests.making import Case

METRICS = (
    *("loss", "weighted-loss", "discernibility", "average-class-size", "ncp"),
    *("generalization-height", "choices-left"),
)


class Enumeration:
    """Every node of a case under given promises: what it removes, and what it costs."""

    def __init__(
        self, case: Case, k: int, least: int = 0, metrics: Sequence[str] = METRICS
    ) -> None:
        rows, attributes = case.rows, case.attributes
        needs = [(case.column(name), least) for name in case.sensitive] if least else []
        self.size = len(rows)
        self.kept: dict[naive.Node, int] = {}
        self.removed: dict[naive.Node, int] = {}
        self.costs: dict[str, dict[naive.Node, Fraction]] = {m: {} for m in metrics}
        for node in naive.every_node(attributes):
            found = naive.classes(rows, attributes, node)
            kept = naive.kept_classes(found, k, needs)
            self.removed[node] = len(naive.removed_rows(found, kept))
            self.kept[node] = len(kept)
            if kept:
                covers = naive.covers_at(kept, attributes, node)
                for metric in metrics:
                    self.costs[metric][node] = naive.cost(metric, rows, attributes, covers)

    def satisfied(self, budget: float) -> list[naive.Node]:
        most = budget * self.size
        return [n for n, gone in self.removed.items() if gone <= most + 1e-9 and gone < self.size]

    def best(self, metric: str, nodes: list[naive.Node]) -> tuple[Fraction, naive.Node]:
        """Return the least cost, and among the cheapest nodes the lowest, then the first."""
        cost = min(self.costs[metric][n] for n in nodes)
        cheapest = [n for n in nodes if self.costs[metric][n] == cost]
        return cost, min(cheapest, key=lambda n: (sum(n), n))
