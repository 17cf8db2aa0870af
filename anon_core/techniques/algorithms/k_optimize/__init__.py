"""k-Optimize: the best single-dimensional recoding by intervals, over a set-enumeration tree."""

from anon_core.techniques.algorithms.k_optimize.k_optimize import KOptimize, children_of

__all__ = ["KOptimize", "children_of"]
