"""Writes down the signatures of TensorFlow's ops: `PYTHON checks/record_op_signatures.py`.

The interpreter has to be one in which TensorFlow is installed. The table goes to
src/weft/_src/raw_ops/signatures.json.xz, where `weft._src.raw_ops.signatures` reads it; it holds
names, inputs, outputs, attributes and their defaults, and nothing else.
"""

from __future__ import annotations

import inspect
import json
import lzma
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "src" / "weft" / "_src" / "raw_ops" / "signatures.json.xz"


def _type(number: int) -> str:
    from tensorflow import as_dtype

    return as_dtype(number).name if number else ""


def _shape(shape: Any) -> list[int] | None:
    return None if shape.unknown_rank else [size.size for size in shape.dim]


def _argument(argument: Any) -> list[str]:
    """The name, the type (or the attribute that says it), and the attribute that says how many."""
    many = argument.number_attr or argument.type_list_attr
    return [argument.name, _type(argument.type) or argument.type_attr, many]


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode("latin1")
    if kind == "type":
        return _type(value.type)
    if kind == "shape":
        return _shape(value.shape)
    if kind == "func":
        return value.func.name
    if kind == "tensor":  # of a single op, without elements
        return []
    if kind != "list":
        return getattr(value, kind)
    parts = value.list
    return [
        *[part.decode("latin1") for part in parts.s],
        *parts.i, *parts.f, *parts.b,
        *[_type(part) for part in parts.type],
        *[_shape(part) for part in parts.shape],
    ]  # fmt: skip


def _attribute(attribute: Any) -> list[Any]:
    """The name, the kind, and the default if there is one."""
    known = attribute.HasField("default_value")
    return [attribute.name, attribute.type, *([_value(attribute.default_value)] if known else [])]


def _parameters(name: str, told: list[str]) -> list[str]:
    """The arguments of the function in `tf.raw_ops`, if they have other names than in graphs."""
    import tensorflow as tf

    function = getattr(tf.raw_ops, name, None)
    if function is None:
        return []
    *found, _ = inspect.signature(function).parameters  # the last one is `name`
    return [] if found == told else found


def _row(op: Any) -> list[Any]:
    inputs = [_argument(argument) for argument in op.input_arg]
    outputs = [_argument(argument) for argument in op.output_arg]
    attributes = [_attribute(attribute) for attribute in op.attr]
    inferred = {part for argument in inputs for part in argument[1:]}
    told = [x[0] for x in inputs] + [a[0] for a in attributes if a[0] not in inferred]
    return [inputs, outputs, attributes, int(op.is_stateful), *_parameters(op.name, told)]


def main() -> None:
    """Asks the registry of TensorFlow."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session as session

    listed = op_def_pb2.OpList()
    listed.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    table = {
        op.name: _row(op)
        for op in sorted(listed.op, key=lambda op: op.name)
        if not op.name.startswith("_")
    }
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
    TABLE.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(table)} ops, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
