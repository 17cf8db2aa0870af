"""What techniques are built from, most of it shared by a family."""
