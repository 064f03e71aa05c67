"""`tf.random.Generator`: a random stream as an object."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from weft._src.core.aliases import DTypeLike, IntLike, ShapeLike, TensorLike
from weft._src.core.context import building, state as context
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INTEGER, DType, float32, int32, int64, uint64
from weft._src.core.random_numbers import seeds
from weft._src.core.random_numbers.stream_state import random_state
from weft._src.core.shapes import Dim
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import fill, shape as shapes, source
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import Op
from weft._src.ops.sampling import distributions, draws, parametric
from weft._src.ops.sampling.algorithms import Algorithm, philox_like
from weft._src.ops.sampling.streams import read_and_skip_op
from weft._src.state.tracking import Trackable
from weft._src.state.variable import Variable

_WORDS = 3


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state of a generator for a seed: an integer, or a vector of them.

    Args:
      seed: an integer, or a vector of which the first three count.
      alg: "auto_select" or "philox", which are the same,, or their `tf.random.Algorithm`.

    Returns:
      An int64 vector (counter low, counter high, key).

    Raises:
      ValueError: if the seed is not made of integers, or there is no such algorithm.
      UnsupportedError: for "threefry".

    >>> tf.random.create_rng_state(7, "philox").numpy()
    array([7, 0, 0])
    """
    philox_like("create_rng_state", alg)
    if isinstance(seed, Tensor) and seed.dtype not in INTEGER:
        raise TypeError(f"create_rng_state: seed must hold integers, got {seed.dtype.name}.")
    if isinstance(seed, EagerTensor):
        seed = seed.numpy()
    if isinstance(seed, Tensor):
        return _state_from_symbolic(seed)
    try:
        return convert_to_tensor(seeds.create_rng_state(seed))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"create_rng_state: seed must be an integer or a vector of integers, got {seed!r}."
        ) from error


def _state_from_symbolic(seed: Tensor) -> Tensor:
    """What `seeds.create_rng_state` does with an array, as ops."""
    words = casting.cast(shapes.reshape(seed, [-1]), int64)
    dims = words.spec.dims
    if dims is None or isinstance(dims[0], Dim):
        raise ValueError(
            f"create_rng_state: the shape of seed must be known while tracing, got {seed!r}."
        )
    count = min(dims[0], _WORDS)
    return convert_to_tensor([*[0] * (_WORDS - count), *[words[i] for i in range(count)]], int64)


def _words(op: str, value: TensorLike, shape: tuple[int, ...], name: str) -> Tensor:
    """Words of a state as int64; unsigned ones keep their bits."""
    if isinstance(value, int):
        value = np.array(value % (1 << 64), np.uint64).astype(np.int64)
    x = casting.cast(convert_to_tensor(value), int64)
    if not x.shape.is_compatible_with(shape):
        raise ValueError(f"{op}: {name} must have shape {shape}, got {x.shape}.")
    return x


