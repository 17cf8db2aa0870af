"""Releases whose columns are permuted apart within buckets."""
