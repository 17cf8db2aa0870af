"""Forms: what a person chooses."""
