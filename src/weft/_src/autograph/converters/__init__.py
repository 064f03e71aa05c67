"""Converters rewrite syntax, one construct each; they decide nothing about tensors."""
