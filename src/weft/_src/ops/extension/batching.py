"""Extension types of which there are several along a first axis: rows, batches, maps over them.

A batch encoder turns a value into tensors (or ragged and sparse ones) that can be stacked and taken
apart along their first axes, and back. Whoever maps over rows encodes, and decodes what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.errors import ShapeError
from weft._src.ops.extension.extension_type import ExtensionType
from weft._src.ops.extension.fields import ImmutableDict
from weft._src.ops.extension.spec import ExtensionTypeSpec
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.sparse.tensor import SparseTensorSpec


class ExtensionTypeBatchEncoder:
    """How values of an extension type are stacked and taken apart; subclasses may do it otherwise.

    This one stacks each tensor of a value. Sizes in fields that are a `tf.TensorShape` count, too:
    they get another first size.

    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    >>> encoder = tf.experimental.ExtensionTypeBatchEncoder()
    >>> encoder.batch(tf.type_spec_from_value(Point([1.0, 2.0])), 5)
    Point.Spec(x=TensorSpec(shape=(5, 2), dtype=tf.float32, name=None))
    """

    def batch(self, spec: ExtensionTypeSpec, batch_size: int | None) -> Any:
        """The type of several values along a new first axis.

        Args:
          spec: the type of one value.
          batch_size: how many there are; None if that is not known.

        Returns:
          A spec of the same class.
        """
        return _with_parts(spec, lambda part: batched_spec(part, batch_size))

    def unbatch(self, spec: ExtensionTypeSpec) -> Any:
        """The type of one of several values along a first axis.

        Args:
          spec: the type of all of them.

        Returns:
          A spec of the same class.

        Raises:
          ShapeError: if a tensor in it has no axes.
        """
        return _with_parts(spec, row_spec)

    def encode(self, value: Any, minimum_rank: int = 0) -> Any:
        """The tensors that stand for a value.

        Args:
          value: a value of an extension type.
          minimum_rank: how many axes each tensor has at least: 1 if it is a batch.

        Returns:
          A nest of tensors, ragged and sparse tensors: here a tuple.
        """
        return tuple([encoded(part) for part in value._type_spec._to_components(value)])

    def encoding_specs(self, spec: ExtensionTypeSpec) -> Any:
        """The types of what `encode` returns for values of a type.

        Args:
          spec: the type of a value.

        Returns:
          A nest of specs.
        """
        return tuple([encoded_spec(part) for part in spec._component_specs])

    def decode(self, spec: ExtensionTypeSpec, encoding: Any) -> Any:
        """The value that tensors stand for.

        Args:
          spec: the type of the value.
          encoding: a nest like `encoding_specs(spec)`.

        Returns:
          A value of the extension type.
        """
        parts = zip(spec._component_specs, encoding, strict=True)
        return spec._from_components([decoded(part, tensors) for part, tensors in parts])


class BatchableExtensionType(ExtensionType):
    """An extension type of which there may be several along a first axis.

    Datasets can batch and unbatch its values, and `tf.map_fn` and `tf.vectorized_map` go over their
    rows. How is said by `__batch_encoder__`; the usual one is for types whose tensors all have
    that first axis.

    >>> class Vertex(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    ...     y: tf.Tensor
    >>> vertices = Vertex([1.0, 2.0], [3.0, 4.0])
    >>> tf.map_fn(lambda v: Vertex(v.y, v.x), vertices).x.numpy()
    array([3., 4.], dtype=float32)
    >>> [float(v.x) for v in tf.data.Dataset.from_tensor_slices(vertices)]
    [1.0, 2.0]
    """

    _abstract = True
    __batch_encoder__ = ExtensionTypeBatchEncoder()


# --- specs ---------------------------------------------------------------------------------------


def _with_parts(spec: ExtensionTypeSpec, change: Callable[[Any], Any]) -> Any:
    """A spec whose shapes and specs are changed; all else stays."""

    def changed(part: Any) -> Any:
        if type(part) is tuple:
            return tuple([changed(item) for item in part])
        if type(part) is ImmutableDict:
            return ImmutableDict([(key, changed(item)) for key, item in part.items()])
        return change(part) if isinstance(part, (TensorShape, TypeSpec)) else part

    return spec._deserialize([(name, changed(part)) for name, part in spec._serialize()])


def batched_spec(spec: Any, size: int | None) -> Any:
    """The type of several values of a type along a new first axis."""
    if isinstance(spec, TensorShape):
        return TensorShape([size]).concatenate(spec)
    encoder = encoder_of(spec)
    if encoder is not None:
        return encoder.batch(spec, size)
    _check_stackable(spec)
    shape = None if spec.shape.rank is None else [size, *spec.shape]
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


def row_spec(spec: Any, who: str = "unbatch") -> Any:
    """The type of one row of values of a type."""
    encoder = encoder_of(spec)
    if encoder is not None:
        return encoder.unbatch(spec)
    shape = spec if isinstance(spec, TensorShape) else spec.shape
    if shape.rank == 0:
        raise ShapeError(f"{who}: each component needs a first axis, got scalars. Batch first.")
    shape = TensorShape(None) if shape.rank is None else shape[1:]
    if isinstance(spec, TensorShape):
        return shape
    _check_stackable(spec)
    if isinstance(spec, RaggedTensorSpec):
        rank = max(spec.ragged_rank - 1, 0)
        return RaggedTensorSpec(shape, spec.dtype, rank, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


def _check_stackable(spec: Any) -> None:
    if not isinstance(spec, (TensorSpec, RaggedTensorSpec, SparseTensorSpec)):
        raise TypeError(
            f"Values of {spec!r} cannot be stacked or taken apart. Derive their class from "
            "tf.experimental.BatchableExtensionType."
        )


# --- values --------------------------------------------------------------------------------------


def encoder_of(value_or_spec: Any) -> Any:
    """The batch encoder of an extension type, of a value or its spec; None for all else."""
    kind = type(value_or_spec)
    if isinstance(value_or_spec, ExtensionTypeSpec):
        kind = value_or_spec.value_type
    return getattr(kind, "__batch_encoder__", None)


def encodes_otherwise(value_or_spec: Any) -> bool:
    """Whether the encoding is not simply the tensors of a value: a subclass says what it is."""
    encoder = encoder_of(value_or_spec)
    if encoder is None:
        return False
    kind, usual = type(encoder), ExtensionTypeBatchEncoder
    if kind.encode is not usual.encode or kind.decode is not usual.decode:
        return True
    is_spec = isinstance(value_or_spec, ExtensionTypeSpec)
    parts = value_or_spec._component_specs if is_spec else ()
    return any(encodes_otherwise(part) for part in parts)


def has_encoder(structure: Any) -> bool:
    """Whether values (or specs) of batchable extension types are in a nest."""
    return any(encoder_of(leaf) is not None for leaf in nest.flatten(structure))


def encoded(structure: Any, minimum_rank: int = 0) -> Any:
    """A nest with tensors in place of its batchable extension types."""

    def leaf(value: Any) -> Any:
        encoder = encoder_of(value)
        return value if encoder is None else encoder.encode(value, minimum_rank)

    return nest.map_structure(leaf, structure)


def encoded_spec(structure: Any) -> Any:
    """The types of what `encoded` returns for values of a nest of types."""

    def leaf(spec: Any) -> Any:
        encoder = encoder_of(spec)
        return spec if encoder is None else encoder.encoding_specs(spec)

    return nest.map_structure(leaf, structure)


def decoded(specs: Any, tensors: Any) -> Any:
    """The nest that tensors stand for."""
    if nest.is_nested(specs):
        children = iter(nest.children(tensors))
        return nest.map_children(lambda spec: decoded(spec, next(children)), specs)
    encoder = encoder_of(specs)
    return tensors if encoder is None else encoder.decode(specs, tensors)


def _spec_of_structure(structure: Any) -> Any:
    """The types of the extension types in a nest; all else stays as it is."""
    return nest.map_structure(
        lambda value: value if encoder_of(value) is None else value._type_spec, structure
    )


def _changed(specs: Any, change: Callable[[Any, Any], Any]) -> Any:
    """Other types of the extension types in a nest."""
    return nest.map_structure(
        lambda s: s if encoder_of(s) is None else change(encoder_of(s), s), specs
    )


def _unbatched(specs: Any) -> Any:
    return _changed(specs, lambda encoder, spec: encoder.unbatch(spec))


def _batched(specs: Any) -> Any:
    return _changed(specs, lambda encoder, spec: encoder.batch(spec, None))


def mapped_to_signature(
    mapped: Callable[..., Any], fn: Callable[[Any], Any], elems: Any, signature: Any
) -> Any:
    """`tf.map_fn` of elems or results that are extension types: `mapped` does it for tensors."""
    rows = _unbatched(_spec_of_structure(elems))
    if signature is None:
        signature = nest.map_structure(
            lambda s: s if encoder_of(s) is not None else convert_to_tensor(s).dtype, rows
        )
    out = mapped(
        lambda row: encoded(fn(decoded(rows, row))),
        encoded(elems, minimum_rank=1),
        encoded_spec(signature),
    )
    return decoded(_batched(signature), out)


def mapped_as_traced(mapped: Callable[..., Any], fn: Callable[[Any], Any], elems: Any) -> Any:
    """`tf.vectorized_map` of elems that are extension types, of results as they come."""
    rows = _unbatched(_spec_of_structure(elems))
    found: list[Any] = []

    def of_tensors(row: Any) -> Any:
        result = fn(decoded(rows, row))
        found[:] = [_spec_of_structure(result)]
        return encoded(result)

    out = mapped(of_tensors, encoded(elems, minimum_rank=1))
    return decoded(_batched(found[0]), out)
