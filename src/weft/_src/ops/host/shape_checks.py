"""`tf.debugging.assert_shapes`: several shapes at once, with names for sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import int32
from weft._src.core.reference import Reference
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import fill, joining, shape as shape_ops
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import prefix, require


def assert_shapes(
    shapes: Any,
    data: TensorLike | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Checks the shapes of several tensors, and that sizes of the same name are equal.

    `shapes` is a list of (tensor, sizes). A size is a number, a name, or None (or ".") for any;
    `...` (or "*") as the first entry stands for any number of sizes. A scalar counts as one size
    of 1. ValueError if known shapes do not fit, InvalidArgumentError when it runs.

    Args:
      shapes: a list of pairs (tensor, sizes), or a dict from references of tensors to sizes. A
        tensor with None for its sizes is not checked.
      data: a list of what errors show in addition when it runs; None means nothing.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.
      message: a string that the error begins with; None means none.

    Raises:
      ShapeError: if known shapes do not fit.
      InvalidArgumentError: if they do not fit when it runs.
      TypeError: if `shapes` does not hold pairs.
      ValueError: if sizes are not written as they must be.

    >>> x, y = tf.ones([2, 3]), tf.ones([3, 5])
    >>> tf.debugging.assert_shapes([(x, ("n", "k")), (y, ("k", 5)), (y, (..., 5))])
    >>> tf.debugging.assert_shapes([(x, ("n", "k")), (y, ("n", None))])
    Traceback (most recent call last):
    weft.errors.ShapeError: assert_shapes: size 'n' must be the same everywhere, got 2 (axis 0 of \
tensor 0, shape (2, 3)) and 3 (axis 0 of tensor 1, shape (3, 5)).
    """
    check = _ShapesCheck(message, data, summarize, name)
    for i, (tensor, sizes) in enumerate(_pairs(shapes)):
        if sizes is not None:
            check.add(i, convert_to_tensor(tensor), _parse_sizes(i, sizes))


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    items = given.items() if isinstance(given, Mapping) else given
    pairs: list[tuple[Any, Any]] = []
    for item in items_of("assert_shapes", items, "shapes"):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise TypeError(f"assert_shapes: shapes must hold (tensor, sizes), got {item!r}.")
        tensor, sizes = item
        pairs.append((tensor.deref() if isinstance(tensor, Reference) else tensor, sizes))
    return pairs


def _parse_sizes(number: int, sizes: Sequence[Any]) -> list[Any]:
    """A list of ints, names, None, and maybe Ellipsis as the first."""
    if not isinstance(sizes, Iterable):
        raise ValueError(
            f"assert_shapes: the sizes of tensor {number} must be a list or tuple, got {sizes!r}."
        )
    parsed: list[Any] = []
    for i, size in enumerate(sizes):
        if size is Ellipsis or size in ("...", "*"):
            if i:
                raise ValueError(
                    f"assert_shapes: `...` must be the first of the sizes of tensor {number}, got "
                    f"{sizes!r}."
                )
            parsed.append(Ellipsis)
        elif size is None or size == ".":
            parsed.append(None)
        elif isinstance(size, str) and not size.isdigit():
            parsed.append(size)
        else:
            try:
                parsed.append(int(size))
            except (TypeError, ValueError):
                raise ValueError(
                    f"assert_shapes: a size must be a number, a name or None, got {size!r}."
                ) from None
    return parsed or [1]  # no sizes: a scalar, which counts as one size of 1


class _ShapesCheck:
    """Sizes met so far, by name; new ones are compared with them."""

    def __init__(
        self, message: str | None, data: Any, summarize: int | None, name: str | None
    ) -> None:
        self._text = prefix("assert_shapes", message)
        self._options: dict[str, Any] = {
            "summarize": summarize,
            "name": name,
            "more": [] if data is None else items_of("assert_shapes", data, "data"),
        }
        self._sizes: dict[str, tuple[Any, str]] = {}

    def add(self, number: int, x: Tensor, sizes: list[Any]) -> None:
        """Checks one tensor."""
        variable = sizes[0] is Ellipsis
        wanted = sizes[1:] if variable else sizes
        dims = None if x.shape.rank is None else x.shape.as_list() or [1]
        runtime = _runtime_sizes(x)
        self._check_rank(number, x, len(wanted), variable, dims, runtime)
        for at, size in enumerate(wanted, -len(wanted)):
            if size is None:
                continue
            axis = at if variable else at + len(wanted)
            place = f"axis {axis} of tensor {number}, shape {x.shape}"
            actual = runtime[at] if dims is None or dims[at] is None else dims[at]
            if isinstance(size, int):
                self._is(size, actual, place)
            elif size in self._sizes:
                self._same(f"size {size!r}", *self._sizes[size], actual, place)
            else:
                self._sizes[size] = (actual, place)

    def _check_rank(
        self, number: int, x: Tensor, n: int, variable: bool, dims: Any, runtime: Tensor
    ) -> None:
        what = f"{self._text}tensor {number} must have rank {'at least ' if variable else ''}{n}"
        if dims is None:
            condition = comparison.greater_equal if variable else comparison.equal
            rank = shape_ops.size(runtime)
            require(
                condition, [rank, convert_to_tensor(n)], what, ["got", "wanted"], **self._options
            )
        elif len(dims) < n or (len(dims) > n and not variable):
            raise ShapeError(f"{what}, got shape {x.shape}.")

    def _is(self, wanted: int, actual: Any, place: str) -> None:
        text = f"{self._text}{place} must have size {wanted}"
        if not isinstance(actual, int):
            values = [actual, convert_to_tensor(wanted)]
            require(comparison.equal, values, text, ["got", "wanted"], **self._options)
        elif actual != wanted:
            raise ShapeError(f"{text}, got {actual}.")

    def _same(self, what: str, first: Any, first_place: str, second: Any, place: str) -> None:
        if not isinstance(first, int) or not isinstance(second, int):
            values = [convert_to_tensor(first), convert_to_tensor(second)]
            text = f"{self._text}{what} must be the same everywhere"
            require(comparison.equal, values, text, [first_place, place], **self._options)
        elif first != second:
            raise ShapeError(
                f"{self._text}{what} must be the same everywhere, got {first} ({first_place}) and "
                f"{second} ({place})."
            )


def _runtime_sizes(x: Tensor) -> Tensor:
    """The sizes as a tensor; a scalar counts as one size of 1."""
    sizes = shape_ops.shape(x)
    if x.shape.rank is not None:
        return sizes
    missing = casting.cast(comparison.equal(shape_ops.rank(x), 0), int32)
    return joining.concat([fill.ones(shape_ops.expand_dims(missing, 0), int32), sizes], 0)
