"""Panels of Compare."""
