"""Who is proven to be in a table whose rows were permuted block by block (GetDelta)."""
