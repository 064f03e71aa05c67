"""Random straight-line programs: a list of steps, each a function of earlier values.

A program is grown by running it eagerly, so that every step fits the shapes and dtypes it meets;
steps that Weft refuses are dropped. Afterwards it can be run on any tensors, symbolic ones too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import weft as tf
from fuzzing import wide_steps

SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, -0.0, -0.0, 0.0, 1e30])
DTYPES = (tf.float32, tf.float32, tf.float64, tf.int32, tf.bool)
# What kernels compute in other ways on other tiers, so that results only agree roughly.
MORE_DTYPES = (*DTYPES, tf.float32, tf.int64, tf.uint8, tf.float16, tf.bfloat16)


@dataclass
class Step:
    """A function of values made before; it may give several."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[int, ...]


@dataclass
class Program:
    """Inputs, steps, and which values are returned; values are numbered, inputs first."""

    arrays: list[np.ndarray]
    steps: list[Step] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)
    size: int = 0

    def __call__(self, *tensors: Any) -> list[Any]:
        values = list(tensors)
        for step in self.steps:
            values += _as_list(step.function(*[values[i] for i in step.inputs]))
        return [values[i] for i in self.returned]

    def __str__(self) -> str:
        lines = [f"v{i} = {a!r}  # {a.dtype}" for i, a in enumerate(self.arrays)]
        lines += [f"{s.name}({', '.join(f'v{i}' for i in s.inputs)})" for s in self.steps]
        return "\n".join([*lines, f"return {', '.join(f'v{i}' for i in self.returned)}"])

    def returning_all(self) -> Program:
        """The same program with every value returned."""
        return Program(self.arrays, self.steps, list(range(self.size)), self.size)

    def returning(self, *numbers: int) -> Program:
        """What is needed for some of the values, and nothing else."""
        made = self._numbers_of_steps()
        wanted, needed = set(numbers), set()
        for i in reversed(range(len(self.steps))):
            if wanted & set(made[i]):
                needed.add(i)
                wanted |= set(self.steps[i].inputs)
        order = [*range(len(self.arrays)), *[n for i in sorted(needed) for n in made[i]]]
        new = {old: k for k, old in enumerate(order)}
        steps = [
            Step(step.name, step.function, tuple([new[n] for n in step.inputs]))
            for i, step in enumerate(self.steps)
            if i in needed
        ]
        return Program(self.arrays, steps, [new[n] for n in numbers], len(order))

    def _numbers_of_steps(self) -> list[range]:
        """Which values each step gives."""
        values = [tf.constant(a) for a in self.arrays]
        made = []
        for step in self.steps:
            out = _as_list(step.function(*[values[i] for i in step.inputs]))
            made.append(range(len(values), len(values) + len(out)))
            values += out
        return made

    @property
    def has_branches(self) -> bool:
        return any(step.name.startswith(("cond", "while_loop")) for step in self.steps)


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


class _NothingFitsError(Exception):
    """No value so far can be the input of a step."""


