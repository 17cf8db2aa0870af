"""A time-boxed search for lattices too large to enumerate, with a bound on what it missed."""

from anon_core.techniques.algorithms.anytime.anytime import Anytime

__all__ = ["Anytime"]
