"""What an adversary may know next to a release."""
