"""Groups of similar rows: growing, halving, ordering, and the release they make."""
