"""Tables of counts and magnitudes: built from rows, protected, and proven before they go out."""
