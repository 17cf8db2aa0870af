"""Searches that several models, levels or sizes share."""
