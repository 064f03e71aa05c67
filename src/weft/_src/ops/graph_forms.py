"""How ops are written with TensorFlow's: rules `graphdef=` in an op's block, for SavedModels.

A rule is `rule(b, *inputs, **attrs)`, with the attributes of the node. `b` is the body that is
being written: `b.add("Sum", x, axes, keep_dims=True)` writes a node of TensorFlow's and gives its
output (a list, if it has several), `b.const(array)` a constant; types and lengths of lists follow
from the inputs. The rule returns what the outputs become. What cannot be written is said by
`raise NoForm(why)`. `b.name` is the name of the op, `b.outputs` are the specs of its results.

An op without a rule is written as it is, if TensorFlow has one of that name which takes the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import DType, int32, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec

Form = Callable[..., Any]


class NoForm(Exception):  # noqa: N818 - a signal: all of them together become one error
    """This node cannot be written with TensorFlow's ops."""


class Written(Protocol):
    """A tensor of the body that is being written."""

    @property
    def dtype(self) -> DType: ...
    @property
    def spec(self) -> TensorSpec: ...


class FormBody(Protocol):
    """What rules write into."""

    @property
    def name(self) -> str: ...
    @property
    def outputs(self) -> Sequence[TensorSpec]: ...
    @property
    def is_pure(self) -> bool: ...
    def add(self, op: str, *inputs: Any, **attrs: Any) -> Any: ...
    def const(self, value: TensorLike | None, dtype: DType = ...) -> Any: ...
    def function(self, graph: Any) -> str: ...
    def same_inputs_before(self) -> Any: ...
    def made_from(self, op: str, place: int) -> Any: ...
    def constant(self, place: int) -> Any: ...
    def list_dtype(self) -> DType: ...
    def loop_functions(self, cond: Any, body: Any, *, limited: bool) -> tuple[str, str]: ...


# --- pieces ---------------------------------------------------------------------------------------


def rank_of(x: Written) -> int:
    """The rank of a tensor, which has to be known."""
    rank = x.spec.rank
    if rank is None:
        raise NoForm("the rank of its input must be known: give the function an input_signature")
    return rank


def sizes_of(dims: Sequence[Any] | None) -> list[int] | None:
    """Sizes with -1 for unknown ones; None for an unknown rank."""
    if dims is None:
        return None
    return [-1 if d is None or isinstance(d, Dim) else int(d) for d in dims]


def axes_of(b: FormBody, x: Written, axis: Any) -> Any:
    """Axes as a vector; None means all of them."""
    if axis is not None:
        return b.const(np.atleast_1d(np.array(axis, np.int32)), int32)
    if x.spec.rank is not None:
        return b.const(np.arange(x.spec.rank, dtype=np.int32), int32)
    return b.add("Range", b.const(0), b.add("Rank", x), b.const(1))


def cast(b: FormBody, x: Written, dtype: DType) -> Any:
    """A tensor of another dtype."""
    return x if x.dtype is dtype else b.add("Cast", x, DstT=dtype)


def element_shape(b: FormBody, shape: Sequence[Any] | None) -> Any:
    """The shape of elements of a list; -1 if it is not known."""
    sizes = sizes_of(shape)
    return b.const(-1 if sizes is None else np.array(sizes, np.int32), int32)


# --- other names and attributes -------------------------------------------------------------------


def as_op(op: str, **names: str) -> Form:
    """The same op under another name, or with other names of attributes."""

    def form(b: FormBody, *inputs: Any, **attrs: Any) -> Any:
        return b.add(op, *inputs, **{names.get(key, key): value for key, value in attrs.items()})

    return form


def without(*left_out: str) -> Form:
    """As it is, but for attributes that only Weft needs."""

    def form(b: FormBody, *inputs: Any, **attrs: Any) -> Any:
        return b.add(b.name, *inputs, **{k: v for k, v in attrs.items() if k not in left_out})

    return form


def cast_form(b: FormBody, x: Written, *, dtype: DType) -> Any:
    """Cast."""
    return b.add("Cast", x, DstT=dtype)


def unbatched(b: FormBody, *inputs: Any, batch_dims: int = 0, **attrs: Any) -> Any:
    """As it is, without axes of a batch in front."""
    if batch_dims:
        raise NoForm(f"TensorFlow's {b.name} has no batch_dims")
    kept = {key: value for key, value in attrs.items() if key != "shape"}
    return b.add(b.name, *inputs, **kept)


# --- axes as inputs -------------------------------------------------------------------------------


