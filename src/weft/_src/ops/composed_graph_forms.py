"""Forms, for SavedModels, of ops that several of TensorFlow's stand for: transforms, images, ...

`graph_forms.py` says what a form is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, float32, float64, int32, string
from weft._src.ops.graph_forms import FormBody, NoForm, Written, cast, rank_of, windows

Array = np.ndarray[Any, Any]


def _size(x: Written, axis: int, why: str) -> int:
    size = None if x.spec.dims is None else x.spec.dims[axis]
    if not isinstance(size, int):
        raise NoForm(f"the size of its axis {axis} must be known, {why}")
    return size


def _transposed(b: FormBody, x: Written, order: Sequence[int]) -> Any:
    if list(order) == list(range(len(order))):
        return x
    return b.add("Transpose", x, b.const(np.array(order, np.int32), int32))


def _with_last(b: FormBody, x: Written, axes: Sequence[int], work: Callable[[Any], Any]) -> Any:
    """What `work` gives of a tensor whose last axes are these, in the old order."""
    rank = rank_of(x) if any(axis >= 0 for axis in axes) else x.spec.rank
    if rank is None:
        if list(axes) == list(range(-len(axes), 0)):
            return work(x)
        rank = rank_of(x)
    places = [axis % rank for axis in axes]
    order = [i for i in range(rank) if i not in places] + places
    return _transposed(b, work(_transposed(b, x, order)), np.argsort(order).tolist())


def _constant(b: FormBody, matrix: Array) -> Any:
    """A matrix of the dtype of the result."""
    dtype = b.outputs[0].dtype
    return b.const(matrix.astype(dtype.numpy_dtype), dtype)


def _times(b: FormBody, x: Written, matrix: Any, rank: int) -> Any:
    """The product of the last axis with a matrix."""
    if rank > 1:
        return b.add("BatchMatMulV2", x, matrix)
    row = b.add("ExpandDims", x, b.const(0))
    return b.add("Squeeze", b.add("BatchMatMulV2", row, matrix), squeeze_dims=[0])


# --- Fourier and cosine transforms ----------------------------------------------------------------


def _plain(norm: str) -> None:
    if norm != "backward":
        raise NoForm(f"only the usual scaling of transforms can be written, not {norm!r}")


def fourier(b: FormBody, x: Written, *, axes: Sequence[int], norm: str) -> Any:
    """A complex transform over one to three axes."""
    _plain(norm)
    if not 1 <= len(axes) <= 3:
        raise NoForm("transforms of one, two or three axes can be written")
    op = "IFFT" if b.name.startswith("IFFT") else "FFT"
    kind = {1: op, 2: f"{op}2D", 3: f"{op}3D"}[len(axes)]
    return _with_last(b, x, axes, lambda x: b.add(kind, x))


def real_fourier(b: FormBody, x: Written, *, axis: int, norm: str) -> Any:
    """The transform of real numbers along an axis."""
    _plain(norm)
    made = b.outputs[0].dtype

    def work(x: Written) -> Any:
        sizes = b.add("Shape", x)
        last = b.add("Sub", b.add("Rank", x), b.const(1))
        length = b.add("GatherV2", sizes, b.add("ExpandDims", last, b.const(0)), b.const(0))
        return b.add("RFFT", x, length, Tcomplex=made)

    return _with_last(b, x, [axis], work)


def inverse_real_fourier(b: FormBody, x: Written, length: Any, *, axis: int, norm: str) -> Any:
    """The inverse transform to real numbers along an axis."""
    _plain(norm)
    made = b.outputs[0].dtype
    wanted = b.add("ExpandDims", cast(b, length, int32), b.const(0))
    return _with_last(b, x, [axis], lambda x: b.add("IRFFT", x, wanted, Treal=made))


def cosine(kernel: Callable[..., Array]) -> Any:
    """A cosine transform: the product with its matrix, which the kernel makes of unit vectors.

    If the size is not known, ops make the matrix.
    """

    def form(b: FormBody, x: Written, **attrs: Any) -> Any:
        dtype, rank = b.outputs[0].dtype, rank_of(x)
        assert x.spec.dims is not None  # its rank is known
        size = x.spec.dims[-1]
        if isinstance(size, int):
            return _times(b, x, _constant(b, kernel(np.eye(size), **attrs)), rank)
        return _times(b, x, cast(b, _cosines(b, x, rank, **attrs), dtype), rank)

    return form


def _cosines(b: FormBody, x: Written, rank: int, *, type: int, norm: str | None) -> Any:
    """The matrix of a cosine transform: [n, k] is how much the number n counts for the result k."""
    size = b.add("GatherV2", b.add("Shape", x), b.const(rank - 1), b.const(0))
    places = cast(b, b.add("Range", b.const(0), size, b.const(1)), float64)
    down, across = b.add("ExpandDims", places, b.const(1)), b.add("ExpandDims", places, b.const(0))
    n = cast(b, size, float64)

    def number(value: float) -> Any:
        return b.const(np.float64(value), float64)

    def odd(k: Any) -> Any:
        return b.add("AddV2", b.add("Mul", number(2), k), number(1))

    # The angle is pi times a product of these, divided by that.
    left, right, parts = {
        1: lambda: (down, across, b.add("Sub", n, number(1))),
        2: lambda: (odd(down), across, b.add("Mul", number(2), n)),
        3: lambda: (down, odd(across), b.add("Mul", number(2), n)),
        4: lambda: (odd(down), odd(across), b.add("Mul", number(4), n)),
    }[type]()
    angle = b.add("RealDiv", b.add("Mul", left, right), parts)
    matrix = b.add("Mul", number(2), b.add("Cos", b.add("Mul", number(np.pi), angle)))
    if norm == "ortho":
        scale = b.add("Rsqrt", b.add("Mul", number(2), n))
        matrix = b.add("Mul", matrix, scale)
    # The first number (of type 1 the last one, too) counts half, or by the root of that.
    less = number(np.sqrt(0.5) if norm == "ortho" else 0.5)
    if type in (2, 3) and (norm == "ortho" or type == 3):
        first = b.add("Equal", across if type == 2 else down, number(0))
        matrix = b.add("Mul", matrix, b.add("SelectV2", first, less, number(1)))
    elif type == 1:
        last = b.add("Equal", down, parts)
        end = b.add("LogicalOr", b.add("Equal", down, number(0)), last)
        matrix = b.add("Mul", matrix, b.add("SelectV2", end, less, number(1)))
    return matrix


def overlap_and_add(b: FormBody, x: Written, step: Any) -> Any:
    """Frames added up at their places."""
    rank = rank_of(x)
    last = _transposed(b, x, [rank - 2, rank - 1, *range(rank - 2)])
    sizes = b.add("Shape", last)
    frames, length = [b.add("GatherV2", sizes, b.const(i), b.const(0)) for i in (0, 1)]
    hop = cast(b, step, int32)
    starts = b.add("Mul", b.add("Range", b.const(0), frames, b.const(1)), hop)
    within = b.add("Range", b.const(0), length, b.const(1))
    places = b.add("AddV2", b.add("ExpandDims", starts, b.const(1)), within)
    total = b.add("AddV2", b.add("Mul", b.add("Sub", frames, b.const(1)), hop), length)
    added = b.add("UnsortedSegmentSum", last, places, b.add("Maximum", total, b.const(0)))
    return _transposed(b, added, [*range(1, rank - 1), 0])


# --- images ---------------------------------------------------------------------------------------


def nearest_places(
    b: FormBody, size: Any, wanted: Any, *, align_corners: bool = False, **form: Any
) -> Any:
    """Which element each one of a resized axis is."""
    old, new = [cast(b, cast(b, n, int32), float32) for n in (size, wanted)]
    numbers = b.add("Range", b.const(0), cast(b, wanted, int32), b.const(1))
    at = cast(b, numbers, float32)
    one, half = [b.const(np.float32(n), float32) for n in (1.0, 0.5)]
    if align_corners:
        steps = b.add("Maximum", b.add("Sub", new, one), one)
        scale = b.add("RealDiv", b.add("Sub", old, one), steps)
        found = b.add("Floor", b.add("AddV2", b.add("Mul", at, scale), half))
    else:
        if form.get("half_pixel_centers", True):
            at = b.add("AddV2", at, half)
        found = b.add("Floor", b.add("Mul", at, b.add("RealDiv", old, new)))
    return cast(b, b.add("Minimum", found, b.add("Sub", old, one)), int32)


def resized(bands: Callable[..., tuple[Any, ...]]) -> Any:
    """One axis of images: the other keeps its size."""

    def form(b: FormBody, x: Written, wanted: Any, *, axis: int, kind: str, **options: Any) -> Any:
        op = {"linear": "ResizeBilinear", "cubic": "ResizeBicubic"}.get(kind)
        if op is None or options.get("antialias") or x.spec.rank != 4:
            return _by_matrix(b, x, axis, bands, kind=kind, **options)
        sizes = b.add("Shape", x)
        other = b.add("GatherV2", sizes, b.const(2 if axis % 4 == 1 else 1), b.const(0))
        pair = [wanted, other] if axis % 4 == 1 else [other, wanted]
        places = {key: value for key, value in options.items() if key != "antialias"}
        return b.add(op, x, b.add("Pack", [cast(b, n, int32) for n in pair]), **places)

    return form


def _by_matrix(
    b: FormBody, x: Written, axis: int, bands: Callable[..., tuple[Any, ...]], **options: Any
) -> Any:
    """Resizing of an axis as the product with a matrix, if both sizes are known."""
    why = "for resizing other than bilinear and bicubic, and with antialiasing"
    size, new = _size(x, axis, why), _size(_Spec(b), axis, why)
    starts, weights = bands(size=size, wanted=new, **options)[:2]
    matrix = np.zeros((size, new), np.float32)
    for number, (start, row) in enumerate(zip(starts, weights, strict=True)):
        inside = row[: size - start]
        matrix[start : start + len(inside), number] += inside
    # The result is of floats, whatever the numbers of the image are.
    rank, made = rank_of(x), b.outputs[0].dtype
    known = _constant(b, matrix)
    return _with_last(b, x, [axis], lambda x: _times(b, cast(b, x, made), known, rank))


class _Spec:
    """The first result as something that has a spec."""

    def __init__(self, b: FormBody) -> None:
        self.spec = b.outputs[0]
        self.dtype: DType = self.spec.dtype


def argmax_pool(
    b: FormBody, x: Written, *, targmax: DType, whole: bool, padding: Any, **attrs: Any
) -> Any:
    """The largest of each window, and where it is."""
    if not isinstance(padding, str):
        raise NoForm("explicit padding cannot be written")
    sizes = {key: [1, *attrs[key], 1] for key in ("ksize", "strides")}
    return b.add(b.name, x, Targmax=targmax, padding=padding, include_batch_in_index=whole, **sizes)


def dilation(b: FormBody, *inputs: Any, padding: Any, **attrs: Any) -> Any:
    """Dilation and its gradients: sizes for all axes."""
    if not isinstance(padding, str):
        raise NoForm("explicit padding cannot be written")
    sizes = {key: [1, *value, 1] for key, value in attrs.items()}
    return b.add(b.name, *inputs, padding=padding, **sizes)


def combined_suppression(
    b: FormBody,
    boxes: Any,
    scores: Any,
    iou: Any,
    score: Any,
    *,
    each: int,
    total: int,
    **attrs: Any,
) -> Any:
    """The best boxes of all classes: how many is an input."""
    return b.add(b.name, boxes, scores, b.const(each), b.const(total), iou, score, **attrs)


def depthwise(b: FormBody, x: Written, filters: Written, **attrs: Any) -> Any:
    """A convolution of each channel; TensorFlow's op has no dilations on a CPU."""
    rates = attrs["dilations"]
    if all(rate == 1 for rate in rates):
        return windows(b, x, filters, **attrs)
    if attrs["channels_first"] or any(step != 1 for step in attrs["strides"]):
        raise NoForm("dilations can be written with channels last and strides of 1")
    pads, crops = [], []
    for axis, rate in enumerate(rates):
        reach = (_size(filters, axis, "for dilations") - 1) * rate
        padding = attrs["padding"]
        same = (reach // 2, reach - reach // 2) if padding == "SAME" else (0, 0)
        low, high = same if isinstance(padding, str) else padding[axis]
        more = -(_size(x, axis + 1, "for dilations") + low + high) % rate
        pads.append([low, high + more])
        crops.append([0, more])
    block = b.const(np.array(rates, np.int32), int32)
    apart = b.add("SpaceToBatchND", x, block, b.const(np.array(pads, np.int32), int32))
    found = b.add(b.name, apart, filters, strides=[1, 1, 1, 1], padding="VALID")
    return b.add("BatchToSpaceND", found, block, b.const(np.array(crops, np.int32), int32))


# --- others ---------------------------------------------------------------------------------------


def window_sum(b: FormBody, x: Written, *, radius: int) -> Any:
    """The sum of each channel and its neighbours, as the product with a band of ones."""
    channels = np.arange(_size(x, -1, "for the matrix of neighbours"))
    neighbours = np.abs(channels[:, None] - channels) <= radius
    return _times(b, x, _constant(b, neighbours), rank_of(x))


def fake_quantization(
    b: FormBody, x: Written, low: Written, high: Written, *, divides: bool, **attrs: Any
) -> Any:
    """With one range, or one for each channel."""
    if x.dtype is not float32 or low.spec.rank not in (0, 1):
        raise NoForm("only float32 with one range, or one for each channel, can be written")
    kind = "FakeQuantWithMinMaxVars" + ("PerChannel" if low.spec.rank else "")
    return b.add(kind, x, low, high, **attrs)


def bytes_split(b: FormBody, x: Written) -> Any:
    """The bytes of strings: TensorFlow splits them at nothing."""
    return b.add("StringSplit", x, b.const("", string), skip_empty=False)


def pseudo_inverse(b: FormBody, x: Written, rcond: Written) -> Any:
    """By singular values, of which small ones are left out."""
    s, u, v = b.add("Svd", x, compute_uv=True, full_matrices=False)
    largest = b.add("Max", s, b.const(np.array([-1], np.int32), int32), keep_dims=True)
    limit = b.add("Mul", b.add("ExpandDims", cast(b, rcond, s.dtype), b.const(-1)), largest)
    zero = b.add("ZerosLike", s)
    kept = b.add("Greater", s, limit)
    inverse = b.add("SelectV2", kept, b.add("DivNoNan", b.add("OnesLike", s), s), zero)
    scaled = b.add("Mul", v, b.add("ExpandDims", cast(b, inverse, x.dtype), b.const(-2)))
    return b.add("BatchMatMulV2", scaled, u, adj_y=True)


def absolute(b: FormBody, x: Written) -> Any:
    """Absolute values; TensorFlow has another op for complex numbers."""
    if not x.dtype.is_complex:
        return b.add("Abs", x)
    return b.add("ComplexAbs", x, Tout=b.outputs[0].dtype)


def matrix_function(b: FormBody, x: Written) -> Any:
    """Square roots and logarithms; TensorFlow has given its op for exponentials up."""
    if b.name == "MatrixExponential":
        raise NoForm("TensorFlow has no op for the exponential of a matrix any more")
    return b.add(b.name, x)


def tridiagonal_eigen(b: FormBody, alpha: Written, beta: Written, *, compute_v: bool) -> Any:
    """Eigenvalues of the matrix with these diagonals; only what is below counts."""
    zero, all_of_it = b.const(np.zeros((), alpha.dtype.numpy_dtype), alpha.dtype), b.const(-1)
    made = [
        b.add("MatrixDiagV3", diagonal, b.const(k), all_of_it, all_of_it, zero)
        for diagonal, k in ((alpha, 0), (beta, -1))
    ]
    values, vectors = b.add("SelfAdjointEigV2", b.add("AddV2", *made), compute_v=compute_v)
    return [cast(b, values, b.outputs[0].dtype), vectors]


def formatted(b: FormBody, *inputs: Any, bare: Sequence[int], **attrs: Any) -> Any:
    """A text with values in it."""
    if bare:
        raise NoForm("texts of ragged tensors cannot be written")
    return b.add(b.name, inputs, **attrs)


def temporal_loss(
    b: FormBody,
    labels: Written,
    logits: Written,
    label_length: Written,
    logit_length: Written,
    *,
    blank_index: int,
) -> Any:
    """CTC: TensorFlow's op takes sparse labels, and the last class is its blank."""
    x = logits if logits.dtype in (float32, float64) else cast(b, logits, float32)
    lengths, times = cast(b, label_length, int32), cast(b, logit_length, int32)
    zero, one, two = (b.const(n) for n in range(3))
    classes = b.add("GatherV2", b.add("Shape", x), two, zero)
    blank, last = b.const(blank_index), b.add("Sub", classes, one)
    if blank_index < 0:
        blank = b.add("AddV2", classes, blank)
    others = b.add("Range", zero, last, one)
    behind = cast(b, b.add("GreaterEqual", others, blank), int32)
    order = [b.add("AddV2", others, behind), b.add("ExpandDims", blank, zero)]
    turned = b.add("GatherV2", x, b.add("ConcatV2", order, zero), two)
    # Rows without labels, which TensorFlow's op refuses, get one, and are looked at alone.
    padded = b.add("Pad", cast(b, labels, int32), b.const([[0, 0], [0, 1]]))
    width = b.add("GatherV2", b.add("Shape", padded), one, zero)
    columns = b.add("ExpandDims", b.add("Range", zero, width, one), zero)
    rows = b.add("ExpandDims", lengths, one)
    inside = b.add("Less", columns, rows)
    numbers = b.add("Sub", padded, cast(b, b.add("Greater", padded, blank), int32))
    places = b.add("Where", b.add("Less", columns, b.add("Maximum", rows, one)))
    kept = b.add("GatherNd", b.add("SelectV2", inside, numbers, zero), places)
    fits = b.add("LessEqual", _time_needed(b, padded, inside, columns, lengths), times)
    loss, gradient = b.add(
        "CTCLoss", turned, places, kept, times, ignore_longer_outputs_than_inputs=True
    )
    without, gradient_without = _without_labels(b, turned, times, last)
    is_empty = b.add("Equal", lengths, zero)
    never = b.const(np.array(np.inf, x.dtype.numpy_dtype), x.dtype)
    # What does not fit into the time is left out by TensorFlow's op; here it is infinite.
    loss = b.add("SelectV2", is_empty, without, b.add("SelectV2", fits, loss, never))
    gradient = b.add("SelectV2", b.add("ExpandDims", fits, one), gradient, b.add("ZerosLike", x))
    gradient = b.add("SelectV2", b.add("ExpandDims", is_empty, one), gradient_without, gradient)
    every = b.add("Range", zero, classes, one)
    moved = b.add("Sub", every, cast(b, b.add("Greater", every, blank), int32))
    back = b.add("SelectV2", b.add("Equal", every, blank), last, moved)
    gradient = b.add("GatherV2", gradient, back, two)
    return [cast(b, part, logits.dtype) for part in (loss, gradient)]


def _time_needed(b: FormBody, labels: Any, inside: Any, columns: Any, lengths: Any) -> Any:
    """The labels of each row; between two that are the same there has to be a blank."""
    before = b.add("Roll", labels, b.const([1]), b.const([1]))
    later = b.add("LogicalAnd", inside, b.add("Greater", columns, b.const(0)))
    repeated = cast(b, b.add("LogicalAnd", later, b.add("Equal", labels, before)), int32)
    return b.add("AddV2", lengths, b.add("Sum", repeated, b.const([1])))


def _without_labels(b: FormBody, x: Any, times: Any, blank: Any) -> tuple[Any, Any]:
    """The loss of nothing but blanks, and its gradient."""
    zero = b.const(np.zeros((), x.dtype.numpy_dtype), x.dtype)
    scores = b.add("LogSoftmax", x)
    steps = b.add("GatherV2", b.add("Shape", x), b.const(0), b.const(0))
    numbers = b.add("ExpandDims", b.add("Range", b.const(0), steps, b.const(1)), b.const(1))
    counts = b.add("Less", numbers, b.add("ExpandDims", times, b.const(0)))
    of_blank = b.add("GatherV2", scores, blank, b.const(2))
    loss = b.add("Neg", b.add("Sum", b.add("SelectV2", counts, of_blank, zero), b.const([0])))
    classes = b.add("AddV2", blank, b.const(1))
    unit = b.const(np.ones((), x.dtype.numpy_dtype), x.dtype)
    wanted = b.add("OneHot", blank, classes, unit, zero)
    gradient = b.add("Sub", b.add("Exp", scores), wanted)
    return loss, b.add("SelectV2", b.add("ExpandDims", counts, b.const(2)), gradient, zero)
