"""What the texts of cells and labels mean."""
