"""From a plan and a table to a verified release."""
