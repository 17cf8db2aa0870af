"""Figures, plans and techniques in plain words."""
