"""What is no table of rows: networks of people, and the places they ask from."""
