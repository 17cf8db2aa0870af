"""Slicing: columns that go together stay linked, and the groups of columns are permuted apart."""

from .slicing import Slicing

__all__ = ["Slicing"]
