"""What is measured on a release after it was found."""
