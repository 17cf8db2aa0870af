"""Which rows of the private table each published row can be."""
