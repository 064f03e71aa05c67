"""The geometry of windows that slide over the spatial axes of a batch of images.

Kernels work on arrays with the channels last; `channels_last` and `channels_back` turn others
around without copying. A window has `sizes`, moves by `strides`, and its elements are `dilations`
apart. Padding is "SAME", "VALID", or a pair of numbers for each spatial axis.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.shapes import Dim, Dims, Size
from weft._src.core.tensor import Array
from weft._src.errors import ShapeError
from weft._src.ops import static

Ints = tuple[int, ...]
Padding = Any  # "SAME", "VALID" or ((before, after), ...)

_FORMATS = {
    1: ("NWC", "NCW"),
    2: ("NHWC", "NCHW"),
    3: ("NDHWC", "NCDHW"),
}


def check_format(op: str, data_format: str | None, n: int) -> bool:
    """Whether the channels come first, from the name of a format for n spatial axes."""
    last, first = _FORMATS[n]
    if data_format is None or data_format == last:
        return False
    if data_format == first:
        return True
    raise ValueError(f"{op}: data_format must be {last!r} or {first!r}, got {data_format!r}.")


def per_axis(op: str, name: str, value: Any, n: int, channels_first: bool) -> Ints:
    """One number for each spatial axis, from a number, n numbers, or one for every axis."""
    found = static.static_ints(op, value, name)
    if found is None:
        found = 1
    values = (found,) if isinstance(found, int) else tuple(found)
    if len(values) == 1:
        values = values * n
    if len(values) == n + 2:
        spatial = values[2:] if channels_first else values[1:-1]
        if values[0] != 1 or (values[1] if channels_first else values[-1]) != 1:
            raise ShapeError(
                f"{op}: {name} must be 1 for the batch and channel axes, got {list(values)}."
            )
        values = spatial
    if len(values) != n:
        raise ValueError(f"{op}: {name} must have 1, {n} or {n + 2} numbers, got {value!r}.")
    if any(v < 1 for v in values):
        raise ShapeError(f"{op}: {name} must be positive, got {value!r}.")
    return values


def check_padding(
    op: str, padding: str | Sequence[Sequence[int]], n: int, channels_first: bool
) -> Padding:
    """The padding attribute from "SAME", "VALID" or a pair of numbers for every axis."""
    choices = f"'SAME', 'VALID', or a list of {n + 2} pairs of numbers"
    if not isinstance(padding, (list, tuple)):
        if isinstance(padding, str) and padding in ("SAME", "VALID"):
            return padding
        raise ValueError(f"{op}: padding must be {choices}, got {padding!r}.")
    if len(padding) == n + 2:
        pairs = tuple([static.static_ints(op, pair, "padding") for pair in padding])
        spatial = pairs[2:] if channels_first else pairs[1:-1]
        others = (pairs[0], pairs[1] if channels_first else pairs[-1])
        ok = all(isinstance(p, tuple) and len(p) == 2 and min(p) >= 0 for p in pairs)
        if ok and all(tuple(p) == (0, 0) for p in others):  # type: ignore[arg-type]
            return spatial
    raise ShapeError(
        f"{op}: padding must be {choices} that are "
        f"[0, 0] for the batch and channel axes, got {padding!r}."
    )


def output_size(op: str, size: Size, k: Size, stride: int, dilation: int, padding: Any) -> Size:
    """How many windows fit along an axis."""
    if padding == "SAME":
        return size if stride == 1 else Dim() if isinstance(size, Dim) else -(-size // stride)
    before, after = (0, 0) if padding == "VALID" else padding
    if isinstance(size, Dim) or isinstance(k, Dim):
        return Dim()
    span = (k - 1) * dilation + 1
    n = (size + before + after - span) // stride + 1
    if size + before + after - span < -stride or n < 0:
        raise ShapeError(
            f"{op}: a window of size {k} (dilation {dilation}) does not fit an axis of size {size} "
            f"with padding {padding}."
        )
    return n


def output_sizes(
    op: str, sizes: Dims, window: Dims, strides: Ints, dilations: Ints, padding: Padding
) -> Dims:
    """How many windows fit along each spatial axis."""
    paddings = [padding] * len(sizes) if isinstance(padding, str) else padding
    return tuple(
        [output_size(op, *axis) for axis in zip(sizes, window, strides, dilations, paddings)]
    )


def _stepped(start: int, count: int, step: int) -> slice:
    """`count` places from `start` on, `step` apart."""
    return slice(start, start + (count - 1) * step + 1, step) if count else slice(0, 0)


@dataclass(frozen=True)
class Geometry:
    """Where the windows are, once all sizes are known."""

    sizes: Ints  # of the spatial axes of the image
    window: Ints
    strides: Ints
    dilations: Ints
    paddings: tuple[tuple[int, int], ...]
    outputs: Ints  # the number of windows along each axis

    @staticmethod
    @functools.lru_cache(maxsize=512)
    def of(
        op: str, sizes: Ints, window: Ints, strides: Ints, dilations: Ints, padding: Padding
    ) -> Geometry:
        """The geometry of windows over an image of the given sizes."""
        outputs: Any = output_sizes(op, sizes, window, strides, dilations, padding)
        if padding == "VALID":
            paddings = ((0, 0),) * len(sizes)
        elif padding == "SAME":
            totals = [
                max((o - 1) * s + (k - 1) * d + 1 - size, 0)
                for o, s, k, d, size in zip(outputs, strides, window, dilations, sizes)
            ]
            paddings = tuple([(t // 2, t - t // 2) for t in totals])
        else:
            paddings = padding
        return Geometry(sizes, window, strides, dilations, paddings, outputs)

    def back(self) -> Geometry | None:
        """Where windows are when gradients are carried back to the image.

        None if that is no convolution: windows are strides apart, or the border is wider than they.
        """
        if any(s != 1 for s in self.strides):
            return None
        reach = [d * (k - 1) for d, k in zip(self.dilations, self.window)]
        before = [r - b for r, (b, _) in zip(reach, self.paddings)]
        after = [n + r - b - out for n, r, b, out in zip(self.sizes, reach, before, self.outputs)]
        if min(*before, *after) < 0:
            return None
        paddings = tuple(zip(before, after))
        return dataclasses.replace(self, sizes=self.outputs, outputs=self.sizes, paddings=paddings)

    def positions(self, rows: slice = slice(None)) -> Iterator[tuple[Ints, tuple[slice, ...]]]:
        """Each place in the window, and the slices of the padded image that meet it.

        Only of the windows in some rows, if these are given.
        """
        begin, end, _ = rows.indices(self.outputs[0])
        starts = (begin, *[0 for _ in self.outputs[1:]])
        counts = (end - begin, *self.outputs[1:])
        for place in itertools.product(*[range(k) for k in self.window]):
            axes = zip(place, self.dilations, starts, counts, self.strides)
            yield place, tuple([_stepped(i * d + b * s, n, s) for i, d, b, n, s in axes])

    def along(self, axis: int) -> list[tuple[slice, ...]]:
        """For each place in the window along one axis, what windows meet there."""
        stride, dilation, count = self.strides[axis], self.dilations[axis], self.outputs[axis]
        whole = (slice(None),) * (axis + 1)
        places = range(self.window[axis])
        return [(*whole, _stepped(i * dilation, count, stride)) for i in places]

    def pad(self, xp: ArrayNamespace, x: Array, value: Any = 0) -> Array:
        """The image (channels last) with a border; without one it is not copied."""
        if not any(map(any, self.paddings)):
            return x
        out = xp.full(self.padded_shape(x.shape), value, x.dtype)
        out[self.inside()] = x
        return out

    def padded_shape(self, shape: Sequence[int]) -> Ints:
        """The shape of the image with its border."""
        spatial = [b + n + a for n, (b, a) in zip(self.sizes, self.paddings)]
        return (shape[0], *spatial, shape[-1])

    def inside(self) -> tuple[slice, ...]:
        """Where the image is in its border."""
        spatial = [slice(b, b + n) for n, (b, _) in zip(self.sizes, self.paddings)]
        return (slice(None), *spatial, slice(None))

    def columns(self, xp: ArrayNamespace, x: Array) -> Array:
        """A view of all windows of a padded image: (batch, *outputs, *window, channels)."""
        batch, *axes, channel = x.strides
        steps = [stride * s for stride, s in zip(axes, self.strides)]
        apart = [stride * d for stride, d in zip(axes, self.dilations)]
        shape = (x.shape[0], *self.outputs, *self.window, x.shape[-1])
        return xp.strided(x, shape, (batch, *steps, *apart, channel))


def counts(xp: ArrayNamespace, where: Geometry, dtype: Any) -> Any:
    """How many elements of the image each window holds: the border does not count."""
    if not any(map(any, where.paddings)):
        return dtype.type(max(math.prod(where.window), 1))
    out = _counts_along(where, 0)
    for axis in range(1, len(where.sizes)):
        out = out[..., None] * _counts_along(where, axis)
    return xp.maximum(out, 1)[None, ..., None].astype(dtype)


@functools.lru_cache(maxsize=64)
def _counts_along(where: Geometry, axis: int) -> Array:
    """The same for one axis alone; a window is a product of such."""
    first = np.arange(where.outputs[axis]) * where.strides[axis] - where.paddings[axis][0]
    places = first[:, None] + np.arange(where.window[axis]) * where.dilations[axis]
    return np.count_nonzero((places >= 0) & (places < where.sizes[axis]), axis=1)


def channels_last(xp: ArrayNamespace, x: Array, channels_first: bool) -> Array:
    """The array with its channel axis at the end."""
    return xp.moveaxis(x, 1, -1) if channels_first else x


def channels_back(xp: ArrayNamespace, x: Array, channels_first: bool) -> Array:
    """The array with its channel axis where the format has it."""
    return xp.moveaxis(x, -1, 1) if channels_first else x


def spatial_dims(dims: Dims, channels_first: bool) -> tuple[Any, Any, Any]:
    """Batch, spatial sizes and channels of a shape (known sizes at run time)."""
    if channels_first:
        return dims[0], dims[2:], dims[1]
    return dims[0], dims[1:-1], dims[-1]


def image_dims(batch: Size, sizes: Dims, channels: Size, channels_first: bool) -> Dims:
    """The shape with these parts."""
    return (batch, channels, *sizes) if channels_first else (batch, *sizes, channels)
