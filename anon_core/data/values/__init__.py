"""What cells mean: kinds, numbers, moments, formulas, missing values."""
