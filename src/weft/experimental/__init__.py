"""`tf.experimental`: what is not settled yet."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.config.asynchronous import (
    async_clear_error,
    async_scope,
    function_executor_type,
)
from weft._src.config.experimental import enable_strict_mode
from weft._src.core.dtypes import (
    float4_e2m1fn,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    int2,
    int4,
    uint2,
    uint4,
)
from weft._src.data.core.optional import Optional
from weft._src.ops.extension.batching import BatchableExtensionType, ExtensionTypeBatchEncoder
from weft._src.ops.extension.extension_type import ExtensionType
from weft._src.ops.extension.spec import ExtensionTypeSpec
from weft._src.ops.ragged.partition import RowPartition
from weft._src.ops.ragged.shape import DynamicRaggedShape
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.experimental import dlpack, extension_type

if _TYPE_CHECKING:
    from weft._src.experimental.dispatching import (
        dispatch_for_api as dispatch_for_api,
        dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
        dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
        dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
        unregister_dispatch_for as unregister_dispatch_for,
    )
    from weft.experimental import dtensor as dtensor, numpy as numpy


__all__ = [
    "BatchableExtensionType",
    "DynamicRaggedShape",
    "ExtensionType",
    "ExtensionTypeBatchEncoder",
    "ExtensionTypeSpec",
    "Optional",
    "RowPartition",
    "async_clear_error",
    "async_scope",
    "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis",
    "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis",
    "dlpack",
    "dtensor",
    "enable_strict_mode",
    "extension_type",
    "float4_e2m1fn",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "function_executor_type",
    "int2",
    "int4",
    "numpy",
    "uint2",
    "uint4",
    "unregister_dispatch_for",
]

# Imported when it is used: most programs do not, and dispatch is made of public functions.
_DISPATCH = "weft._src.experimental.dispatching"
_LAZY = {
    "dispatch_for_api": _DISPATCH,
    "dispatch_for_binary_elementwise_apis": _DISPATCH,
    "dispatch_for_binary_elementwise_assert_apis": _DISPATCH,
    "dispatch_for_unary_elementwise_apis": _DISPATCH,
    "dtensor": "weft.experimental.dtensor",
    "numpy": "weft.experimental.numpy",
    "unregister_dispatch_for": _DISPATCH,
}

_open_namespace(__name__, lazy=_LAZY)
