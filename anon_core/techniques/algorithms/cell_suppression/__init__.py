"""Cell suppression and cell generalization: change single cells, as few as possible."""

from anon_core.techniques.algorithms.cell_suppression.cell_suppression import CellSuppression

__all__ = ["CellSuppression"]
