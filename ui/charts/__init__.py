"""Charts and their colours."""
