"""Releases verified from their files, by their recipe."""
