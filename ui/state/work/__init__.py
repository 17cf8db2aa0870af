"""Work that a page starts: runs, sweeps, trials and what they show meanwhile."""
