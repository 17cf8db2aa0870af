"""Which techniques suit a release: from purpose, recipient and what must not be learned."""
