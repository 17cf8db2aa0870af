"""Names made harmless for the pages, and what an edit did, in words."""
