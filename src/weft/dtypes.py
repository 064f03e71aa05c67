"""`tf.dtypes`: element types and conversions between them."""

from typing import Any as _Any

from weft.core.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool_ as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from weft.core.missing import missing_name as _missing_name
from weft.ops.math.casting import cast as cast
from weft.ops.math.clipping import saturate_cast as saturate_cast
from weft.ops.math.complex_parts import complex as complex

__all__ = ["bool"]


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
