"""Panels: the parts that pages are made of."""
