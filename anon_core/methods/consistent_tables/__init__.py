"""Which tables a release could have come from, where the way it was made is known."""
