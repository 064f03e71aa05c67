"""From loops to calls: LLVM text, compiling, the cache of machine code, calling it."""
