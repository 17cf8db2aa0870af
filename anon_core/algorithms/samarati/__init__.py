"""Samarati's search: halve the height of the lattice until a lowest solution is left."""

from .samarati import Samarati

__all__ = ["Samarati"]
