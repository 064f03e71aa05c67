"""`tf.experimental.dlpack`: tensors for other libraries, and from them."""

from typing import Any as _Any

from weft._src.core import dlpack as _dlpack
from weft._src.core.convert import convert_to_tensor as _convert_to_tensor
from weft._src.core.tensor import EagerTensor as _EagerTensor, Tensor as _Tensor
from weft._src.errors import InvalidArgumentError as _InvalidArgumentError
from weft._src.execution.placement import adopted as _adopted
from weft._src.state.variable import Variable as _Variable


def to_dlpack(tf_tensor: _Any) -> _Any:
    """A DLPack capsule with a copy of a tensor or variable; it can be used once.

    Libraries that take tensors as they are (`torch.from_dlpack(x)`) need no capsule.

    Args:
      tf_tensor: an eager tensor or a variable, of numbers or truth values.

    Returns:
      A capsule named "dltensor".

    Raises:
      InvalidArgumentError: for anything else, tensors of a function that is traced too.
      BufferError: for strings.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    >>> tf.experimental.dlpack.from_dlpack(capsule).numpy()
    array([1., 2.], dtype=float32)
    """
    if isinstance(tf_tensor, (_EagerTensor, _Variable)):
        return tf_tensor.__dlpack__()
    raise _InvalidArgumentError(
        None,
        None,
        f"to_dlpack: a tensor that has a value, or a variable, is expected, got {tf_tensor!r}.",
    )


def from_dlpack(dlcapsule: _Any) -> _Tensor:
    """A tensor with a copy of the array in a DLPack capsule, or of another library's array.

    An array on a GPU becomes a tensor there. One of jax's is shared and not copied: it never
    changes.

    Args:
      dlcapsule: a capsule, which is used up by this, or an object with the method `__dlpack__`.

    Returns:
      A tensor. It does not change if the other library writes into its array.

    Raises:
      InvalidArgumentError: for a capsule that was used before, and for one of another device: pass
        the array itself.
      TypeError: for anything that is no capsule and makes none.

    >>> tf.experimental.dlpack.from_dlpack(np.arange(3))
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 1, 2])>
    """
    placed = None if isinstance(dlcapsule, type) else _adopted(dlcapsule)
    if placed is not None:
        return placed
    try:
        array = _dlpack.imported(dlcapsule)
    except (ValueError, BufferError) as error:
        raise _InvalidArgumentError(None, None, f"from_dlpack: {error}") from None
    except TypeError as error:
        raise TypeError(f"from_dlpack: {error}") from None
    return _convert_to_tensor(array)
