"""CombinedAlg: generalize each group just enough that permuting its columns keeps δ-presence."""

from anon_core.techniques.algorithms.combined.combined import CombinedAlg

__all__ = ["CombinedAlg"]
