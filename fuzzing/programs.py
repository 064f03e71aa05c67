"""Random programs: run as plain Python on eager tensors and as `tf.function`, and compared.

Programs are nests of assignments, if, while, for, break, continue and return over integers, floats
and small tensors; every loop is bounded. A program that disagrees is printed with both results.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf

_VARIABLES = ("a", "b", "c")  # integers
_FLOATS = ("u", "v")


class ProgramWriter:
    """Writes one random program, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._counter = 0

    def write(self) -> str:
        """The source of a function f(a, b, c, u, v)."""
        self._lines = ["def f(a, b, c, u, v):"]
        self._block(1, depth=0, in_loop=False)
        self._line(1, f"return {self._result()}")
        return "\n".join(self._lines) + "\n"

    def _line(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _block(self, indent: int, depth: int, in_loop: bool) -> None:
        for _ in range(self._random.randint(1, 3)):
            self._statement(indent, depth, in_loop)

    def _statement(self, indent: int, depth: int, in_loop: bool) -> None:
        choices: list[tuple[Callable[..., None], int]] = [(self._assign, 5)]
        if depth < 3:
            choices += [(self._if, 5), (self._while, 2), (self._for, 2)]
        if depth and in_loop:
            choices += [(self._jump, 2)]
        if depth:
            choices += [(self._return, 1)]
        kinds, weights = zip(*choices, strict=True)
        self._random.choices(kinds, weights)[0](indent, depth, in_loop)

    def _int(self) -> str:
        r = self._random
        name = r.choice(_VARIABLES)
        return r.choice(
            [
                name,
                f"{name} + {r.randint(-3, 3)}",
                f"{name} - {r.choice(_VARIABLES)}",
                f"{name} * {r.randint(-2, 2)}",
                f"{name} % 7",
                f"abs({name})",
                f"min({name}, {r.choice(_VARIABLES)})",
                f"({name} if {self._condition(1)} else {r.choice(_VARIABLES)})",
            ]
        )

    def _float(self) -> str:
        r = self._random
        name = r.choice(_FLOATS)
        return r.choice(
            [
                name,
                f"{name} * 0.5",
                f"{name} + {r.choice(_FLOATS)}",
                f"{name} - {r.uniform(-1, 1):.2f}",
                f"tanh({name})",
            ]
        )

    def _condition(self, depth: int = 0) -> str:
        r = self._random
        simple = r.choice(
            [
                f"{r.choice(_VARIABLES)} > {r.randint(-3, 5)}",
                f"{r.choice(_VARIABLES)} < {r.choice(_VARIABLES)}",
                f"{r.choice(_VARIABLES)} == {r.randint(-2, 2)}",
                f"{r.choice(_VARIABLES)} != {r.randint(-2, 2)}",
                f"-3 < {r.choice(_VARIABLES)} <= 4",
                f"reduce_sum({r.choice(_FLOATS)}) > {r.uniform(-1, 1):.2f}",
            ]
        )
        if depth < 2 and r.random() < 0.3:
            form = r.choice(["({} and {})", "({} or {})", "not {}"])
            return form.format(simple, self._condition(depth + 1))
        return simple

    def _assign(self, indent: int, depth: int, in_loop: bool) -> None:
        r = self._random
        if r.random() < 0.6:
            name = r.choice(_VARIABLES)
            if r.random() < 0.3:
                self._line(indent, f"{name} += {r.randint(-3, 3)}")
            elif r.random() < 0.2:
                # Never twice the same: CPython 3.11.2 stores `x, x = a, b` in the wrong order.
                other = r.choice([v for v in _VARIABLES if v != name])
                self._line(indent, f"{name}, {other} = {self._int()}, {self._int()}")
            else:
                self._line(indent, f"{name} = {self._int()}")
        else:
            self._line(indent, f"{r.choice(_FLOATS)} = {self._float()}")

    def _if(self, indent: int, depth: int, in_loop: bool) -> None:
        self._line(indent, f"if {self._condition()}:")
        self._block(indent + 1, depth + 1, in_loop)
        if self._random.random() < 0.3:
            self._line(indent, f"elif {self._condition()}:")
            self._block(indent + 1, depth + 1, in_loop)
        if self._random.random() < 0.5:
            self._line(indent, "else:")
            self._block(indent + 1, depth + 1, in_loop)

    def _while(self, indent: int, depth: int, in_loop: bool) -> None:
        self._counter += 1
        n = f"n{self._counter}"
        self._line(indent, f"{n} = constant(0)")
        self._line(indent, f"while {n} < {self._random.randint(0, 4)} and {self._condition(1)}:")
        self._line(indent + 1, f"{n} = {n} + 1")
        self._block(indent + 1, depth + 1, in_loop=True)
        self._else_clause(indent, depth, in_loop)

    def _for(self, indent: int, depth: int, in_loop: bool) -> None:
        self._counter += 1
        i = f"i{self._counter}"
        iterable = self._random.choice(
            [f"tf_range({self._random.randint(0, 4)})", "tf_range(abs(a) % 4)"]
        )
        self._line(indent, f"for {i} in {iterable}:")
        self._line(indent + 1, f"{self._random.choice(_VARIABLES)} += {i}")
        self._block(indent + 1, depth + 1, in_loop=True)
        self._else_clause(indent, depth, in_loop)

    def _else_clause(self, indent: int, depth: int, in_loop: bool) -> None:
        if self._random.random() < 0.15:
            self._line(indent, "else:")
            self._block(indent + 1, depth + 1, in_loop)

    def _jump(self, indent: int, depth: int, in_loop: bool) -> None:
        self._line(indent, f"if {self._condition()}:")
        self._line(indent + 1, self._random.choice(["break", "continue"]))

    def _return(self, indent: int, depth: int, in_loop: bool) -> None:
        if self._random.random() < 0.5:
            self._line(indent, f"if {self._condition()}:")
            indent += 1
        self._line(indent, f"return {self._result()}")

    def _result(self) -> str:
        return f"{self._int()}, {self._float()}"


def load(source: str, seed: int) -> Callable[..., Any]:
    """The function of a program, with its source where AutoGraph can find it."""
    file = f"<fuzz program {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {
        "constant": tf.convert_to_tensor,
        "tf_range": tf.range,
        "tanh": tf.tanh,
        "reduce_sum": tf.reduce_sum,
        "__name__": "fuzz_program",
    }
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def _inputs(seed: int) -> list[tf.Tensor]:
    r = np.random.default_rng(seed)
    ints = [tf.convert_to_tensor(np.int32(r.integers(-4, 6))) for _ in _VARIABLES]
    floats = [tf.convert_to_tensor(r.uniform(-1, 1, 3).astype(np.float32)) for _ in _FLOATS]
    return ints + floats


