"""Weft: imperative Python in, compiled graphs out, behind TensorFlow's public names."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft import (
    autodiff,
    autograph,
    bitwise,
    compat,
    config,
    debugging,
    dtypes,
    errors,
    image,
    linalg,
    math,
    nest,
    nn,
    quantization,
    ragged,
    random,
    sets,
    signal,
    sparse,
    strings,
    testing,
    types,
    version,
)
from weft._src.autodiff import callbacks as _callbacks  # registers a gradient
from weft._src.autodiff.custom import custom_gradient, grad_pass_through, recompute_grad
from weft._src.autodiff.explain import explain_gradient
from weft._src.autodiff.gradients import AggregationMethod, gradients, hessians
from weft._src.autodiff.tape import GradientTape
from weft._src.autodiff.unconnected import UnconnectedGradients
from weft._src.config.placement import device
from weft._src.core.context import executing_eagerly, init_scope, inside_function
from weft._src.core.convert import constant, convert_to_tensor, register_tensor_conversion_function
from weft._src.core.display import displayed_by as _displayed_by
from weft._src.core.dtypes import (
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
from weft._src.core.shapes import TensorShape
from weft._src.core.showing_tracebacks import install as _show_users_frames
from weft._src.core.specs import NoneTensorSpec, TensorSpec, TypeSpec, type_spec_from_value
from weft._src.core.tensor import Tensor, is_symbolic_tensor, is_tensor
from weft._src.function.decorator import function
from weft._src.function.explain import explain
from weft._src.function.retracing import no_retrace
from weft._src.graph.graphdef import written_by as _graphs_written_by
from weft._src.graph.ir import Graph, Node as Operation
from weft._src.graph.names import get_current_name_scope, name_scope
from weft._src.graph.row_maps import vectorized_map
from weft._src.graph.tensor_proto import make_ndarray, make_tensor_proto
from weft._src.ops import (
    dynamic_axes as _dynamic_axes,  # ops learn of axes that are computed
    operators as _operators,  # tensors get their operators
)
from weft._src.ops.arrays.bits import bitcast, fingerprint
from weft._src.ops.arrays.fill import fill, ones, ones_like, zeros, zeros_like
from weft._src.ops.arrays.grouping import tuple
from weft._src.ops.arrays.joining import concat, parallel_stack, split, stack, unstack
from weft._src.ops.arrays.padding import pad
from weft._src.ops.arrays.partitions import dynamic_partition, dynamic_stitch
from weft._src.ops.arrays.permutations import reverse_sequence, unravel_index
from weft._src.ops.arrays.ranges import eye, linspace, range, sequence_mask
from weft._src.ops.arrays.selection import where
from weft._src.ops.arrays.shape import (
    broadcast_to,
    expand_dims,
    rank,
    reshape,
    shape,
    size,
    squeeze,
    transpose,
)
from weft._src.ops.arrays.shape_checks import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    ensure_shape,
    shape_n,
)
from weft._src.ops.arrays.source import identity, identity_n, no_op, stop_gradient
from weft._src.ops.arrays.space import (
    batch_to_space,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
)
from weft._src.ops.arrays.tiling import meshgrid, repeat, reverse, roll, tile
from weft._src.ops.control.branch import case, cond, switch_case
from weft._src.ops.control.functional import foldl, foldr, map_fn, scan
from weft._src.ops.control.loop import while_loop
from weft._src.ops.control.ordering import control_dependencies, group
from weft._src.ops.control.tensor_array import TensorArray, TensorArraySpec
from weft._src.ops.elementwise.angles import atan2
from weft._src.ops.elementwise.arithmetic import (
    add,
    divide,
    maximum,
    minimum,
    multiply,
    negative,
    pow,
    realdiv,
    scalar_mul,
    subtract,
    truediv,
)
from weft._src.ops.elementwise.casting import cast
from weft._src.ops.elementwise.clipping import clip_by_value, saturate_cast
from weft._src.ops.elementwise.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from weft._src.ops.elementwise.complex_parts import complex
from weft._src.ops.elementwise.division import truncatediv, truncatemod
from weft._src.ops.elementwise.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from weft._src.ops.elementwise.unary import abs, exp, floor, round, sigmoid, sign, sqrt, square
from weft._src.ops.host.asserting import Assert
from weft._src.ops.host.callback import numpy_function, py_function
from weft._src.ops.host.clock import timestamp
from weft._src.ops.host.comparing import assert_equal, assert_greater, assert_less
from weft._src.ops.host.logger import get_logger
from weft._src.ops.host.printing import print
from weft._src.ops.host.rank_checks import assert_rank
from weft._src.ops.indexing.blocks import slice
from weft._src.ops.indexing.gathering import gather, gather_nd
from weft._src.ops.indexing.indexed_slices import IndexedSlices, IndexedSlicesSpec
from weft._src.ops.indexing.masks import boolean_mask
from weft._src.ops.indexing.one_hot import one_hot
from weft._src.ops.indexing.scattering import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from weft._src.ops.indexing.slicing import strided_slice
from weft._src.ops.linalg.einsum import einsum, tensordot
from weft._src.ops.linalg.matrix_functions import sqrtm as matrix_square_root
from weft._src.ops.linalg.norms import clip_by_global_norm, clip_by_norm, norm
from weft._src.ops.linalg.products import matmul
from weft._src.ops.linalg.spectrum import eig, eigvals
from weft._src.ops.named_gradients import RegisterGradient, no_gradient
from weft._src.ops.ragged import (
    rules as _ragged_rules,  # ops learn what to do with ragged tensors
    variants as _variants,  # defines ops
)
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce.counting import histogram_fixed_width, histogram_fixed_width_bins
from weft._src.ops.reduce.edit_distance import edit_distance
from weft._src.ops.reduce.extrema import reduce_max, reduce_min
from weft._src.ops.reduce.logic import reduce_all, reduce_any
from weft._src.ops.reduce.moments import reduce_logsumexp
from weft._src.ops.reduce.order import argmax, argmin, argsort, sort
from weft._src.ops.reduce.products import reduce_prod
from weft._src.ops.reduce.scans import cumsum
from weft._src.ops.reduce.searching import searchsorted, unique, unique_with_counts
from weft._src.ops.reduce.sums import add_n, reduce_mean, reduce_sum
from weft._src.ops.sampling.initializers import (
    Constant as constant_initializer,
    Ones as ones_initializer,
    RandomNormal as random_normal_initializer,
    RandomUniform as random_uniform_initializer,
    Zeros as zeros_initializer,
)
from weft._src.ops.sparse import rules as _sparse_rules  # and with sparse ones
from weft._src.ops.sparse.tensor import SparseTensor, SparseTensorSpec
from weft._src.ops.static import get_static_value
from weft._src.ops.strings.number_text import as_string
from weft._src.public.later import LATER as _LATER
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.state.creators import (
    VariableAggregation,
    VariableSynchronization,
    variable_creator_scope,
)
from weft._src.state.critical_section import CriticalSection
from weft._src.state.module import Module
from weft._src.state.variable import Variable

newaxis = None

__version__ = version.VERSION

if _TYPE_CHECKING:
    from weft import (
        audio as audio,
        data as data,
        distribute as distribute,
        experimental as experimental,
        graph_util as graph_util,
        io as io,
        keras as keras,
        lookup as lookup,
        profiler as profiler,
        queue as queue,
        raw_ops as raw_ops,
        saved_model as saved_model,
        summary as summary,
        sysconfig as sysconfig,
        test as test,
        tools as tools,
        train as train,
        xla as xla,
    )
    from weft._src.config.device_names import DeviceSpec as DeviceSpec
    from weft._src.data.core.optional import OptionalSpec as OptionalSpec
    from weft._src.data.core.telling import progress as progress
    from weft._src.function.batch_function import (
        nondifferentiable_batch_function as nondifferentiable_batch_function,
    )
    from weft._src.keras.alias import install_as_tensorflow as install_as_tensorflow
    from weft._src.raw_ops.at_the_top import (
        approx_top_k as approx_top_k,
        check_pinned as check_pinned,
        conv as conv,
        conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2,
        conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
        extract_volume_patches as extract_volume_patches,
        fftnd as fftnd,
        guarantee_const as guarantee_const,
        ifftnd as ifftnd,
        irfftnd as irfftnd,
        ragged_fill_empty_rows as ragged_fill_empty_rows,
        ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
        random_index_shuffle as random_index_shuffle,
        rfftnd as rfftnd,
    )
    from weft._src.saved_model.graph_imports import import_graph_def as import_graph_def
    from weft._src.saving.exporting import export as export
    from weft._src.saving.safetensors import load as load, save as save

__all__ = [
    "AggregationMethod",
    "Assert",
    "CriticalSection",
    "DType",
    "DeviceSpec",
    "GradientTape",
    "Graph",
    "IndexedSlices",
    "IndexedSlicesSpec",
    "Module",
    "NoneTensorSpec",
    "Operation",
    "OptionalSpec",
    "RaggedTensor",
    "RaggedTensorSpec",
    "RegisterGradient",
    "SparseTensor",
    "SparseTensorSpec",
    "Tensor",
    "TensorArray",
    "TensorArraySpec",
    "TensorShape",
    "TensorSpec",
    "TypeSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "__version__",
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "approx_top_k",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "as_string",
    "asin",
    "asinh",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "atan",
    "atan2",
    "atanh",
    "audio",
    "autodiff",
    "autograph",
    "batch_to_space",
    "bfloat16",
    "bitcast",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "case",
    "cast",
    "check_pinned",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "compat",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "cond",
    "config",
    "constant",
    "constant_initializer",
    "control_dependencies",
    "conv",
    "conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2",
    "convert_to_tensor",
    "cos",
    "cosh",
    "cumsum",
    "custom_gradient",
    "data",
    "debugging",
    "device",
    "distribute",
    "divide",
    "double",
    "dtypes",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "eig",
    "eigvals",
    "einsum",
    "ensure_shape",
    "equal",
    "errors",
    "executing_eagerly",
    "exp",
    "expand_dims",
    "experimental",
    "explain",
    "explain_gradient",
    "export",
    "extract_volume_patches",
    "eye",
    "fftnd",
    "fill",
    "fingerprint",
    "float16",
    "float32",
    "float64",
    "floor",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "get_current_name_scope",
    "get_logger",
    "get_static_value",
    "grad_pass_through",
    "gradients",
    "graph_util",
    "greater",
    "greater_equal",
    "group",
    "guarantee_const",
    "half",
    "hessians",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "identity",
    "identity_n",
    "ifftnd",
    "image",
    "import_graph_def",
    "init_scope",
    "inside_function",
    "install_as_tensorflow",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "irfftnd",
    "is_symbolic_tensor",
    "is_tensor",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "load",
    "logical_and",
    "logical_not",
    "logical_or",
    "lookup",
    "make_ndarray",
    "make_tensor_proto",
    "map_fn",
    "math",
    "matmul",
    "matrix_square_root",
    "maximum",
    "meshgrid",
    "minimum",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "no_retrace",
    "nondifferentiable_batch_function",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "pad",
    "parallel_stack",
    "pow",
    "print",
    "profiler",
    "progress",
    "py_function",
    "qint8",
    "qint16",
    "qint32",
    "quantization",
    "queue",
    "quint8",
    "quint16",
    "ragged",
    "ragged_fill_empty_rows",
    "ragged_fill_empty_rows_grad",
    "random",
    "random_index_shuffle",
    "random_normal_initializer",
    "random_uniform_initializer",
    "range",
    "rank",
    "raw_ops",
    "realdiv",
    "recompute_grad",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "register_tensor_conversion_function",
    "repeat",
    "required_space_to_batch_paddings",
    "reshape",
    "resource",
    "reverse",
    "reverse_sequence",
    "rfftnd",
    "roll",
    "round",
    "saturate_cast",
    "save",
    "saved_model",
    "scalar_mul",
    "scan",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "sets",
    "shape",
    "shape_n",
    "sigmoid",
    "sign",
    "signal",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "space_to_batch_nd",
    "sparse",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string",
    "strings",
    "subtract",
    "summary",
    "switch_case",
    "sysconfig",
    "tan",
    "tanh",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensordot",
    "test",
    "testing",
    "tile",
    "timestamp",
    "tools",
    "train",
    "transpose",
    "truediv",
    "truncatediv",
    "truncatemod",
    "tuple",
    "type_spec_from_value",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "variable_creator_scope",
    "variant",
    "vectorized_map",
    "version",
    "where",
    "while_loop",
    "xla",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]

_graphs_written_by("weft._src.saved_model.graph_defs")
_displayed_by("weft._src.tools.rich")
_open_namespace(__name__, lazy=_LATER)
_show_users_frames()
