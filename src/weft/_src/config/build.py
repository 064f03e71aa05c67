"""`tf.sysconfig`: what Weft was built with, which is nothing."""

from __future__ import annotations

from typing import NoReturn

from weft._src.errors import UnsupportedError

# As TensorFlow says them of a build for the CPU alone.
CXX11_ABI_FLAG = 1
CXX_VERSION = ""
MONOLITHIC_BUILD = 0


def get_build_info() -> dict[str, bool]:
    """What programs ask before they use a GPU.

    Returns:
      A dict: neither CUDA nor ROCm nor TensorRT are part of Weft.

    >>> tf.sysconfig.get_build_info()["is_cuda_build"]
    False
    """
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def _nothing_to_link(name: str) -> NoReturn:
    raise UnsupportedError(
        f"sysconfig.{name}: Weft is written in Python, and loads no ops from libraries. "
        "tf.py_function and tf.numpy_function call Python."
    )


def get_include() -> str:
    """Always an error: there are no headers.

    Returns:
      Nothing: it does not get so far.

    Raises:
      UnsupportedError: in any case.

    >>> tf.sysconfig.get_include()
    Traceback (most recent call last):
    weft.errors.UnsupportedError: sysconfig.get_include: Weft is written in Python, ...
    """
    _nothing_to_link("get_include")


def get_lib() -> str:
    """Always an error: there is no library to link.

    Returns:
      Nothing: it does not get so far.

    Raises:
      UnsupportedError: in any case.

    >>> tf.sysconfig.get_lib()
    Traceback (most recent call last):
    weft.errors.UnsupportedError: sysconfig.get_lib: Weft is written in Python, ...
    """
    _nothing_to_link("get_lib")


def get_compile_flags() -> list[str]:
    """Always an error: there is nothing to compile against.

    Returns:
      Nothing: it does not get so far.

    Raises:
      UnsupportedError: in any case.

    >>> tf.sysconfig.get_compile_flags()
    Traceback (most recent call last):
    weft.errors.UnsupportedError: sysconfig.get_compile_flags: Weft is written in Python, ...
    """
    _nothing_to_link("get_compile_flags")


def get_link_flags() -> list[str]:
    """Always an error: there is no library to link.

    Returns:
      Nothing: it does not get so far.

    Raises:
      UnsupportedError: in any case.

    >>> tf.sysconfig.get_link_flags()
    Traceback (most recent call last):
    weft.errors.UnsupportedError: sysconfig.get_link_flags: Weft is written in Python, ...
    """
    _nothing_to_link("get_link_flags")
