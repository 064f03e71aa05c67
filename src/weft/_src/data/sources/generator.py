"""`from_generator`: elements that a Python function yields, checked against what was declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from weft._src import nest
from weft._src.core.aliases import SpecNest
from weft._src.core.context import building
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import EagerTensor
from weft._src.data.core import structure
from weft._src.data.core.base import DatasetBase, dataset_op, make_dataset
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError
from weft._src.ops.registry import each

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


class GeneratorStage(Stage):
    """What a function yields, each time anew."""

    __slots__ = ("args", "function", "spec")

    def __init__(self, function: Callable[..., Any], args: Values, spec: Any) -> None:
        self.function, self.args, self.spec = function, args, spec

    def cursor(self, run: Run) -> Cursor:
        return _GeneratorCursor(self)


class _GeneratorCursor(Cursor):
    """Python cannot go back to where a generator was: restoring a position runs it up to there."""

    def __init__(self, stage: GeneratorStage) -> None:
        self._stage = stage
        self._iterator: Iterator[Any] | None = None
        self._count = 0
        self._convert = _converter(stage.spec)

    def __next__(self) -> Values:
        with building(None):
            if self._iterator is None:
                self._iterator = self._start()
            value = next(self._iterator)
            number = self._count
            self._count += 1
            return self._convert(value, number)

    def _start(self) -> Iterator[Any]:
        stage = self._stage
        made = stage.function(*[structure.eager_tensor(a).numpy() for a in stage.args])
        try:
            return iter(made)
        except TypeError:
            raise TypeError(
                "from_generator: the function must return something that can be iterated over, got "
                f"{made!r} of type {type(made).__name__}."
            ) from None

    def save(self) -> dict[str, Any]:
        return {"count": self._count}

    def restore(self, state: dict[str, Any]) -> None:
        self._iterator, self._count = self._start(), state["count"]
        for _ in range(self._count):
            next(self._iterator, None)

    def close(self) -> None:
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()


Converter = Callable[[Any, int], Values]


def _converter(spec: SpecNest) -> Converter:
    """From what was yielded to flat arrays; single tensors and tuples of them written out."""
    if isinstance(spec, TensorSpec):
        return lambda value, number: (_leaf(value, spec, number, ""),)
    if type(spec) is tuple and all(isinstance(s, TensorSpec) for s in spec):
        count = len(spec)

        def flat(value: Any, number: int) -> Values:
            if not isinstance(value, (tuple, list)) or len(value) != count:
                raise _wrong_structure(value, spec, number)
            return tuple([_leaf(v, s, number, f"[{i}]")
                          for i, (v, s) in enumerate(zip(value, spec, strict=True))])  # fmt: skip

        return flat
    return lambda value, number: tuple(_walk(value, spec, number, ""))


def _walk(value: Any, spec: Any, number: int, path: str) -> Iterator[Any]:
    """Along the spec: where it has a leaf, the value may still be a list of numbers."""
    if isinstance(spec, TensorSpec):
        yield _leaf(value, spec, number, path)
    elif isinstance(spec, TypeSpec):
        if not spec.is_compatible_with(value):
            raise _wrong_structure(value, spec, number)
        for part in nest.flatten(spec._to_components(value), expand_composites=True):
            yield part._value
    elif isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise _wrong_structure(value, spec, number)
        for key in sorted(spec):
            yield from _walk(value[key], spec[key], number, f"{path}[{key!r}]")
    else:
        parts = list(value) if isinstance(value, (tuple, list)) else None
        if parts is None or len(parts) != len(spec):
            raise _wrong_structure(value, spec, number)
        for i, (v, s) in enumerate(zip(parts, spec, strict=True)):
            yield from _walk(v, s, number, f"{path}[{i}]")


def _leaf(value: Any, spec: TensorSpec, number: int, path: str) -> Any:
    try:
        tensor = convert_to_tensor(value, dtype=spec.dtype) if not isinstance(
            value, EagerTensor
        ) else value  # fmt: skip
    except (TypeError, ValueError):
        raise _wrong_type(value, spec, number, path) from None
    array = tensor._value  # type: ignore[attr-defined]
    if tensor.dtype is not spec.dtype:
        raise _wrong_type(value, spec, number, path)
    if not _fits(array.shape, spec):
        raise ShapeError(
            f"from_generator: element {number}{path and f', component {path},'} was declared as "
            f"{spec.words}, the generator yielded shape {array.shape}: {_short(value)}."
        )
    return array


def _fits(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    dims = spec.dims
    return dims is None or (
        len(dims) == len(shape)
        and all(type(d) is not int or d == n for d, n in zip(dims, shape, strict=True))
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _wrong_type(value: Any, spec: TensorSpec, number: int, path: str) -> DTypeError:
    return DTypeError(
        f"from_generator: element {number}{path and f', component {path},'} was declared as "
        f"{spec.words}, the generator yielded {_short(value)} of type {type(value).__name__}, "
        f"which cannot be converted to {spec.dtype.name}."
    )


def _wrong_structure(value: Any, spec: SpecNest, number: int) -> InvalidArgumentError:
    return DTypeError(
        f"from_generator: element {number} was declared as {spec!r}, the generator yielded "
        f"{_short(value)} of type {type(value).__name__}, which has another structure."
    )


generator_op = dataset_op(
    "GeneratorDataset",
    each("*args", DATA),
    lambda xp, *args, generator, spec: GeneratorStage(generator, args, spec),
)


class GeneratorMethods(DatasetBase):
    """Elements made by Python."""

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: SpecNest = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements that `generator(*args)` yields, of the types given.

        The function is called each time the dataset is iterated over. Give `output_signature`, or
        (the older way) `output_types` and maybe `output_shapes`.

        Args:
          generator: a function that returns something to iterate over.
          output_types: the dtypes of what is yielded, as a structure; not together with
            `output_signature`.
          output_shapes: the shapes that go with `output_types`; None for unknown ones.
          args: a tuple of what the function is called with, as NumPy arrays; None calls it without.
          output_signature: the specs of what is yielded, as a structure.

        Returns:
          A dataset; its length is unknown.

        Raises:
          TypeError: if `generator` is no function, `args` no tuple, or what is yielded is not
            declared in one of the two ways; when iterating, if the function returns nothing to
            iterate over.
          DTypeError: when iterating, if an element has another structure or dtype than declared.
          ShapeError: when iterating, if an element has another shape than declared.

        >>> def squares():
        ...     for i in range(3):
        ...         yield i * i
        >>> dataset = tf.data.Dataset.from_generator(
        ...     squares, output_signature=tf.TensorSpec([], tf.int32)
        ... )
        >>> list(dataset.as_numpy_iterator())
        [np.int32(0), np.int32(1), np.int32(4)]
        """
        if not callable(generator):
            raise TypeError(
                "from_generator: generator must be a function that returns an iterator, got "
                f"{generator!r}. Wrap it: lambda: {generator!r}."
            )
        spec = _declared(output_types, output_shapes, output_signature)
        given = () if args is None else args
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"from_generator: args must be a tuple, got {args!r}.")
        tensors = [convert_to_tensor(arg) for arg in given]
        made = generator_op(*tensors, generator=generator, spec=spec, name=name)
        return make_dataset(made, spec)


def _declared(types: Any, shapes: Any, signature: Any) -> Any:
    if signature is None:
        if types is None:
            raise TypeError(
                "from_generator: say what is yielded, with output_signature=tf.TensorSpec(...)."
            )
        return structure.spec_from_types(types, shapes)
    if types is not None or shapes is not None:
        raise TypeError(
            "from_generator: output_signature goes without output_types and output_shapes."
        )
    for leaf in nest.flatten(signature):
        if not isinstance(leaf, TypeSpec):
            raise TypeError(
                "from_generator: output_signature must hold tf.TensorSpec objects, got "
                f"{leaf!r} of type {type(leaf).__name__}."
            )
    return signature
