"""Partitioners: each file holds one way to form the groups of a permuted release."""
