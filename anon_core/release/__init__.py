"""A release is grouping × coarsening × linkage: the problem, its parts, and the attacker's view."""
