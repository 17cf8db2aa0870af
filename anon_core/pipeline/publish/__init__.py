"""A release as a table in canonical order, and as files."""
