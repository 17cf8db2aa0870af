"""Counts with noise: differentially private histograms next to released tables."""
