"""Lookup tables: from keys to values, as resources that ops read and write."""