def reduction(b: FormBody, x: Written, *, axis: Any, keepdims: bool, **attrs: Any) -> Any:
    """Sum and the like."""
    return b.add(b.name, x, axes_of(b, x, axis), keep_dims=keepdims, **attrs)


def with_axis(b: FormBody, *inputs: Any, axis: Any, **attrs: Any) -> Any:
    """An axis, or several, behind the other inputs."""
    return b.add(b.name, *inputs, b.const(axis), **attrs)


def concat(b: FormBody, *values: Any, axis: int) -> Any:
    """ConcatV2, which wants two tensors at least."""
    if len(values) == 1:
        return b.add("Identity", values[0])
    return b.add("ConcatV2", list(values), b.const(axis))


def transpose(b: FormBody, x: Written, *, perm: Any) -> Any:
    """Transpose; without a permutation axes are reversed."""
    if perm is not None:
        return b.add("Transpose", x, b.const(np.array(perm, np.int32), int32))
    if x.spec.rank is not None:
        return b.add("Transpose", x, b.const(np.arange(x.spec.rank)[::-1].astype(np.int32), int32))
    last = b.add("Sub", b.add("Rank", x), b.const(1))
    return b.add("Transpose", x, b.add("Range", last, b.const(-1), b.const(-1)))


def transpose_by(b: FormBody, x: Written, perm: Written) -> Any:
    """TensorFlow's op takes a permutation as an input anyway."""
    return b.add("Transpose", x, perm)


def reverse_by(b: FormBody, x: Written, axis: Written) -> Any:
    """TensorFlow's op takes axes as an input anyway."""
    return b.add("ReverseV2", x, axis)


def roll_by(b: FormBody, x: Written, shift: Written, axis: Written) -> Any:
    """TensorFlow's op takes axes as an input anyway."""
    return b.add("Roll", x, shift, axis)


def split(b: FormBody, x: Written, *, num: int, axis: int) -> Any:
    """Split, whose axis comes first."""
    return b.add("Split", b.const(axis), x, num_split=num)


def split_sizes(b: FormBody, x: Written, sizes: Any, *, num: int, axis: int) -> Any:
    """SplitV."""
    return b.add("SplitV", x, sizes, b.const(axis), num_split=num)


def squeeze(b: FormBody, x: Written, *, axis: Any) -> Any:
    """Squeeze."""
    return b.add("Squeeze", x, squeeze_dims=[] if axis is None else list(np.atleast_1d(axis)))


def gather(b: FormBody, x: Written, indices: Written, *, axis: int | None, batch_dims: int) -> Any:
    """GatherV2."""
    axis = batch_dims if axis is None else axis
    return b.add("GatherV2", x, indices, b.const(axis), batch_dims=batch_dims)


def gather_grad(
    b: FormBody,
    shape: Written,
    dy: Any,
    indices: Written,
    *,
    axis: int | None,
    batch_dims: int,
) -> Any:
    """Rows are added where they were taken."""
    if batch_dims:
        raise NoForm("gradients of tf.gather with batch_dims cannot be written")
    axis = 0 if axis is None else axis
    rank = rank_of(indices)
    places = b.add("ExpandDims", indices, b.const(-1))
    shape = cast(b, shape, indices.dtype)
    if axis == 0:
        return b.add("ScatterNd", places, dy, shape)
    whole = rank_of(dy) - rank + 1
    before = axis % whole
    to_front = [*range(before, before + rank), *range(before), *range(before + rank, rank_of(dy))]
    rows = b.add("Transpose", dy, b.const(np.array(to_front, np.int32), int32))
    order = [before, *[i for i in range(whole) if i != before]]
    sizes = b.add("GatherV2", shape, b.const(np.array(order, np.int32), int32), b.const(0))
    out = b.add("ScatterNd", places, rows, sizes)
    return b.add("Transpose", out, b.const(np.argsort(order).astype(np.int32), int32))


def sum_to_shape(b: FormBody, x: Written, shape: Written) -> Any:
    """The gradient of broadcasting."""
    sizes = b.add("Shape", x, out_type=shape.dtype)
    axes, _ = b.add("BroadcastGradientArgs", shape, sizes)
    return b.add("Reshape", b.add("Sum", x, axes, keep_dims=False), shape)


# --- indexing -------------------------------------------------------------------------------------


