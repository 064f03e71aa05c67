"""Random numbers as pure functions of key and counter: the arithmetic, without tensors or state.

- `philox`: the generator, counters and keys to 32-bit words.
- `distributions`: words to uniform and normal numbers.
- `discrete`: categorical draws and permutations.
- `seeds`: seeds and generator states to keys and counters.
"""
