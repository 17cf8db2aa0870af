"""Consistency without classes: each row publishes a box of its own that enough others fit."""

from anon_core.techniques.algorithms.matching.matching import Matching

__all__ = ["Matching"]
