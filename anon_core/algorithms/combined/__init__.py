"""CombinedAlg: generalize each group just enough that permuting its columns keeps δ-presence."""

from .combined import CombinedAlg

__all__ = ["CombinedAlg"]
