"""Top-down partitioning of one dimension at a time, for all rows at once."""

from .single_dimension import SingleDimension

__all__ = ["SingleDimension"]
