"""Panels of Run."""
