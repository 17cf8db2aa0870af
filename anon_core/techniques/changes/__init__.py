"""Changes of single columns, made before anything is grouped: each file holds one."""
