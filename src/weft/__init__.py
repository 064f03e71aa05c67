"""Weft: imperative Python in, compiled graphs out, behind TensorFlow's public names."""

from weft import (
    bitwise as bitwise,
    dtypes as dtypes,
    errors as errors,
    linalg as linalg,
    math as math,
    nest as nest,
    nn as nn,
    random as random,
    strings as strings,
    testing as testing,
)
from weft.autodiff.tape import (
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
)
from weft.core.context import (
    executing_eagerly as executing_eagerly,
)
from weft.core.convert import (
    constant as constant,
    convert_to_tensor as convert_to_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
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
from weft.core.shapes import (
    TensorShape as TensorShape,
)
from weft.core.specs import (
    TensorSpec as TensorSpec,
    TypeSpec as TypeSpec,
    type_spec_from_value as type_spec_from_value,
)
from weft.core.tensor import (
    Tensor as Tensor,
    is_symbolic_tensor as is_symbolic_tensor,
    is_tensor as is_tensor,
)
from weft.graph.ir import (
    Graph as Graph,
    Node as Operation,
)
from weft.graph.names import (
    name_scope as name_scope,
)
from weft.ops import operators as _operators  # tensors get their operators
from weft.ops.array.fill import (
    fill as fill,
    ones as ones,
    ones_like as ones_like,
    zeros as zeros,
    zeros_like as zeros_like,
)
from weft.ops.array.select import (
    where as where,
)
from weft.ops.array.shape import (
    broadcast_to as broadcast_to,
    expand_dims as expand_dims,
    rank as rank,
    reshape as reshape,
    shape as shape,
    size as size,
    squeeze as squeeze,
    transpose as transpose,
)
from weft.ops.array.source import (
    identity as identity,
    identity_n as identity_n,
    no_op as no_op,
    stop_gradient as stop_gradient,
)
from weft.ops.linalg.einsum import (
    einsum as einsum,
    tensordot as tensordot,
)
from weft.ops.linalg.products import (
    matmul as matmul,
)
from weft.ops.math.angles import (
    atan2 as atan2,
)
from weft.ops.math.arithmetic import (
    add as add,
    divide as divide,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    pow as pow,
    subtract as subtract,
    truediv as truediv,
)
from weft.ops.math.casting import (
    cast as cast,
)
from weft.ops.math.comparison import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    not_equal as not_equal,
)
from weft.ops.math.complex_parts import (
    complex as complex,
)
from weft.ops.math.division import (
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from weft.ops.math.unary import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    exp as exp,
    floor as floor,
    round as round,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
)
from weft.ops.random.initializers import (
    Constant as constant_initializer,
    Ones as ones_initializer,
    RandomNormal as random_normal_initializer,
    RandomUniform as random_uniform_initializer,
    Zeros as zeros_initializer,
)
from weft.ops.reduce.sums import (
    reduce_mean as reduce_mean,
    reduce_sum as reduce_sum,
)
from weft.ops.static import (
    get_static_value as get_static_value,
)
from weft.ops.strings.numbers import (
    as_string as as_string,
)

newaxis = None
