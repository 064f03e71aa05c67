"""The programs that are timed, each written for Weft and TensorFlow, for JAX, and for torch."""

from benchmarks.programs.loops import LSTM, NEWTON, RNN, WHILE
from benchmarks.programs.networks import CONVNET, DENSE, TRANSFORMER
from benchmarks.programs.program import IMPORTS, Program, Text
from benchmarks.programs.small import MILLION, NESTED, NLL, SCALAR
from benchmarks.programs.training import DIGITS, MANY, MLP

PROGRAMS = (
    NLL, DENSE, MLP, DIGITS, SCALAR, NESTED, WHILE, MILLION, RNN, TRANSFORMER, CONVNET, MANY,
    NEWTON, LSTM,
)  # fmt: skip

__all__ = [
    "CONVNET", "DENSE", "DIGITS", "IMPORTS", "LSTM", "MANY", "MILLION", "MLP", "NESTED", "NEWTON",
    "NLL", "PROGRAMS", "RNN", "SCALAR", "TRANSFORMER", "WHILE", "Program", "Text",
]  # fmt: skip
