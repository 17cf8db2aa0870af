"""Differential privacy of a sample of rows: levels drawn by chance, and what is left to δ."""
