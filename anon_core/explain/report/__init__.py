"""The report of a release: the evidence for a decision, as JSON, HTML and PDF."""
