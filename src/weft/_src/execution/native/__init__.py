"""The native tier: graphs with concrete shapes as machine code.

The path of a graph: `specialize` (concrete shapes) -> `segments` (what can be compiled, what stays
with NumPy) -> `lower` (ops to loop values) -> `schedule` (which values share a loop nest, where
each lies in memory) -> `emit` (LLVM IR as text) -> `compiler` (machine code) -> `executable`.
"""
