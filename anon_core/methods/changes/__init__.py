"""What changes of single columns share: keyed texts, and numbers written back."""