class _Index:
    """What TensorFlow takes for an index in Python: bounds and steps, and a bit for each entry."""

    def __init__(
        self, b: FormBody, index: tuple[Any, ...], positions: Sequence[Any], dtype: DType
    ) -> None:
        self.b, self.dtype = b, dtype
        self.positions = positions
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(
            ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
        )
        for i, entry in enumerate(index):
            self._entry(1 << i, entry)

    def _mark(self, name: str, bit: int) -> None:
        self.masks[name] |= bit

    def _value(self, part: Any) -> Any:
        return part if isinstance(part, int) else cast(self.b, self.positions[part[1]], self.dtype)

    def _entry(self, bit: int, entry: Any) -> None:
        begin, end, step = 0, 0, 1
        if entry == "...":
            self._mark("ellipsis_mask", bit)
        elif entry == "new":
            self._mark("new_axis_mask", bit)
        elif isinstance(entry, int) or entry[0] == "input":
            self._mark("shrink_axis_mask", bit)
            begin = self._value(entry)
            one = 1 if isinstance(begin, int) else self.b.const(1, self.dtype)
            end = begin + one if isinstance(begin, int) else self.b.add("AddV2", begin, one)
        else:
            start, stop, stride = entry
            begin = 0 if start is None else self._value(start)
            end = 0 if stop is None else self._value(stop)
            step = 1 if stride is None else self._value(stride)
            if start is None:
                self._mark("begin_mask", bit)
            if stop is None:
                self._mark("end_mask", bit)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(step)

    def _vector(self, parts: Sequence[Any]) -> Any:
        if all(isinstance(part, int) for part in parts):
            return self.b.const(np.array(parts, self.dtype.numpy_dtype), self.dtype)
        refs = [self.b.const(p, self.dtype) if isinstance(p, int) else p for p in parts]
        return self.b.add("Pack", refs)

    @property
    def vectors(self) -> tuple[Any, Any, Any]:
        """Begin, end and steps."""
        return self._vector(self.begin), self._vector(self.end), self._vector(self.strides)


def _wide(index: tuple[Any, ...], positions: Sequence[Any]) -> DType:
    parts = [p for entry in index for p in (entry if isinstance(entry, tuple) else (entry,))]
    large = any(isinstance(p, int) and not -(2**31) < p < 2**31 - 1 for p in parts)
    return int64 if large or any(p.dtype is int64 for p in positions) else int32


def strided_slice(b: FormBody, x: Written, *positions: Any, index: Any) -> Any:
    """x[index]."""
    found = _Index(b, index, positions, _wide(index, positions))
    return b.add("StridedSlice", x, *found.vectors, **found.masks)


def strided_slice_grad(b: FormBody, shape: Written, dy: Any, *positions: Any, index: Any) -> Any:
    """Zeros with dy at the index."""
    found = _Index(b, index, positions, shape.dtype)
    return b.add("StridedSliceGrad", shape, *found.vectors, dy, **found.masks)


def strided_read(
    b: FormBody, variable: Any, *positions: Any, dtype: DType, index: Any, **_: Any
) -> Any:
    """v[index]."""
    return strided_slice(b, b.add("ReadVariableOp", variable, dtype=dtype), *positions, index=index)


def strided_assign(
    b: FormBody,
    variable: Any,
    value: Written,
    *positions: Any,
    index: Any,
    shape: Sequence[Any] | None,
) -> Any:
    """v[index].assign(value), or what is there plus or minus the value."""
    found = _Index(b, index, positions, _wide(index, positions))
    vectors = found.vectors
    name = "ResourceStridedSliceAssign"
    change = {f"{name}Add": "AddV2", f"{name}Sub": "Sub"}.get(b.name)
    if change is not None:
        whole = b.add("ReadVariableOp", variable, dtype=value.dtype)
        value = b.add(change, b.add("StridedSlice", whole, *vectors, **found.masks), value)
    return b.add(name, variable, *vectors, value, **found.masks)


# --- products and windows -------------------------------------------------------------------------


def matmul(b: FormBody, x: Written, y: Written, *, transpose_a: bool, transpose_b: bool) -> Any:
    """MatMul of matrices, BatchMatMulV2 of more: that one takes the adjoint."""
    if x.spec.rank == 2 and y.spec.rank == 2:
        return b.add("MatMul", x, y, transpose_a=transpose_a, transpose_b=transpose_b)
    if x.dtype.is_complex:
        x = b.add("Conj", x) if transpose_a else x
        y = b.add("Conj", y) if transpose_b else y
    return b.add("BatchMatMulV2", x, y, adj_x=transpose_a, adj_y=transpose_b)


