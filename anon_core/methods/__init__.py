"""What the techniques of a family share."""
