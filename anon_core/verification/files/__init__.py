"""Files as the second computation reads and writes them."""
