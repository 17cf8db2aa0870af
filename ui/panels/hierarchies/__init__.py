"""Panels of Hierarchies."""
