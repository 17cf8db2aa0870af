"""A result and a plan in plain words: the same on the pages, the command line and in the report."""
