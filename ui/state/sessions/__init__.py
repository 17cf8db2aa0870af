"""Sessions that are kept, opened and ended."""
