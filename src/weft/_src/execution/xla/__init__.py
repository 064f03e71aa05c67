"""Graphs become programs of XLA, through jax: for accelerators and clusters.

Imported by the functions that need it, as jax takes a second to load; nothing else imports jax.
"""
