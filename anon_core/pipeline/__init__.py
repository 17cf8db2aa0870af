"""From a plan and a table to a verified release: prepare, search, measure, publish, verify."""