def contraction(
    b: FormBody, *inputs: Any, equation: str = "", axes: Sequence[Any] | None = None
) -> Any:
    """Einsum and tensordot."""
    if axes is not None:
        equation = _tensordot(rank_of(inputs[0]), rank_of(inputs[1]), axes)
    if len(inputs) > 2:
        raise NoForm("TensorFlow's op takes two tensors at most: write it as several")
    return b.add("Einsum", list(inputs), equation=equation)


def contraction_grad(
    b: FormBody,
    shape: Written,
    g: Written,
    *others: Any,
    index: int,
    equation: str = "",
    axes: Sequence[Any] | None = None,
) -> Any:
    """The gradient of an input, itself an Einsum."""
    if len(others) > 1:
        raise NoForm("TensorFlow's op takes two tensors at most: write it as several")
    if axes is not None:
        sizes = shape.spec.dims
        if sizes is None or isinstance(sizes[0], Dim):
            raise NoForm("the rank of its input must be known")
        ranks = [rank_of(x) for x in others]
        ranks.insert(index, sizes[0])
        equation = _tensordot(ranks[0], ranks[1], axes)
    left, result = equation.split("->")
    terms = left.split(",")
    mine = terms.pop(index)
    labels = mine.replace("...", "")
    if len(set(labels)) < len(labels) or not set(labels) <= set(result + "".join(terms)):
        raise NoForm("gradients of diagonals and of sums inside of tf.einsum cannot be written")
    back = f"{','.join([result, *terms])}->{mine}"
    if "..." in equation and "..." not in mine:
        raise NoForm("gradients of tf.einsum with axes only other inputs have cannot be written")
    out = b.add("Einsum", [g, *others], equation=back)
    return sum_to_shape(b, out, shape) if "..." in equation else out


def _tensordot(left: int, right: int, axes: Any) -> str:
    """The equation for products of tensors of these ranks."""
    letters = [chr(ord("a") + i) for i in range(left)]
    others = [chr(ord("A") + i) for i in range(right)]
    summed = list(zip([a % left for a in axes[0]], [a % right for a in axes[1]], strict=True))
    for i, k in summed:
        others[k] = letters[i]
    kept = [c for i, c in enumerate(letters) if i not in {i for i, _ in summed}]
    kept += [c for k, c in enumerate(others) if k not in {k for _, k in summed}]
    return f"{''.join(letters)},{''.join(others)}->{''.join(kept)}"


def windows(b: FormBody, *inputs: Any, channels_first: bool, padding: Any, **attrs: Any) -> Any:
    """Convolutions and pooling: sizes for all axes, explicit padding as one list."""
    spatial = len(attrs["strides"])

    def whole(sizes: Sequence[int]) -> list[int]:
        return [1, 1, *sizes] if channels_first else [1, *sizes, 1]

    given: dict[str, Any] = {
        key: whole(attrs[key]) for key in ("ksize", "strides", "dilations") if key in attrs
    }
    formats = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
    given["data_format"] = formats[spatial][channels_first]
    if isinstance(padding, str):
        given["padding"] = padding
    else:
        if spatial != 2:
            raise NoForm("explicit padding of one or three axes cannot be written")
        pairs = [tuple(pair) for pair in padding]
        pairs = [(0, 0), (0, 0), *pairs] if channels_first else [(0, 0), *pairs, (0, 0)]
        given |= {"padding": "EXPLICIT", "explicit_paddings": [n for pair in pairs for n in pair]}
    return b.add(b.name, *inputs, **given)


def bias(b: FormBody, *inputs: Any, channels_first: bool, **attrs: Any) -> Any:
    """BiasAdd and others that only ask where the channels are."""
    return b.add(b.name, *inputs, data_format="NCHW" if channels_first else "NHWC", **attrs)


# --- along one axis -------------------------------------------------------------------------------


def _is_last(x: Written, axis: int) -> bool:
    return axis == -1 or (x.spec.rank is not None and axis == x.spec.rank - 1)


def _lowered(b: FormBody, x: Written, axes: Sequence[Any] | None) -> Any:
    """x minus its maximum."""
    return b.add("Sub", x, b.add("Max", x, axes, keep_dims=True))


def softmax(b: FormBody, x: Written, *, axis: int) -> Any:
    """Softmax, which TensorFlow has along the last axis of at least one."""
    if _is_last(x, axis) and x.spec.rank != 0:
        return b.add("Softmax", x)
    axes = axes_of(b, x, axis)
    e = b.add("Exp", _lowered(b, x, axes))
    return b.add("RealDiv", e, b.add("Sum", e, axes, keep_dims=True))


