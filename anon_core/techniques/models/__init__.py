"""Privacy models: each file holds one privacy model and how it is measured on what is published."""
