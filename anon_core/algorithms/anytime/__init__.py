"""A time-boxed search for lattices too large to enumerate, with a bound on what it missed."""

from .anytime import Anytime

__all__ = ["Anytime"]
