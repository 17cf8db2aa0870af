"""Compiled inner loops; each has a plain twin in the tests."""
