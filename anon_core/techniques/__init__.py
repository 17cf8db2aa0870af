"""The shelves: a technique is one file, or one folder with helpers of its own."""