def _outcome(run: Callable[..., Any], inputs: list[tf.Tensor]) -> Any:
    try:
        return [np.asarray(tf.convert_to_tensor(t)) for t in run(*inputs)]
    except Exception as e:  # noqa: BLE001 - the class is what is compared
        return e


def _agree(a: Any, b: Any) -> bool:
    if isinstance(a, Exception) or isinstance(b, Exception):
        return type(a) is type(b)
    return all(np.allclose(x, y, 1e-5, 1e-6) for x, y in zip(a, b, strict=True))


def with_gradients(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same program, which also returns the gradients of its float result."""

    def both(*inputs: tf.Tensor) -> Any:
        sources = list(inputs[len(_VARIABLES) :])
        with tf.GradientTape() as tape:
            tape.watch(sources)
            result = run(*inputs)
        found = tape.gradient(result[1], sources, unconnected_gradients="zero")
        return [*result, *map(tf.convert_to_tensor, found)]

    return both


def check_program(seed: int, *, gradients: bool = False) -> str | None:
    """Random Python programs: eager against traced.

    None if both agree, else the program and what differed.
    """
    source = ProgramWriter(seed).write()
    eager = load(source, seed)
    traced: Callable[..., Any] = tf.function(eager)
    if gradients:
        eager, traced = with_gradients(eager), with_gradients(traced)
    for k in range(3):
        inputs = _inputs(seed * 10 + k)
        expected, got = _outcome(eager, inputs), _outcome(traced, inputs)
        if not _agree(expected, got):
            values = ", ".join(str(t.numpy()) for t in inputs)
            return f"seed {seed}, f({values})\n{source}\neager: {expected!r}\ngraph: {got!r}\n"
    return None


def check_gradients(seed: int) -> str | None:
    """Random programs, eager and traced, with the gradients of their results."""
    return check_program(seed, gradients=True)
