"""Helpers for tests, of Weft itself and of programs that use it."""
