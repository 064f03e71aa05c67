"""Neural-network primitives."""
