"""Weft: imperative Python in, compiled graphs out, behind TensorFlow's public names."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from weft import (
    autodiff as autodiff,
    autograph as autograph,
    bitwise as bitwise,
    compat as compat,
    config as config,
    debugging as debugging,
    dtypes as dtypes,
    errors as errors,
    linalg as linalg,
    math as math,
    nest as nest,
    nn as nn,
    ragged as ragged,
    random as random,
    sets as sets,
    signal as signal,
    sparse as sparse,
    strings as strings,
    testing as testing,
    types as types,
)
from weft.autodiff.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from weft.autodiff.declaring import (
    no_gradient as no_gradient,
)
from weft.autodiff.explain import (
    explain_gradient as explain_gradient,
)
from weft.autodiff.gradients import (
    AggregationMethod as AggregationMethod,
    gradients as gradients,
    hessians as hessians,
)
from weft.autodiff.tape import (
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
)
from weft.core.context import (
    executing_eagerly as executing_eagerly,
    init_scope as init_scope,
    inside_function as inside_function,
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
from weft.core.missing import (
    missing_name as _missing_name,
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
from weft.function.explain import (
    explain as explain,
)
from weft.function.polymorphic import (
    function as function,
)
from weft.function.retracing import (
    no_retrace as no_retrace,
)
from weft.graph.ir import (
    Graph as Graph,
    Node as Operation,
)
from weft.graph.names import (
    get_current_name_scope as get_current_name_scope,
    name_scope as name_scope,
)
from weft.graph.tensor_proto import (
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
from weft.ops import operators as _operators  # tensors get their operators
from weft.ops.array.bits import (
    bitcast as bitcast,
    fingerprint as fingerprint,
)
from weft.ops.array.fill import (
    fill as fill,
    ones as ones,
    ones_like as ones_like,
    zeros as zeros,
    zeros_like as zeros_like,
)
from weft.ops.array.grouping import (
    tuple as tuple,
)
from weft.ops.array.joining import (
    concat as concat,
    split as split,
    stack as stack,
    unstack as unstack,
)
from weft.ops.array.padding import (
    pad as pad,
)
from weft.ops.array.partitions import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
)
from weft.ops.array.permutations import (
    reverse_sequence as reverse_sequence,
    unravel_index as unravel_index,
)
from weft.ops.array.ranges import (
    eye as eye,
    linspace as linspace,
    range as range,
    sequence_mask as sequence_mask,
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
from weft.ops.array.shape_checks import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    ensure_shape as ensure_shape,
    shape_n as shape_n,
)
from weft.ops.array.source import (
    identity as identity,
    identity_n as identity_n,
    no_op as no_op,
    stop_gradient as stop_gradient,
)
from weft.ops.array.space import (
    batch_to_space as batch_to_space,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    space_to_batch as space_to_batch,
    space_to_batch_nd as space_to_batch_nd,
)
from weft.ops.array.tiling import (
    meshgrid as meshgrid,
    repeat as repeat,
    reverse as reverse,
    roll as roll,
    tile as tile,
)
from weft.ops.control.branch import (
    case as case,
    cond as cond,
    switch_case as switch_case,
)
from weft.ops.control.functional import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from weft.ops.control.loop import (
    while_loop as while_loop,
)
from weft.ops.control.ordering import (
    control_dependencies as control_dependencies,
    group as group,
)
from weft.ops.control.tensor_array import (
    TensorArray as TensorArray,
    TensorArraySpec as TensorArraySpec,
)
from weft.ops.host.asserting import (
    Assert as Assert,
)
from weft.ops.host.callback import (
    numpy_function as numpy_function,
    py_function as py_function,
)
from weft.ops.host.clock import (
    timestamp as timestamp,
)
from weft.ops.host.comparing import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
)
from weft.ops.host.placement import (
    device as device,
    get_logger as get_logger,
)
from weft.ops.host.printing import (
    print as print,
)
from weft.ops.host.rank_checks import (
    assert_rank as assert_rank,
)
from weft.ops.indexing.blocks import (
    slice as slice,
)
from weft.ops.indexing.gathering import (
    gather as gather,
    gather_nd as gather_nd,
)
from weft.ops.indexing.indexed_slices import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
)
from weft.ops.indexing.masks import (
    boolean_mask as boolean_mask,
)
from weft.ops.indexing.one_hot import (
    one_hot as one_hot,
)
from weft.ops.indexing.scattering import (
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from weft.ops.indexing.slicing import (
    strided_slice as strided_slice,
)
from weft.ops.linalg.einsum import (
    einsum as einsum,
    tensordot as tensordot,
)
from weft.ops.linalg.norms import (
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    norm as norm,
)
from weft.ops.linalg.products import (
    matmul as matmul,
)
from weft.ops.linalg.spectrum import (
    eig as eig,
    eigvals as eigvals,
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
    realdiv as realdiv,
    scalar_mul as scalar_mul,
    subtract as subtract,
    truediv as truediv,
)
from weft.ops.math.casting import (
    cast as cast,
)
from weft.ops.math.clipping import (
    clip_by_value as clip_by_value,
    saturate_cast as saturate_cast,
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
from weft.ops.ragged import rules as _ragged_rules  # ops learn what to do with ragged tensors
from weft.ops.ragged.spec import (
    RaggedTensorSpec as RaggedTensorSpec,
)
from weft.ops.ragged.tensor import (
    RaggedTensor as RaggedTensor,
)
from weft.ops.random.initializers import (
    Constant as constant_initializer,
    Ones as ones_initializer,
    RandomNormal as random_normal_initializer,
    RandomUniform as random_uniform_initializer,
    Zeros as zeros_initializer,
)
from weft.ops.reduce.counting import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from weft.ops.reduce.edit_distance import (
    edit_distance as edit_distance,
)
from weft.ops.reduce.extrema import (
    reduce_max as reduce_max,
    reduce_min as reduce_min,
)
from weft.ops.reduce.logic import (
    reduce_all as reduce_all,
    reduce_any as reduce_any,
)
from weft.ops.reduce.moments import (
    reduce_logsumexp as reduce_logsumexp,
)
from weft.ops.reduce.order import (
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    sort as sort,
)
from weft.ops.reduce.products import (
    reduce_prod as reduce_prod,
)
from weft.ops.reduce.scans import (
    cumsum as cumsum,
)
from weft.ops.reduce.searching import (
    searchsorted as searchsorted,
    unique as unique,
    unique_with_counts as unique_with_counts,
)
from weft.ops.reduce.sums import (
    add_n as add_n,
    reduce_mean as reduce_mean,
    reduce_sum as reduce_sum,
)
from weft.ops.sparse import rules as _sparse_rules  # and with sparse ones
from weft.ops.sparse.tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
)
from weft.ops.static import (
    get_static_value as get_static_value,
)
from weft.ops.strings.numbers import (
    as_string as as_string,
)
from weft.state.creators import (
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
    variable_creator_scope as variable_creator_scope,
)
from weft.state.critical_section import (
    CriticalSection as CriticalSection,
)
from weft.state.module import (
    Module as Module,
)
from weft.state.variable import (
    Variable as Variable,
)

newaxis = None

__version__ = "0.1.0"


if _TYPE_CHECKING:
    from weft import data as data, io as io, summary as summary, train as train
    from weft.data.optional import OptionalSpec as OptionalSpec
    from weft.data.structure import NoneTensorSpec as NoneTensorSpec

# Parts that not every program uses are imported when they are: a tenth of the time of `import`.
_LAZY = ("data", "experimental", "io", "raw_ops", "summary", "test", "train")
_LAZY_NAMES = {"NoneTensorSpec": "weft.data.structure", "OptionalSpec": "weft.data.optional"}


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return _import_module(f"weft.{name}")
    if name in _LAZY_NAMES:
        return getattr(_import_module(_LAZY_NAMES[name]), name)
    raise _missing_name(__name__, name, (*globals(), *_LAZY, *_LAZY_NAMES))


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})
