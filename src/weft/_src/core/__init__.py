"""The lowest layer: dtypes, shapes, specs, tensors, the thread's context, variable cells."""
