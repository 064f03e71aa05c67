"""Weft: imperative Python in, compiled graphs out, behind TensorFlow's public names."""

from weft import errors, nest
from weft.core.context import executing_eagerly
from weft.core.convert import constant, convert_to_tensor
from weft.core.dtypes import as_dtype, float32, int32, float64, int64, bool_ as bool, string
from weft.core.shapes import TensorShape
from weft.core.specs import TensorSpec, TypeSpec, type_spec_from_value
from weft.core.tensor import Tensor, is_tensor
from weft.ops import operators as _operators
from weft.ops.array.shape import reshape, shape, transpose
from weft.ops.math.unary import *
from weft.ops.reduce.sums import reduce_sum, reduce_mean
from weft.graph.tracing import trace
from weft.graph.names import name_scope