class Grower:
    """Makes one program out of a seed."""

    def __init__(self, seed: int, steps: int | None = None, *, wide: bool = False) -> None:
        self.wide = wide  # more dtypes, more ops
        self.rng = np.random.default_rng(seed)
        self.program = Program([self._array() for _ in range(self.rng.integers(1, 4))])
        self.values: list[Any] = [tf.constant(a) for a in self.program.arrays]
        wanted = int(self.rng.integers(3, 16)) if steps is None else steps
        for _ in range(4 * wanted):
            if len(self.program.steps) < wanted:
                self._try_step()
        # Few are returned, so that most values die on the way.
        n = self.program.size = len(self.values)
        some = {n - 1, int(self.rng.integers(n)), int(self.rng.integers(n))}
        self.program.returned = sorted(some)

    # --- values --------------------------------------------------------------------------------

    def _array(self) -> np.ndarray:
        rank = int(self.rng.choice([0, 1, 2, 2, 3]))
        shape = tuple(
            int(n) for n in self.rng.choice([0, 1, 2, 3, 4], rank, p=[0.06, 0.2, 0.3, 0.3, 0.14])
        )
        choice = MORE_DTYPES if self.wide else DTYPES
        return self._values(shape, choice[self.rng.integers(len(choice))])

    def _values(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        if dtype.is_bool:
            return np.asarray(self.rng.uniform(size=shape) < 0.5)
        if dtype.is_integer:
            low = 0 if dtype.is_unsigned else -5
            return np.asarray(self.rng.integers(low, 6, shape), dtype.numpy_dtype)
        value = np.asarray(self.rng.uniform(-3, 3, shape).round(2))
        if self.rng.uniform() < 0.3 and value.size:
            where = self.rng.uniform(size=shape) < 0.3
            value = np.where(where, self.rng.choice(SPECIAL, shape), value)
        return value.astype(dtype.numpy_dtype)

    def _pick(self, accept: Callable[[Any], bool] = lambda _: True) -> int:
        """A value that is accepted; late ones are likelier, so that programs grow long."""
        found = [i for i, v in enumerate(self.values) if accept(v)]
        if not found:
            raise _NothingFitsError
        late = len(found) - 1 - int(self.rng.exponential(len(found) / 3))
        return found[max(late, 0)]

    # --- steps ---------------------------------------------------------------------------------

    def _try_step(self) -> None:
        makers = (
            self._unary, self._unary, self._binary, self._binary, self._binary, self._trivial,
            self._trivial,
            self._cast, self._select, self._reduce, self._reduce, self._view, self._view,
            self._view, self._arrange, self._arrange, self._by_shape, self._by_shape,
            self._product, self._index, self._index, self._filtered, self._branch, self._loop,
            *[self._more] * (6 if self.wide else 0),
        )  # fmt: skip
        try:
            step = makers[self.rng.integers(len(makers))]()
            if step is None:
                return
            results = _as_list(step.function(*[self.values[i] for i in step.inputs]))
        except (ValueError, TypeError, tf.errors.OpError, _NothingFitsError):
            return
        if any(
            np.prod(r.shape.as_list(), dtype=np.int64) > 200 or r.shape.rank > 5 for r in results
        ):
            return
        self.program.steps.append(step)
        self.values += results

    def _one_of(self, **choices: Any) -> tuple[str, Any]:
        names = list(choices)
        name = names[self.rng.integers(len(names))]
        return name, choices[name]

    def _more(self) -> Step | None:
        """Ops that machine code has rules of its own for."""
        i = self._pick(lambda v: v.dtype.is_floating)
        tables = wide_steps.tables(self.rng, self._axis(i))
        table = tables[self.rng.integers(len(tables))]
        return Step(*self._one_of(**table), (i,))

    def _unary(self) -> Step | None:
        i = self._pick()
        dtype = self.values[i].dtype
        if dtype.is_bool:
            return Step("logical_not", tf.logical_not, (i,))
        common = {
            "abs": tf.abs, "negative": tf.negative, "square": tf.square, "sign": tf.sign,
            "identity": tf.identity, "relu": tf.nn.relu, "stop_gradient": tf.stop_gradient,
            "twice negative": lambda x: tf.negative(-x),
        }  # fmt: skip
        floats = {
            "exp": tf.exp, "tanh": tf.tanh, "sigmoid": tf.sigmoid, "sqrt": tf.sqrt, "sin": tf.sin,
            "floor": tf.floor, "round": tf.round, "softplus": tf.math.softplus,
            "log1p": tf.math.log1p,
            "is_nan": tf.math.is_nan, "reciprocal": tf.math.reciprocal, "rsqrt": tf.math.rsqrt,
            "leaky_relu": tf.nn.leaky_relu, "elu": tf.nn.elu, "softmax": tf.nn.softmax,
        }  # fmt: skip
        return Step(*self._one_of(**common, **(floats if dtype.is_floating else {})), (i,))

    def _pair(self) -> tuple[int, int]:
        """Two values of one dtype (shapes may or may not broadcast)."""
        i = self._pick()
        j = self._pick(lambda v: v.dtype is self.values[i].dtype)
        return i, j

    def _binary(self) -> Step | None:
        pair = self._pair()
        dtype = self.values[pair[0]].dtype
        if dtype.is_bool:
            return Step(
                *self._one_of(
                    logical_and=tf.logical_and, logical_or=tf.logical_or, equal=tf.equal,
                    logical_xor=tf.math.logical_xor,
                ),
                pair,
            )  # fmt: skip
        common = {
            "add": lambda x, y: x + y, "subtract": lambda x, y: x - y,
            "multiply": lambda x, y: x * y, "maximum": tf.maximum, "minimum": tf.minimum,
            "less": tf.less, "equal": tf.equal, "greater_equal": tf.greater_equal,
            "squared_difference": tf.math.squared_difference,
            "add_n": lambda x, y: tf.add_n([x, y]),
        }  # fmt: skip
        floats = {
            "divide": lambda x, y: x / y, "divide_no_nan": tf.math.divide_no_nan,
            "atan2": tf.atan2, "pow": tf.pow, "multiply_no_nan": tf.math.multiply_no_nan,
            "xlogy": tf.math.xlogy,
        }  # fmt: skip
        ints = {
            "floordiv": lambda x, y: x // (tf.abs(y) + 1), "mod": lambda x, y: x % (tf.abs(y) + 1),
            "bitwise_and": lambda x, y: x & y, "bitwise_xor": lambda x, y: x ^ y,
        }  # fmt: skip
        return Step(*self._one_of(**common, **(floats if dtype.is_floating else ints)), pair)

    def _trivial(self) -> Step | None:
        """What algebra may simplify."""
        i = self._pick(lambda v: not v.dtype.is_bool)
        choice = self._one_of(**{
            "x * 1": lambda x: x * 1, "1 * x": lambda x: 1 * x, "x + 0": lambda x: x + 0,
            "0 + x": lambda x: 0 + x, "x - 0": lambda x: x - 0, "x / 1": lambda x: x / 1,
            "x ** 1": lambda x: x**1, "x ** 2": lambda x: x**2, "x - x": lambda x: x - x,
            "x * 0": lambda x: x * 0, "0 - x": lambda x: 0 - x,
            "x * ones": lambda x: x * tf.ones_like(x),
            "x + zeros": lambda x: x + tf.zeros([3, 1], x.dtype),
            "same": lambda x: (x + 1) * (x + 1),
            "constants": lambda x: x + tf.reduce_sum(tf.ones([2], x.dtype)),
        })  # fmt: skip
        return Step(*choice, (i,))

    def _cast(self) -> Step | None:
        i = self._pick()
        target = DTYPES[self.rng.integers(len(DTYPES))]

        def cast(x: Any) -> Any:
            if x.dtype.is_floating and target.is_integer:  # of NaN and such C leaves it open
                x = tf.clip_by_value(
                    tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)), -99.0, 99.0
                )
            return tf.cast(x, target)

        return Step(f"cast to {target.name}", cast, (i,))

    def _select(self) -> Step | None:
        condition, pair = self._pick(lambda v: v.dtype.is_bool), self._pair()
        return Step("where", tf.where, (condition, *pair))

    def _axis(self, i: int) -> int:
        rank = self.values[i].shape.rank
        return int(self.rng.integers(-rank, rank)) if rank else 0

    def _reduce(self) -> Step | None:
        i = self._pick()
        axis = None if self.rng.uniform() < 0.4 else self._axis(i)
        keep = bool(self.rng.uniform() < 0.4)
        dtype = self.values[i].dtype
        if dtype.is_bool:
            name, fn = self._one_of(any=tf.reduce_any, all=tf.reduce_all)
        elif self.rng.uniform() < 0.2:
            name, fn = self._one_of(argmax=tf.argmax, cumsum=tf.cumsum, sort=tf.sort)
            at = self._axis(i)
            return Step(f"{name} {at}", lambda x: _small(fn(x, axis=at)), (i,))
        else:
            name, fn = self._one_of(
                sum=tf.reduce_sum, max=tf.reduce_max, min=tf.reduce_min, mean=tf.reduce_mean,
                prod=tf.reduce_prod, count=tf.math.count_nonzero,
                **({"logsumexp": tf.reduce_logsumexp} if dtype.is_floating else {}),
            )  # fmt: skip
        return Step(
            f"reduce {name} {axis} {keep}", lambda x: _small(fn(x, axis=axis, keepdims=keep)), (i,)
        )

    def _view(self) -> Step | None:
        i = self._pick()
        shape = self.values[i].shape.as_list()
        axis, perm = self._axis(i), [int(p) for p in self.rng.permutation(len(shape))]
        flat = [*[shape[p] for p in perm]]
        start, stop = sorted(int(n) for n in self.rng.integers(-4, 5, 2))
        stride = int(self.rng.choice([1, 1, 2, -1]))
        name, fn = self._one_of(**{
            "reshape -1": lambda x: tf.reshape(x, [-1]),
            f"reshape {flat}": lambda x: tf.reshape(x, flat),
            "reshape [-1, last]": lambda x: tf.reshape(x, [-1, tf.shape(x)[-1]]),
            "reshape merging": lambda x: tf.reshape(x, tf.concat([[-1], tf.shape(x)[2:]], 0)),
            f"expand_dims {axis}": lambda x: tf.expand_dims(x, axis),
            "squeeze": tf.squeeze,
            "transpose": tf.transpose,
            f"transpose {perm}": lambda x: tf.transpose(x, perm),
            f"reverse {axis}": lambda x: tf.reverse(x, [axis]),
            f"x[{start}:{stop}:{stride}]": lambda x: x[start:stop:stride],
            f"x[..., {start}:{stop}]": lambda x: x[..., start:stop],
            "x[..., None]": lambda x: x[..., None],
            "x[0]": lambda x: x[0],
            "x[..., -1]": lambda x: x[..., -1],
            "ensure_shape": lambda x: tf.ensure_shape(x, [None] * len(shape)),
        })  # fmt: skip
        return Step(name, fn, (i,))

    def _arrange(self) -> Step | None:
        i, j = self._pair()
        axis, n = self._axis(i), int(self.rng.integers(0, 4))
        shape = self.values[i].shape.as_list()
        rank, length = len(shape), shape[0] if shape else 0
        name, fn = self._one_of(**{
            f"concat {axis}": lambda x, y: tf.concat([x, y, x], axis),
            "stack": lambda x, y: tf.stack([x, y], 0),
            f"stack {axis}": lambda x, y: tf.stack([x, y], axis),
            "unstack": lambda x, y: tf.unstack(x, num=length),
            f"split {axis}": lambda x, y: tf.split(x, 2, axis),
            f"tile {n}": lambda x, y: tf.tile(x, [n] * rank),
            f"pad {n}": lambda x, y: tf.pad(x, np.array([[n, 1]] * rank).reshape(rank, 2)),
            f"roll {n}": lambda x, y: tf.roll(x, n, axis),
            f"repeat {n}": lambda x, y: tf.repeat(x, n, axis=axis if rank else None),
        })  # fmt: skip
        return Step(name, fn, (i, j))

    def _by_shape(self) -> Step | None:
        """Shapes computed in the program."""
        i, j = self._pair()
        name, fn = self._one_of(**{
            "zeros_like": lambda x, y: tf.zeros_like(x),
            "fill": lambda x, y: tf.fill(tf.shape(x), tf.shape(y)[0]),
            "zeros": lambda x, y: tf.zeros(tf.shape(x)[:1] + tf.shape(y)[:1], x.dtype),
            "broadcast_to": lambda x, y: tf.broadcast_to(x, tf.shape(y)),
            "broadcast": lambda x, y: tf.broadcast_to(
                x, tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))
            ),
            "reshape like": lambda x, y: tf.reshape(x, tf.shape(y)),
            "range": lambda x, y: tf.range(tf.size(x)),
            "shape": lambda x, y: tf.shape(x),
            "size": lambda x, y: tf.size(x) - tf.size(y),
            "rank": lambda x, y: tf.rank(x) * 2,
            "x[:n]": lambda x, y: x[: tf.shape(y)[0] - 1],
            "x[n:]": lambda x, y: x[tf.shape(y)[0] // 2 :],
            "slice": lambda x, y: tf.slice(x, tf.zeros_like(tf.shape(x)), tf.shape(x) // 2),
            "rows": lambda x, y: tf.reshape(x, [tf.shape(x)[0], -1]),
            "half": lambda x, y: tf.reshape(x, [2, tf.size(x) // 2]),
            "ones like both": lambda x, y: tf.ones([tf.shape(x)[0], tf.shape(y)[-1]], x.dtype),
            "unknown -1": _joined,
            "meshgrid": lambda x, y: tf.meshgrid(tf.reshape(x, [-1]), tf.reshape(y, [-1])),
        })  # fmt: skip
        return Step(name, fn, (i, j))

    def _product(self) -> Step | None:
        i = self._pick(lambda v: v.dtype.is_floating or v.dtype.is_integer)
        j = self._pick(lambda v: v.dtype is self.values[i].dtype)
        name, fn = self._one_of(**{
            "matmul": lambda x, y: x @ y,
            "gram": lambda x, y: tf.matmul(x, x, transpose_b=True),
            "matmul transposed": lambda x, y: tf.matmul(x, y, transpose_a=True),
            "outer": lambda x, y: tf.tensordot(x, y, 0),
            "tensordot": lambda x, y: tf.tensordot(x, y, 1),
            "einsum": lambda x, y: tf.einsum("...i,...i->...", x, y),
        })  # fmt: skip
        return Step(name, fn, (i, j))

    def _index(self) -> Step | None:
        i = self._pick()
        k = self._pick(lambda v: v.dtype is tf.int32)
        n = int(self.rng.integers(1, 4))

        def positions(x: Any, at: Any, axis: int = 0) -> Any:
            return tf.reshape(at, [-1])[:n] % tf.maximum(tf.shape(x)[axis], 1)

        name, fn = self._one_of(**{
            "gather": lambda x, at: tf.gather(x, positions(x, at)),
            "gather last": lambda x, at: tf.gather(x, positions(x, at, -1), axis=-1),
            "gather_nd": lambda x, at: tf.gather_nd(x, positions(x, at)[:, None]),
            "one_hot": lambda x, at: tf.one_hot(at, n),
            "scatter_nd": lambda x, at: tf.scatter_nd(
                positions(x, at)[:, None], tf.gather(x, positions(x, at)), tf.shape(x)
            ),
            "update": lambda x, at: tf.tensor_scatter_nd_update(
                x, positions(x, at)[:1, None], tf.zeros_like(x)[:1]
            ),
            "x[i]": lambda x, at: x[positions(x, at)[0]],
            "top_k": lambda x, at: tf.math.top_k(x, n),
            "where indices": lambda x, at: _small(tf.where(at)),
        })  # fmt: skip
        return Step(name, fn, (i, k))

    def _filtered(self) -> Step | None:
        """Sizes that depend on values."""
        i = self._pick()

        def keep(x: Any) -> Any:
            flat = tf.reshape(x, [-1])
            return tf.boolean_mask(flat, flat if x.dtype.is_bool else flat > 0)

        def prefix(x: Any) -> Any:
            flat = tf.reshape(x, [-1])
            mask = flat if x.dtype.is_bool else flat > 0
            return flat[: tf.reduce_sum(tf.cast(mask, tf.int32))]

        name, fn = self._one_of(boolean_mask=keep, prefix=prefix)
        return Step(name, fn, (i,))

    def _condition(self, x: Any) -> Any:
        if x.dtype.is_bool:
            return tf.reduce_any(x)
        return tf.reduce_sum(tf.cast(x > 0, tf.int32)) > 1

    def _branch(self) -> Step | None:
        i, j = self._pair()
        k = self._pick()
        numeric = not self.values[i].dtype.is_bool
        name, then = self._one_of(
            keep=lambda x, y: x,
            work=lambda x, y: (x + y) * x - y if numeric else tf.logical_and(x, y),
            more=lambda x, y: tf.concat([tf.reshape(x, [-1]), tf.reshape(y, [-1])], 0),
        )

        def cond(x: Any, y: Any, z: Any) -> Any:
            if tf.executing_eagerly():
                then(x, y)  # both branches are traced
            return tf.cond(self._condition(z), lambda: then(x, y), lambda: y)

        return Step(f"cond {name}", cond, (i, j, k))

    def _loop(self) -> Step | None:
        i = self._pick(lambda v: not v.dtype.is_bool)
        n = int(self.rng.integers(0, 4))
        name, body = self._one_of(
            scale=lambda x, y: (x * 2 + y, y),
            swap=lambda x, y: (y - x, x),
            keep=lambda x, y: (x, x + y),
            reverse=lambda x, y: (tf.reverse(tf.reshape(x, [-1]), [0]), y),
        )

        def loop(x: Any) -> Any:
            x = tf.reshape(x, [-1])
            _, *rest = tf.while_loop(
                lambda k, *_: k < n, lambda k, a, b: (k + 1, *body(a, b)), (0, x, x + 1)
            )
            return list(rest)

        return Step(f"while_loop {name} {n}", loop, (i,))


def _joined(x: Any, y: Any) -> Any:
    """Both as vectors, by a -1 that nobody knows while tracing, and something of both."""
    rest = tf.reduce_sum(tf.zeros_like(tf.shape(x))) - 1
    x, y = tf.reshape(x, [rest]), tf.reshape(y, [rest])
    return tf.logical_or(x, y) if x.dtype.is_bool else tf.square(x) * tf.square(y)


def _small(x: Any) -> Any:
    """int64 results go on as int32, so that they meet others."""
    return tf.cast(x, tf.int32) if x.dtype is tf.int64 else x


def grow(seed: int, *, wide: bool = False) -> Program:
    """The program of a seed; `wide` takes more dtypes and ops."""
    return Grower(seed, wide=wide).program
