"""Strategies: one program on several replicas."""
