"""Experiments, a file each: what is run, what the source printed, and what it claims."""
