"""What is released other than one table: a network, views, a table again, places; a file each."""

#: Endings of tables that can be uploaded.
TABLES = ["csv", "parquet", "xlsx", "txt", "gz"]
