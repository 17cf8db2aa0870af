"""Algorithms: each file holds one way to build a release."""