class Generator(Trackable):
    """A stream of random numbers that moves on with every call, eagerly and in graphs.

    Two generators with the same state give the same numbers. `tf.random.set_seed` has no effect
    on them.

    >>> g = tf.random.Generator.from_seed(7)
    >>> g.uniform([2]).numpy()
    array([0.39932835, 0.7840713 ], dtype=float32)
    >>> g.uniform([2], maxval=100, dtype=tf.int32).numpy()
    array([58,  9], dtype=int32)
    >>> g.state.numpy()
    array([1031,    0,    0])
    """

    _algorithm: Algorithm
    _state: Variable

    def __init__(
        self,
        copy_from: Generator | None = None,
        state: Any = None,
        alg: str | IntLike | Algorithm | None = None,
    ) -> None:
        _refuse_while_tracing()
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: copy_from goes without state and alg.")
            self._algorithm = copy_from._algorithm
            self._state = _state_variable(copy_from._state.read_value())
            return
        if state is None or alg is None:
            raise ValueError(
                "Generator: give state and alg, or use tf.random.Generator.from_seed(seed) or "
                "tf.random.Generator.from_non_deterministic_state()."
            )
        self._algorithm = philox_like("Generator", alg)
        words = _words("Generator", state, (_WORDS,), "state")
        shares = isinstance(state, Variable) and state.dtype is int64
        self._state = state if shares else _state_variable(words)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Under this name TensorFlow's checkpoints have the state."""
        return {"_state_var": self._state}

    @classmethod
    def from_state(cls, state: TensorLike, alg: str | IntLike | Algorithm) -> Generator:
        """A generator with a given state: three integers, (counter low, counter high, key).

        Args:
          state: a vector of three integers, or an int64 variable of them, which then is the state.
          alg: "philox" or "auto_select", or their `tf.random.Algorithm`.

        Returns:
          A `tf.random.Generator`.

        Raises:
          ValueError: if the state has another shape, or there is no such algorithm.
          UnsupportedError: if `alg` is "threefry", which Weft does not have.
        """
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: str | IntLike | Algorithm | None = None) -> Generator:
        """A generator determined by a seed: an integer, or a vector of them.

        Args:
          seed: what the numbers depend on.
          alg: "philox" or "auto_select", or their `tf.random.Algorithm`; None is Philox.

        Returns:
          A `tf.random.Generator`.

        Raises:
          ValueError: if the seed is no integer or vector of them, or there is no such algorithm.
          UnsupportedError: if `alg` is "threefry", which Weft does not have.
        """
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(
        cls, alg: str | IntLike | Algorithm | None = None
    ) -> Generator:
        """A generator whose numbers nobody can foresee.

        Args:
          alg: "philox" or "auto_select", or their `tf.random.Algorithm`; None is Philox.

        Returns:
          A `tf.random.Generator`.

        Raises:
          ValueError: if there is no such algorithm.
          UnsupportedError: if `alg` is "threefry", which Weft does not have.
        """
        return cls(state=random_state(), alg=Algorithm.PHILOX if alg is None else alg)

    @classmethod
    def from_key_counter(
        cls, key: TensorLike, counter: TensorLike, alg: str | IntLike | Algorithm
    ) -> Generator:
        """A generator with a key (an integer) and a counter (two integers, the low one first).

        Args:
          key: an integer, which tells streams of numbers apart.
          counter: two integers, the place in the stream.
          alg: "philox" or "auto_select", or their `tf.random.Algorithm`.

        Returns:
          A `tf.random.Generator`.

        Raises:
          ValueError: if key or counter has another shape, or there is no such algorithm.
          UnsupportedError: if `alg` is "threefry", which Weft does not have.
        """
        return cls(state=_key_counter_state("from_key_counter", key, counter), alg=alg)

    # --- the state -----------------------------------------------------------------------------

    @property
    def state(self) -> Variable:
        """The state, (counter low, counter high, key): a variable, which can be saved."""
        return self._state

    @property
    def key(self) -> Tensor:
        """The part of the state that tells streams apart and never changes by drawing."""
        return self._state[2]

    @property
    def algorithm(self) -> int:
        """The number of the algorithm, as in `tf.random.Algorithm`."""
        return self._algorithm.value

    def reset(self, state: Any) -> None:
        """Sets the state.

        Args:
          state: three integers, (counter low, counter high, key).

        Raises:
          ValueError: if it has another shape.

        >>> g = tf.random.Generator.from_seed(7)
        >>> g.reset([1, 2, 3])
        >>> g.state.numpy()
        array([1, 2, 3])
        """
        self._state.assign(_words("Generator.reset", state, (_WORDS,), "state"))

    def reset_from_seed(self, seed: Any) -> None:
        """Sets the state to the one of a seed.

        Args:
          seed: an integer, or a vector of which the first three count.

        Raises:
          ValueError: if it is not made of integers.

        >>> g = tf.random.Generator.from_seed(7)
        >>> g.reset_from_seed(8)
        >>> g.state.numpy()
        array([8, 0, 0])
        """
        self._state.assign(create_rng_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Sets the state to a key and a counter.

        Args:
          key: an integer.
          counter: two integers, the low one first.

        Raises:
          ValueError: if they have other shapes.

        >>> g = tf.random.Generator.from_seed(7)
        >>> g.reset_from_key_counter(3, [1, 2])
        >>> g.state.numpy()
        array([1, 2, 3])
        """
        self._state.assign(_key_counter_state("reset_from_key_counter", key, counter))

    def skip(self, delta: TensorLike) -> Tensor:
        """Moves on as if `delta` numbers had been drawn; the state before.

        Args:
          delta: how many numbers, an integer scalar.

        Returns:
          The state before, an int64 vector (counter low, counter high, key).

        Raises:
          ShapeError: if `delta` is no scalar.

        >>> tf.random.Generator.from_seed(7).skip(10).numpy()
        array([7, 0, 0])
        """
        delta = casting.cast(convert_to_tensor(delta), int64)
        rules.check_rank("Generator.skip", delta.spec, 0, name="delta")
        return self._advance(delta)

    def _advance(self, delta: Tensor) -> Tensor:
        return read_and_skip_op(self._state.handle, delta, step=seeds.SKIP_PER_SAMPLE)

    def _draw_state(self, draw: Op, dtype: DType, shape: Tensor) -> Tensor:
        return self._advance(shape)

    # --- numbers -------------------------------------------------------------------------------

    def uniform(
        self,
        shape: ShapeLike,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers uniform in [minval, maxval); integers of the whole range if both are None.

        Args:
          shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
            number.
          minval: the lower bound, included: a number or a tensor that broadcasts with the result.
          maxval: the upper bound, not included. For floating dtypes None means 1.
          dtype: a floating dtype, int32 or int64; uint32 and uint64 for the whole range only.

        Returns:
          A tensor of this shape and dtype.

        Raises:
          ValueError: if the dtype is another one, or an integer one has one bound only.
          InvalidArgumentError: if integer bounds are not in order.

        >>> tf.random.Generator.from_seed(7).uniform([2]).numpy()
        array([0.39932835, 0.7840713 ], dtype=float32)
        """
        return distributions.uniform(
            "Generator.uniform", shape, minval, maxval, dtype, name, self._draw_state
        )

    def uniform_full_int(
        self, shape: ShapeLike, dtype: DTypeLike = uint64, name: str | None = None
    ) -> Tensor:
        """Integers of the whole range of their dtype.

        Args:
          shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
            number.
          dtype: int32, int64, uint32 or uint64.

        Returns:
          A tensor of this shape and dtype.

        Raises:
          DTypeError: if the dtype is another one.

        >>> tf.random.Generator.from_seed(7).uniform_full_int([2, 3]).dtype
        tf.uint64
        """
        return distributions.full_int(
            "Generator.uniform_full_int", shape, dtype, name, self._draw_state
        )

    def normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers.

        Args:
          shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
            number.
          mean: the mean, a number or a tensor that broadcasts with the result.
          stddev: the standard deviation, of this kind, too.
          dtype: the dtype of the result, a floating one.

        Returns:
          A tensor of this shape and dtype.

        Raises:
          DTypeError: if the dtype is another one.
          ShapeError: if a size is negative, or a parameter does not broadcast.

        >>> tf.random.Generator.from_seed(7).normal([2, 3]).shape
        TensorShape([2, 3])
        """
        return distributions.normal(
            "Generator.normal", draws.normal_op, shape, mean, stddev, dtype, name, self._draw_state
        )

    def truncated_normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers without those more than two standard deviations off.

        Args:
          shape: the sizes of the result: a list, `tf.TensorShape`, int32 or int64 vector, or one
            number.
          mean: the mean, a number or a tensor that broadcasts with the result.
          stddev: the standard deviation, of this kind, too.
          dtype: the dtype of the result, a floating one.

        Returns:
          A tensor of this shape and dtype.

        Raises:
          DTypeError: if the dtype is another one.
          ShapeError: if a size is negative, or a parameter does not broadcast.

        >>> tf.random.Generator.from_seed(7).truncated_normal([2, 3]).shape
        TensorShape([2, 3])
        """
        op, draw = "Generator.truncated_normal", draws.truncated_normal_op
        return distributions.normal(op, draw, shape, mean, stddev, dtype, name, self._draw_state)

    def binomial(
        self,
        shape: ShapeLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = int32,
        name: str | None = None,
    ) -> Tensor:
        """How many of `counts` trials succeed with probability `probs`.

        Args:
          shape: the sizes of the result, which end with the shape of the parameters: a list,
            `tf.TensorShape`, int32 or int64 vector, or one number.
          counts: how many trials, a tensor of numbers.
          probs: the probability of success, floating numbers; the two are broadcast together.
          dtype: the dtype of the result: float16, float32, float64, int32 or int64.

        Returns:
          A tensor of this shape and dtype.

        Raises:
          DTypeError: if the dtype is another one.
          InvalidArgumentError: if a count is not finite, or a probability is NaN.
          ShapeError: if the shape does not end with that of the parameters.

        >>> tf.random.Generator.from_seed(7).binomial([3], counts=10.0, probs=1.0).numpy()
        array([10, 10, 10], dtype=int32)
        """
        op = "Generator.binomial"

        def source(draw: Op, dtype: DType, wanted: Tensor) -> Tensor:
            return self._advance(parametric.binomial_numbers(wanted, counts, probs))

        return parametric.binomial(op, shape, counts, probs, dtype, name, source)

    # --- other generators ----------------------------------------------------------------------

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for stateless functions, as the columns of a (2, count) tensor.

        Args:
          count: how many, an integer.

        Returns:
          An int64 tensor of shape [2, count].

        >>> seeds = tf.random.Generator.from_seed(7).make_seeds(2)
        >>> tf.random.stateless_uniform([], seed=seeds[:, 0]).shape
        TensorShape([])
        """
        keys = self.uniform_full_int([count], dtype=int64)
        return source.pack_op(keys, fill.zeros_like(keys), axis=0)

    def split(self, count: int = 1) -> list[Generator]:
        """New generators, independent of this one and of each other.

        Args:
          count: how many, an integer.

        Returns:
          A list of generators.

        Raises:
          ValueError: in a function that is traced.

        >>> [g.state.shape for g in tf.random.Generator.from_seed(7).split(2)]
        [TensorShape([3]), TensorShape([3])]
        """
        _refuse_while_tracing()
        keys = self.make_seeds(count)[0].numpy()
        return [self.from_key_counter(key, [0, 0], self._algorithm) for key in keys]

    def __copy__(self) -> Generator:
        return Generator(copy_from=self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        return Generator(copy_from=self)


def _state_variable(words: Tensor) -> Variable:
    return Variable(words, trainable=False, name="StateVar")


def _key_counter_state(op: str, key: TensorLike, counter: TensorLike) -> Tensor:
    low_high = _words(op, counter, (2,), "counter")
    return convert_to_tensor([low_high[0], low_high[1], _words(op, key, (), "key")])


def _refuse_while_tracing() -> None:
    """Eager code makes a new generator at every call; a graph could only make one for good."""
    if context.graph is not None:
        raise ValueError(
            "A tf.random.Generator was made inside of a traced function. Make generators outside "
            "of it (it may use them); inside, generator.make_seeds and the stateless functions "
            "give independent streams."
        )


class _Program:
    """Holds the program's generator."""

    lock = threading.Lock()
    generator: Generator | None = None


def get_global_generator() -> Generator:
    """The program's generator; its state cannot be foreseen unless one was set.

    Returns:
      The `tf.random.Generator`, the same one until another is set.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(7))
    >>> tf.random.get_global_generator().normal([2, 3]).shape
    TensorShape([2, 3])
    """
    with _Program.lock:
        if _Program.generator is None:
            with building(None):
                _Program.generator = Generator.from_non_deterministic_state()
        return _Program.generator


def set_global_generator(generator: Generator) -> None:
    """Replaces the program's generator. Traced functions keep the one they were traced with.

    Args:
      generator: a `tf.random.Generator`.

    Raises:
      TypeError: if it is something else.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(7))
    >>> tf.random.get_global_generator().state.numpy()
    array([7, 0, 0])
    """
    if not isinstance(generator, Generator):
        raise TypeError(f"set_global_generator takes a tf.random.Generator, got {generator!r}.")
    with _Program.lock:
        _Program.generator = generator
