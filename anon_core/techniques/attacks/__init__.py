"""Attacks: each file holds one adversary, run against what is published."""
