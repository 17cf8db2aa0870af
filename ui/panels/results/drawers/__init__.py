"""Drawers of Results: what a figure, a class or an attack opens."""
