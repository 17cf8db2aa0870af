"""Models recomputed: each file holds the second computation of one privacy model."""
