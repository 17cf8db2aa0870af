"""Consistency without classes: each row publishes a box of its own that enough others fit."""

from .matching import Matching

__all__ = ["Matching"]
