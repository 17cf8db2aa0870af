"""Panels of Results."""
