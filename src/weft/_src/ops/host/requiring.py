"""What all `tf.debugging.assert_*` share: check now if the values are known, else in every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core.context import init_scope
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import static
from weft._src.ops.host.asserting import assert_op
from weft._src.ops.host.formatting import format_array
from weft._src.ops.reduce import logic


def prefix(function: str, message: str | None) -> str:
    """How the text of a failed assertion begins: the function, and what the user has to say."""
    if message is not None and not isinstance(message, str):
        raise TypeError(f"{function}: message must be a string, got {message!r}.")
    return f"{function}: {message.removesuffix('.')}. " if message else f"{function}: "


def require(
    condition: Callable[..., Tensor],
    tensors: Sequence[Tensor],
    text: str,
    names: Sequence[str],
    *,
    summarize: Any = None,
    name: str | None = None,
    more: Sequence[Any] = (),
) -> None:
    """Raises InvalidArgumentError, now or when the graph runs, unless the condition holds.

    The error shows `text` and the values of the tensors with their names, then `more`.
    """
    limit = static.static_int(name or "assert", 3 if summarize is None else summarize, "summarize")
    values = _known_values(tensors)
    if values is None:
        parts: list[Any] = [f"{text}:"]
        for x, label in zip(tensors, names, strict=True):
            parts += [f"{label} =", x]
        data = [convert_to_tensor(part) for part in (*parts, *more)]
        assert_op(logic.reduce_all(condition(*tensors)), *data, summarize=limit, name=name)
        return
    with init_scope():
        held = np.asarray(condition(*values))
        if held.all():
            return
        first = np.argwhere(~held)[0].tolist()
        where = f" at {first}" if first else ""
        shown = [
            f"{label} = {format_array(value._value, limit)}"
            for value, label in zip(values, names, strict=True)
        ]
        shown += [format_array(np.asarray(convert_to_tensor(part)), limit) for part in more]
    raise InvalidArgumentError(None, None, f"{text}{where}: {' '.join(shown)}")


def _known_values(tensors: Sequence[Tensor]) -> list[EagerTensor] | None:
    """The tensors as values, if all of them are known without running anything."""
    values: list[EagerTensor] = []
    for x in tensors:
        if isinstance(x, EagerTensor):
            values.append(x)
            continue
        known = static.static_value(x)
        if known is None:
            return None
        values.append(EagerTensor(known))
    return values
