"""Hierarchy files: level tables, parent lines, JSON."""
