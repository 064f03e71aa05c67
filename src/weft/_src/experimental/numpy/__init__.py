"""`tf.experimental.numpy`: NumPy's functions, with its rules of types, on tensors.

They work eagerly, in functions and under tapes, like everything they are made of.
"""
