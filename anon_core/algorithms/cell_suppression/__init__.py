"""Cell suppression and cell generalization: change single cells, as few as possible."""

from .cell_suppression import CellSuppression

__all__ = ["CellSuppression"]
