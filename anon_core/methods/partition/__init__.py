"""Partitions of the table into boxes: cuts, gains, merging, and the release they make."""
