"""What all methods of datasets build on: a variant tensor, and the specs of the elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weft._src import nest
from weft._src.core.aliases import SpecNest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.display import html_of
from weft._src.core.dtypes import DATA, RESOURCE, int64, variant
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.data.core import stage, structure
from weft._src.data.core.options import Options
from weft._src.data.core.stage import Stage
from weft._src.errors import InvalidArgumentError
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, Op, args, define_op, each
from weft._src.ops.static import static_value

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

VARIANT = frozenset({variant})
_HANDLE = TensorSpec([], variant)


class DatasetSpec(TypeSpec):
    """The type of a dataset: the type of its elements.

    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return DatasetBase.dataset_class

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the other one has such elements.

        Args:
          spec_or_value: a dataset, or the spec of one.

        Returns:
          A bool; False for anything else.

        >>> spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
        >>> spec.is_compatible_with(tf.data.Dataset.range(3))
        True
        """
        spec = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(spec, DatasetSpec) and structure.is_compatible(
            self._element_spec, spec._element_spec
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> DatasetSpec:
        """The narrowest type that holds both.

        Args:
          other: another `tf.data.DatasetSpec`, whose elements have the same structure and dtypes.

        Returns:
          A `DatasetSpec`; sizes of elements that differ are unknown in it.

        Raises:
          ValueError: if there is no such type.
        """
        if not isinstance(other, DatasetSpec):
            raise ValueError(f"No type holds both {self} and {other}.")
        return DatasetSpec(structure.widened(self._element_spec, other._element_spec))

    @property
    def _component_specs(self) -> TensorSpec:
        return _HANDLE

    def _to_components(self, value: DatasetBase) -> Tensor:
        return value._variant

    def _from_components(self, components: Tensor) -> DatasetBase:
        return make_dataset(components, self._element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(_key(self)[1])

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


def _key(spec: DatasetSpec) -> Any:
    flat = nest.flatten_with_paths(spec._element_spec)
    return repr(type(spec._element_spec)), tuple(flat)


class DatasetBase:
    """A dataset: a variant tensor (a stage, or a place in a graph) and the type of its elements."""

    dataset_class: ClassVar[type[Dataset]]
    _variant: Tensor
    _element_spec: Any
    _options: Options

    @property
    def element_spec(self) -> Any:
        """The specs of the elements.

        >>> tf.data.Dataset.from_tensors((1, [2.0, 3.0])).element_spec
        (TensorSpec(shape=(), dtype=tf.int32, name=None),
         TensorSpec(shape=(2,), dtype=tf.float32, name=None))
        """
        return self._element_spec

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self._element_spec)

    @property
    def _stage(self) -> Stage:
        """What runs; only of a dataset that is not part of a graph."""
        assert isinstance(self._variant, EagerTensor)
        value: Stage = self._variant._value
        return value

    def _derived(
        self, op: Op, *inputs: Any, spec: SpecNest = None, name: Any, **attrs: Any
    ) -> Dataset:
        """The dataset that an op makes of this one."""
        made = op(self._variant, *inputs, name=name, **attrs)
        dataset = make_dataset(made, self._element_spec if spec is None else spec)
        dataset._options = self._options
        return dataset

    _repr_html_ = html_of

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._element_spec!r}>"


def make_dataset(handle: Tensor, element_spec: SpecNest) -> Dataset:
    """A dataset of a variant tensor."""
    made = object.__new__(DatasetBase.dataset_class)
    made._variant, made._element_spec, made._options = handle, element_spec, Options()
    return made


def dataset_op(name: str, inputs: Any, kernel: Any, *, outputs: int | None = 1) -> Op:
    """An op that makes a stage."""
    return define_op(
        name,
        inputs,
        infer=lambda *_, **__: _HANDLE,
        kernel=kernel,
        native=HOST_ONLY,
        vjp=NOT_DIFFERENTIABLE,
        outputs=outputs,
        trusts_kernel=True,
    )


INPUT = args("input_dataset", VARIANT)
CAPTURES = each("*other_arguments", DATA | VARIANT | RESOURCE)


def number(name: str) -> Any:
    """An input that is an int64 scalar."""
    return args(name, {int64})


def int64_scalar(method: str, name: str, value: Any) -> Tensor:
    """An argument that must be one integer, as a tensor."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a bool")
        if isinstance(value, Tensor) and value.dtype.is_integer:
            tensor = value if value.dtype is int64 else cast_to_int64(value)
        else:
            tensor = convert_to_tensor(value, dtype=int64)
    except (TypeError, ValueError):
        raise TypeError(
            f"Dataset.{method}: {name} must be an integer, got {value!r} of type "
            f"{type(value).__name__}."
        ) from None
    if tensor.shape.rank not in (None, 0):
        raise ValueError(
            f"Dataset.{method}: {name} must be one integer, got a tensor of shape {tensor.shape}."
        )
    return tensor


def static_bool(method: str, name: str, value: Any) -> bool:
    """An argument that must be a bool, known now."""
    if isinstance(value, Tensor):
        value = static_value(value)
    if isinstance(value, (bool, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype == bool and value.ndim == 0
    ):
        return bool(value)
    raise TypeError(f"Dataset.{method}: {name} must be True or False, got {value!r}.")


def cast_to_int64(value: Tensor) -> Tensor:
    """An integer tensor as int64."""
    return casting.cast(value, int64)


def refuse_unless(condition: bool, method: str, text: str) -> None:
    """InvalidArgumentError naming the method."""
    if not condition:
        raise InvalidArgumentError(None, None, f"Dataset.{method}: {text}")


def check_dataset(method: str, name: str, value: Any) -> Any:
    """TypeError unless the value is a dataset."""
    if not isinstance(value, DatasetBase):
        raise TypeError(
            f"Dataset.{method}: {name} must be a tf.data.Dataset, got {value!r} of type "
            f"{type(value).__name__}."
        )
    return value


AUTOTUNE = -1
INFINITE_CARDINALITY = stage.INFINITE
UNKNOWN_CARDINALITY = stage.UNKNOWN
