"""`tf.test`: writing tests of programs that use tensors."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.testing.benchmarks import (
    Benchmark,
    assert_equal_graph_def,
    disable_with_predicate,
    is_cpu_target_available,
    with_eager_op_as_function,
)
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
from weft.test import experimental

__all__ = [
    "Benchmark",
    "TestCase",
    "assert_equal_graph_def",
    "compute_gradient",
    "disable_with_predicate",
    "experimental",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
    "main",
    "with_eager_op_as_function",
]

_open_namespace(__name__)
