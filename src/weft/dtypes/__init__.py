"""`tf.dtypes`: element types and conversions between them."""

from weft._src.core.dtypes import (
    QUANTIZED as QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool_ as bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from weft._src.ops.elementwise.casting import cast
from weft._src.ops.elementwise.clipping import saturate_cast
from weft._src.ops.elementwise.complex_parts import complex
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.dtypes import experimental

__all__ = [
    "QUANTIZED_DTYPES",
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "experimental",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "qint8",
    "qint16",
    "qint32",
    "quint8",
    "quint16",
    "resource",
    "saturate_cast",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]

_open_namespace(__name__)
