"""Panels of Learn and Experiments."""
