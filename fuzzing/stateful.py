"""Calls of ops that the op tables do not reach with plain arrays: variables, stacks, bytes.

A variable is made by the first, eager call for the dtype and shape it meets; traces capture it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import weft as tf

Row = tuple[str, Callable[..., Any], tuple[Any, ...]]

_X = np.arange(1.0, 61.0, dtype=np.float32).reshape(3, 4, 5)
_ROWS = np.array([2, 0])
_UPDATES = np.linspace(0.5, 2.0, 40, dtype=np.float32).reshape(2, 4, 5)


def with_variable(body: Callable[..., Any]) -> Callable[..., Any]:
    """body(variable, ...) as a function of the variable's value; gives what it holds afterwards."""
    made: dict[Any, tf.Variable] = {}

    def function(x: Any, *rest: Any) -> Any:
        known = x.shape.is_fully_defined()
        if isinstance(x, tf.Tensor) and hasattr(x, "_value"):  # eager: make what traces will need
            for shape in (tuple(x.shape), None):
                if (x.dtype, shape) not in made:
                    of = tf.TensorShape(shape)
                    made[x.dtype, shape] = tf.Variable(x, shape=of, dtype=x.dtype)
        variable = made[x.dtype, tuple(x.shape) if known else None]
        variable.assign(x)
        return body(variable, *rest), variable.read_value()

    return function


def _slices(name: str) -> Callable[..., Any]:
    def body(v: Any, i: Any, updates: Any) -> Any:
        getattr(v, f"scatter_{name}")(tf.IndexedSlices(updates, i))

    return body


def _nd(name: str) -> Callable[..., Any]:
    def body(v: Any, i: Any, updates: Any) -> Any:
        getattr(v, f"scatter_nd_{name}")(i[:, None], updates)

    return body


def _assigned_slice(change: str) -> Callable[..., Any]:
    def body(v: Any, y: Any) -> Any:
        part = v[1:3, ::2]
        getattr(part, change)(tf.broadcast_to(y, tf.shape(part)))

    return body


def _variables() -> Iterator[Row]:
    one = np.array(2.0, np.float32)
    bodies: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "AssignVariableOp": (lambda v, y: v.assign(v * y), (one,)),
        "AssignAddVariableOp": (lambda v, y: v.assign_add(v * y), (one,)),
        "AssignSubVariableOp": (lambda v, y: v.assign_sub(v * y), (one,)),
        "ReadVariableOp": (lambda v: v + v, ()),
        "ResourceGather": (tf.gather, (_ROWS,)),
        "ResourceGatherNd": (lambda v, i: tf.gather_nd(v, i[:, None]), (_ROWS,)),
        "ResourceStridedSlice": (lambda v: v[1:, ::2], ()),
        "ResourceStridedSliceAssign": (_assigned_slice("assign"), (one,)),
    }
    for name in ("update", "add", "sub", "mul", "div", "max", "min"):
        bodies[f"ResourceScatter{name.title()}"] = (_slices(name), (_ROWS, _UPDATES))
    for name in ("update", "add", "sub", "max", "min"):
        bodies[f"ResourceScatterNd{name.title()}"] = (_nd(name), (_ROWS, _UPDATES))
    for name, (body, rest) in bodies.items():
        yield name, with_variable(body), (_X, *rest)


def _array(x: Any, size: int = 3) -> Any:
    return tf.TensorArray(x.dtype, size, clear_after_read=False).unstack(x)


def _stacks() -> Iterator[Row]:
    def grown(x: Any) -> Any:
        array = tf.TensorArray(x.dtype, 0, dynamic_size=True, element_shape=x.shape[1:])
        for k in range(3):
            array = array.write(2 * k, x[k])
        return array.stack(), array.size()

    def reversed_in_loop(x: Any) -> Any:
        array = tf.TensorArray(x.dtype, 3, element_shape=x.shape[1:])
        return tf.while_loop(
            lambda k, _: k < 3, lambda k, a: (k + 1, a.write(2 - k, x[k] + x[0])), (0, array)
        )[1].stack()

    def split(x: Any) -> Any:
        array = tf.TensorArray(x.dtype, 2, infer_shape=False)
        return array.split(x, [1, 2]).read(1)

    yield "TensorListSetItem", grown, (_X,)
    yield "TensorListGetItem", lambda x: [_array(x).read(i) for i in (2, 0)], (_X,)
    yield "TensorListStack", lambda x: _array(x).write(1, x[0]).stack(), (_X,)
    yield "TensorListFromTensor", lambda x: _array(x).concat(), (_X,)
    yield "TensorListLength", lambda x: _array(x).size(), (_X,)
    yield "StackReadRows", lambda x, i: _array(x).gather(i), (_X, _ROWS.astype(np.int32))
    yield "TensorListPushBack", reversed_in_loop, (_X,)
    yield "StackSplit", split, (_X,)


def _bytes() -> Iterator[Row]:
    words = np.array([b"", b"ab", b"x\xff\x00y"], object)
    lines = np.array([b"1,2.5,a", b"3,,b", b"-4,1e3,"], object)
    packed = np.array([zlib.compress(b"ab"), zlib.compress(b"")], object)
    raw = np.array([bytes(range(16)), bytes(16)], object)
    yield "EncodeBase64", tf.io.encode_base64, (words,)
    yield "DecodeBase64", lambda x: tf.io.decode_base64(tf.io.encode_base64(x)), (words,)
    yield "DecodeCSV", lambda x: tf.io.decode_csv(x, [[0], [0.5], [""]]), (lines,)
    yield "DecodeCompressed", lambda x: tf.io.decode_compressed(x, "ZLIB"), (packed,)
    yield "DecodeRaw", lambda x: tf.io.decode_raw(x, tf.int16), (raw,)
    yield "SerializeTensor", tf.io.serialize_tensor, (_X,)
    yield "ParseTensor", lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype), (_X,)
    yield "CheckNumerics", lambda x: tf.debugging.check_numerics(x, "numbers"), (_X,)
    yield (
        "RandomIndexShuffle",
        lambda i: tf.random.experimental.index_shuffle(i, [1, 2], 60),
        (_ROWS,),
    )
    yield "TakeAlongAxis", lambda x, i: tf.experimental.numpy.take_along_axis(x, i, 1), (
        _X, np.array([[[0, 3, 1, 2, 0]]]).repeat(3, 0),
    )  # fmt: skip
    yield "SparseToDense", lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)), (_X,)
    yield "SetSize", lambda x: tf.sets.size(tf.sparse.from_dense(x)), (_X.astype(np.int32),)
    yield "EditDistance", lambda x, y: tf.edit_distance(
        tf.sparse.from_dense(x), tf.sparse.from_dense(y), normalize=False
    ), (_X.astype(np.int64), _X.astype(np.int64) % 7)  # fmt: skip


def rows() -> Iterator[Row]:
    """(name of the op, a function of tensors that uses it, arrays for it)."""
    yield from _variables()
    yield from _stacks()
    yield from _bytes()
