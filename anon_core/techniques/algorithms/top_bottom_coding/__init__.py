"""Top and bottom coding: extreme values are published as one, rare rows are suppressed."""

from anon_core.techniques.algorithms.top_bottom_coding.top_bottom_coding import TopBottomCoding

__all__ = ["TopBottomCoding"]
