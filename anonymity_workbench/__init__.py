"""The installed command; in a wheel the dashboard's files lie here as well."""
