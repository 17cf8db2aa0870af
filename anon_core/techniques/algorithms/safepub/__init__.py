"""SafePub: a sample of the rows, coarsened by fixed rules, of which only large classes stay."""

from anon_core.techniques.algorithms.safepub.safepub import SafePub

__all__ = ["SafePub"]
