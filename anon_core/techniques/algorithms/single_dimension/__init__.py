"""Top-down partitioning of one dimension at a time, for all rows at once."""

from anon_core.techniques.algorithms.single_dimension.single_dimension import SingleDimension

__all__ = ["SingleDimension"]