def log_softmax(b: FormBody, x: Written, *, axis: int) -> Any:
    """LogSoftmax, the same."""
    if _is_last(x, axis) and x.spec.rank != 0:
        return b.add("LogSoftmax", x)
    axes = axes_of(b, x, axis)
    low = _lowered(b, x, axes)
    total = b.add("Log", b.add("Sum", b.add("Exp", low), axes, keep_dims=True))
    return b.add("Sub", low, total)


def log_sum_exp(b: FormBody, x: Written, *, axis: Any, keepdims: bool) -> Any:
    """log(sum(exp(x))), with the maximum taken out where it is finite."""
    axes = axes_of(b, x, axis)
    top = b.add("Max", x, axes, keep_dims=True)
    zero = b.add("ZerosLike", top)
    top = b.add("StopGradient", b.add("SelectV2", b.add("IsFinite", top), top, zero))
    total = b.add("Sum", b.add("Exp", b.add("Sub", x, top)), axes, keep_dims=keepdims)
    out = b.add("Log", total)
    if not keepdims:
        top = b.add("Reshape", top, b.add("Shape", out))
    return b.add("AddV2", out, top)


def _with_last(b: FormBody, x: Written, axis: int, work: Callable[[Any], Any]) -> Any:
    """What `work` gives of a tensor whose last axis is this one, in the old order."""
    if _is_last(x, axis):
        return work(x)
    order = [i for i in range(rank_of(x)) if i != axis % rank_of(x)] + [axis % rank_of(x)]
    out = work(b.add("Transpose", x, b.const(np.array(order, np.int32), int32)))
    return b.add("Transpose", out, b.const(np.argsort(order).astype(np.int32), int32))


def _ranked(b: FormBody, x: Written) -> Any:
    rank = b.add("Rank", x)
    size = b.add("GatherV2", b.add("Shape", x), b.add("Sub", rank, b.const(1)), b.const(0))
    return b.add("TopKV2", x, size)


def sort(b: FormBody, x: Written, *, axis: int, descending: bool) -> Any:
    """By TopKV2 of all."""

    def work(x: Written) -> Any:
        values = _ranked(b, x)[0]
        return values if descending else b.add("ReverseV2", values, b.const([-1]))

    return _with_last(b, x, axis, work)


def argsort(b: FormBody, x: Written, *, axis: int, descending: bool) -> Any:
    """By TopKV2 of all, of which the smallest become the largest."""
    if not descending:
        x = b.add("Neg" if x.dtype.is_floating else "Invert", x)
    return _with_last(b, x, axis, lambda x: _ranked(b, x)[1])


def bounds(b: FormBody, found: Any, values: Written, **attrs: Any) -> Any:
    """LowerBound and UpperBound, which TensorFlow has for matrices."""
    if rank_of(found) == 2:
        return b.add(b.name, found, values, **attrs)
    if rank_of(found) != 1:
        raise NoForm("TensorFlow's op takes matrices")
    rows = [b.add("ExpandDims", x, b.const(0)) for x in (found, values)]
    return b.add("Squeeze", b.add(b.name, *rows, **attrs), squeeze_dims=[0])


# --- text, diagonals and images -------------------------------------------------------------------

_FORMAT = re.compile(r"%([ +\-0#]?)(\d+)?(?:\.(\d+))?l?l?([a-z])")


def as_string(b: FormBody, x: Written, *, form: str) -> Any:
    """AsString, which builds the format itself."""
    found = _FORMAT.fullmatch(form)
    if found is None:
        raise NoForm(f"the format {form!r} cannot be written")
    fill, width, precision, kind = found.groups()
    return b.add(
        "AsString",
        x,
        fill=fill,
        width=int(width or -1),
        precision=int(precision or -1) if x.dtype.is_floating or x.dtype.is_complex else -1,
        scientific=kind == "e",
        shortest=kind == "g",
    )


def diagonal(
    b: FormBody, x: Written, *more: Any, lower: int, upper: int, align: str, **sizes: int
) -> Any:
    """MatrixDiagV3 and the like: which diagonals is an input."""
    which = b.const([lower, upper] if lower != upper else lower)
    if b.name == "MatrixSetDiagV3":
        return b.add(b.name, x, *more, which, align=align)
    counts = [b.const(sizes[key]) for key in ("num_rows", "num_cols") if key in sizes]
    return b.add(b.name, x, which, *counts, *more, align=align)
