"""Graphs: the IR, building it by tracing, checking, printing, and the passes over it."""
