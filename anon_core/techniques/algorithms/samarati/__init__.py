"""Samarati's search: halve the height of the lattice until a lowest solution is left."""

from anon_core.techniques.algorithms.samarati.samarati import Samarati

__all__ = ["Samarati"]
