"""Lessons and experiments of the literature."""
