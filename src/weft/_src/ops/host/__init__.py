"""Printing, assertions and Python callbacks."""
