"""Full-domain recoding: the lattice of levels, its nodes and what searches over it share."""
