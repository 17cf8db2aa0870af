"""Microaggregation: rows form small groups of the most alike, and publish the group's averages."""

from anon_core.techniques.algorithms.microaggregation.microaggregation import Microaggregation

__all__ = ["Microaggregation"]
