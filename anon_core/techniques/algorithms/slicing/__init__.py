"""Slicing: columns that go together stay linked, and the groups of columns are permuted apart."""

from anon_core.techniques.algorithms.slicing.slicing import Slicing

__all__ = ["Slicing"]
