"""Privacy models: each file holds one promise and how it is measured on what is published."""
