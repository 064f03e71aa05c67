"""Reductions and cumulative ops."""
