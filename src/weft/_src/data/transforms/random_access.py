"""One element of a dataset by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.dtypes import int64, variant
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.data.core import structure
from weft._src.data.core.base import check_dataset, int64_scalar
from weft._src.data.core.iterators import run_of
from weft._src.data.core.stage import Run, Stage
from weft._src.errors import OutOfRangeError
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


def _element_kernel(
    xp: ArrayNamespace, rest: Stage, index: Array, *, specs: tuple[TensorSpec, ...], run: Run
) -> Any:
    found = None
    if index >= 0:
        cursor = rest.cursor(run)
        found = next(iter(cursor), None)
        cursor.close()
    if found is None:
        raise OutOfRangeError(
            None, None, f"experimental.at: the dataset has no element {int(index)}."
        )
    return found


element_op = define_op(
    "GetElementAtIndex",
    args("dataset", {variant}) + args("index", {int64}),
    infer=lambda dataset, index, *, specs, run: tuple([spec.with_fresh_dims() for spec in specs]),
    kernel=_element_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    host_io=True,
    trusts_kernel=True,
)


def at(dataset: Dataset, index: IntLike) -> Any:
    """The element of a number, counted from 0; OutOfRangeError if there is none.

    Args:
      dataset: the dataset. The elements before are made, too, where that cannot be avoided.
      index: the number, an integer or a scalar tensor. Negative ones are out of range.

    Returns:
      The element, a nest of tensors.

    Raises:
      tf.errors.OutOfRangeError: if there is no such element.
      TypeError: if `dataset` is no dataset.

    >>> tf.data.experimental.at(tf.data.Dataset.range(5), 3).numpy()
    np.int64(3)
    """
    place = int64_scalar("at", "index", index)
    rest = check_dataset("at", "dataset", dataset).skip(place)
    flat = element_op(
        rest._variant,
        place,
        specs=tuple(structure.flat_specs(rest.element_spec)),
        run=run_of(rest._options),
    )
    return structure.pack(rest.element_spec, flat)
