"""What a session holds: the table, choices, jobs, results and pins."""
