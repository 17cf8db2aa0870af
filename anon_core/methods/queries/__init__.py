"""Count queries: exact answers, and estimates from a release."""
