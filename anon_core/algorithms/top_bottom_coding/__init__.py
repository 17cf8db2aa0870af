"""Top and bottom coding: extreme values are published as one, rows that stay rare are removed."""

from .top_bottom_coding import TopBottomCoding

__all__ = ["TopBottomCoding"]
