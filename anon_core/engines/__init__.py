"""Tables that an engine holds, counts, joins and orders: DuckDB, Spark."""
