"""k-Optimize: the best single-dimensional recoding by intervals, over a set-enumeration tree."""

from .k_optimize import KOptimize, children_of

__all__ = ["KOptimize", "children_of"]
