"""Metrics: each file holds one measure of what a release lost."""
