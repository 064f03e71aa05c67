"""`tf.test`: writing tests of programs that use tensors."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.testing.case import TestCase
from weft._src.testing.numeric import compute_gradient
from weft._src.testing.running import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_gpu_available,
    main,
)

__all__ = [
    "TestCase",
    "compute_gradient",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_gpu_available",
    "main",
]

_open_namespace(__name__)
