"""Releases whose columns are permuted separately within buckets."""
