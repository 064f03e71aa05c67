"""Arithmetic, comparison, logic and elementwise functions."""
