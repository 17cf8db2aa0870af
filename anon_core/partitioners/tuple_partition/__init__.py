"""Slicing's own groups: cuts that keep everyone l-diverse over all groups together."""

from .tuple_partition import TuplePartition

__all__ = ["TuplePartition"]
