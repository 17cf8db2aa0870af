"""Counts with noise: differentially private histograms beside released tables."""
