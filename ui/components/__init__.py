"""Parts of the pages that are drawn by JavaScript of our own: plain files, nothing is built."""

from . import cuts, tree

__all__ = ["cuts", "tree"]
