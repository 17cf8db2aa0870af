"""Slicing's own groups: cuts that keep everyone l-diverse over all groups together."""

from anon_core.techniques.partitioners.tuple_partition.tuple_partition import TuplePartition

__all__ = ["TuplePartition"]
