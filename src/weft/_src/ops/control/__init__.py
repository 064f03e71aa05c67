"""Branches, loops, calls and the growing stack."""
