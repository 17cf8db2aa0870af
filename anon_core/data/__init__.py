"""The table: reading, columns, roles, samples, and the frequency set that searches see."""
