"""Hierarchies proposed for a column, each with its reason."""
