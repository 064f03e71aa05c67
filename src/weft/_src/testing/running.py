"""`tf.test`: writing tests of programs that use tensors."""

import unittest as _unittest
from typing import Any as _Any


def main(argv: _Any = None) -> None:
    """Runs all tests of the program, and ends it.

    Args:
      argv: the command line, a list of which the first item is the program; None is that of the
        process.

    >>> tf.test.main
    <function main at ...>
    """
    _unittest.main(argv=argv)


def gpu_device_name() -> str:
    """The name of a GPU: there is none.

    Returns:
      An empty string.

    >>> tf.test.gpu_device_name()
    ''
    """
    return ""


def is_built_with_cuda() -> bool:
    """Whether Weft can use CUDA: no.

    Returns:
      False.

    >>> tf.test.is_built_with_cuda()
    False
    """
    return False


def is_built_with_gpu_support() -> bool:
    """Whether Weft can use GPUs: no.

    Returns:
      False.

    >>> tf.test.is_built_with_gpu_support()
    False
    """
    return False


def is_built_with_rocm() -> bool:
    """Whether Weft can use ROCm: no.

    Returns:
      False.

    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: _Any = None) -> bool:
    """Whether there is a GPU that Weft can use: no.

    Args:
      cuda_only: accepted for compatibility.
      min_cuda_compute_capability: accepted for compatibility.

    Returns:
      False.

    >>> tf.test.is_gpu_available()
    False
    """
    return False


def is_built_with_xla() -> bool:
    """Whether Weft uses XLA: no, it compiles functions itself.

    Returns:
      False.

    >>> tf.test.is_built_with_xla()
    False
    """
    return False
