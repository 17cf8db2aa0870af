"""Pictures of what is no table of rows: networks, and boxes for places."""
