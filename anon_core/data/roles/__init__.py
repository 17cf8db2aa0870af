"""Roles of columns, and what suggests them."""
