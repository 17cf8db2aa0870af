"""A result and a plan in words: text, answers, advice, report."""
