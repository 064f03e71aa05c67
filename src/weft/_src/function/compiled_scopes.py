"""`tf.xla.experimental`: pieces of programs that have to be compiled, by TensorFlow's names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src.core.context import executing_eagerly
from weft._src.function.decorator import function
from weft._src.ops.control.ordering import group


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Runs a function as compiled code; the same as `tf.function(jit_compile=True)`.

    Args:
      computation: a function of tensors.
      inputs: a list of its arguments; None means none.

    Returns:
      What the function returns; a single value in a tuple.

    Raises:
      TypeError: if `inputs` is no list.

    >>> tf.xla.experimental.compile(lambda x: x * 2, [tf.constant(3.0)])[0].numpy()
    np.float32(6.0)
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError(f"xla.experimental.compile: inputs must be a list, got {inputs!r}.")
    found = function(computation, jit_compile=True)(*(inputs or ()))
    if found is None:
        return group()
    return found if isinstance(found, (list, tuple, dict)) else (found,)


@contextlib.contextmanager
def jit_scope(
    compile_ops: bool | Callable[..., bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """A context for ops of a function that may be compiled; all may, so it changes nothing.

    Args:
      compile_ops: accepted for compatibility.
      separate_compiled_gradients: accepted for compatibility.

    Returns:
      A context manager.

    Raises:
      RuntimeError: outside of functions.

    >>> @tf.function
    ... def double(x):
    ...     with tf.xla.experimental.jit_scope():
    ...         return x * 2
    >>> double(tf.constant(3.0)).numpy()
    np.float32(6.0)
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope: it is for ops of functions. Use it inside of tf.function."
        )
    yield
