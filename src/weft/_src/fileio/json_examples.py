"""`tf.io.decode_json_example`: Examples that are written as JSON, serialized."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import STRING
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.messages.examples import BytesList, Example, Feature, FloatList, Int64List
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings.elements import mapped, string_tensor

_LISTS = {"bytes_list": BytesList, "float_list": FloatList, "int64_list": Int64List}
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _bytes(value: Any) -> bytes:
    """Text in base64, either alphabet, with or without padding."""
    if not isinstance(value, str):
        raise TypeError("bytes must be text in base64")
    text = value.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError("a truth value")
    return float(_SPECIAL.get(value, value)) if isinstance(value, str) else float(value)


def _integer(value: Any) -> int:
    """JSON may hold large integers as text, and whole numbers with a point."""
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise TypeError("no integer")
    out = int(value)
    if not -(2**63) <= out < 2**63:
        raise OverflowError("an integer of more than 64 bits")
    return out


_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bytes_list": ("bytes_list", _bytes),
    "bytesList": ("bytes_list", _bytes),
    "float_list": ("float_list", _number),
    "floatList": ("float_list", _number),
    "int64_list": ("int64_list", _integer),
    "int64List": ("int64_list", _integer),
}


def _members(value: Any, where: str, known: set[str] | None) -> dict[str, Any]:
    """An object of JSON, whose members have to be known."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be an object, got {value!r}")
    for key in value:
        if known is not None and key not in known:
            raise ValueError(f"{where} has no field {key!r}")
    return value


def _example(text: bytes) -> bytes:
    example = Example()
    content = _members(json.loads(text), "an Example", {"features"})
    features = _members(content.get("features"), "features", {"feature"})
    for name, item in _members(features.get("feature"), "feature", None).items():
        feature = example.features.feature[name]  # there from now on, with values or without
        for key, found in _members(item, f"the feature {name!r}", set(_KINDS)).items():
            kind, convert = _KINDS[key]
            values = _members(found, f"{key} of {name!r}", {"value"}).get("value") or []
            if not isinstance(values, list):
                raise ValueError(f"the values of {name!r} must be a list, got {values!r}")
            made = {"value": [convert(value) for value in values]}
            feature.CopyFrom(Feature(**{kind: _LISTS[kind](**made)}))
    return example.SerializeToString()


def _decoded(text: bytes) -> bytes:
    try:
        return _example(text)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as error:
        raise InvalidArgumentError(
            None,
            None,
            f"decode_json_example: {text[:60]!r} is no Example in JSON: {error}.",
        ) from error


decode_json_example_op = define_op(
    "DecodeJSONExample",
    args("json_examples", STRING),
    infer=lambda json_examples: json_examples,
    kernel=lambda xp, json_examples: mapped(xp, _decoded, json_examples),
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Examples that are written as JSON, serialized as `tf.io.parse_example` takes them.

    Args:
      json_examples: a tensor of strings, each an Example in the JSON form of protocol buffers, in
        which bytes are text in base64.
      name: the name of the node in a graph.

    Returns:
      A tensor of strings, of the same shape.

    Raises:
      InvalidArgumentError: if a string is no such Example.

    >>> text = '{"features": {"feature": {"x": {"int64List": {"value": [1, 2]}}}}}'
    >>> example = tf.io.decode_json_example(text)
    >>> tf.train.Example.FromString(example.numpy()).features.feature["x"].int64_list.value
    [1, 2]
    """
    return decode_json_example_op(string_tensor(json_examples), name=name)
