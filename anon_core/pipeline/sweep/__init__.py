"""One plan carried out many times, with other settings."""
