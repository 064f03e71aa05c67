"""Hostile arguments to every public function: a right answer or a clear error, nothing else.

Each function has one call that works (`VALID`); every argument of it is replaced by each hostile
value in turn. The outcome must be a well-formed result, which tracing gives as well, or an error of
an allowed class that names what it is about. That takes minutes, so a fixed sample of the calls is
made, and a smaller one traced; with `WEFT_SWEEP=all` in the environment all of them are.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import resource
import signal
import traceback
import zlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.media_files import BMPS, GIFS, stored
from weft import nest
from weft._src.core import dtypes
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.ops.registry import all_ops


@pytest.fixture(autouse=True)
def all_frames() -> Iterator[None]:
    """Whether an error comes out of NumPy is seen from its innermost frame."""
    tf.debugging.disable_traceback_filtering()
    yield
    tf.debugging.enable_traceback_filtering()


F = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)
P = np.array([[0.5, 0.25, 0.75], [0.1, 0.2, 0.9]], np.float32)
C = np.array([1 + 2j, -0.5j], np.complex64)
I = np.array([[3, -1, 2], [0, 5, 4]], np.int32)
B = np.array([[True, False, True], [False, False, True]])
M = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
V = np.array([1.0, -2.0, 3.0], np.float32)
W = np.array([0, 2, 1], np.int32)
S = np.array([b"ab", b"", b"xyz"], object)
QUANTIZED = np.array([[-128, 127, 0], [1, 2, 3]], np.int8).view(tf.qint8.as_numpy_dtype)
IMAGE = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
SEED = np.array([1, 2], np.int32)
SPARSE = tf.SparseTensor(indices=[[0, 0], [0, 1]], values=[3, 4], dense_shape=[1, 2])

IDS = tf.SparseTensor(indices=[[0, 0], [1, 1]], values=[1, 0], dense_shape=[2, 2])


def _pool(spatial: int, **more: Any) -> dict[str, Any]:
    x = np.ones((2, *(4, 5, 3)[:spatial], 3), np.float32)
    return {"input": x, "ksize": 2, "strides": 1, "padding": "VALID", **more}


def _conv(spatial: int) -> dict[str, Any]:
    x = np.ones((2, *(4, 5, 3)[:spatial], 3), np.float32)
    filters = np.ones((*(2, 2, 2)[:spatial], 3, 2), np.float32)
    return {"input": x, "filters": filters, "padding": "SAME"}


def _table() -> dict[str, dict[str, Any]]:
    """One valid call per function: argument name -> value. Arrays are what may be tensors."""
    table: dict[str, dict[str, Any]] = {}

    def rows(names: str, **arguments: Any) -> None:
        for name in names.split():
            table[name] = arguments

    rows("abs acos acosh asin asinh atan atanh cos cosh exp floor negative round sigmoid sign", x=P)
    rows("sin sinh sqrt square tan tanh math.ceil math.conj math.digamma math.erf math.erfc", x=P)
    rows("math.erfcinv math.erfinv math.expm1 math.is_finite math.is_inf math.is_nan", x=P)
    rows("math.lgamma math.log math.log1p math.log_sigmoid math.ndtri math.reciprocal", x=P)
    rows("math.reciprocal_no_nan math.rint math.rsqrt math.l2_normalize cumsum math.cumprod", x=P)
    rows(
        "add divide equal greater greater_equal less less_equal maximum minimum multiply", x=F, y=F
    )
    rows("not_equal pow subtract truediv truncatediv truncatemod math.divide_no_nan", x=F, y=F)
    rows(
        "realdiv math.floordiv math.floormod math.multiply_no_nan math.squared_difference", x=F, y=F
    )
    rows("math.xdivy math.xlog1py math.xlogy", x=F, y=P)
    rows("atan2", y=F, x=P)
    rows("math.nextafter", x1=F, x2=P)
    rows("math.polyval", coeffs=[1.0, 2.0], x=F)
    rows("scalar_mul", scalar=2.0, x=F)
    rows("saturate_cast", value=F, dtype=tf.int8)
    rows("math.zeta", x=F + 4, q=P)
    rows("math.polygamma", a=np.ones((2, 3), np.float32), x=P)
    rows("bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor", x=I, y=I)
    rows("bitwise.left_shift bitwise.right_shift", x=I, y=np.abs(I))
    rows("bitwise.invert", x=I)
    rows("logical_and logical_or math.logical_xor", x=B, y=B)
    rows("logical_not", x=B)
    rows("math.angle math.imag math.real", input=C)
    rows("complex", real=F, imag=F)
    rows("add_n", inputs=[F, F])
    rows("argmax argmin rank shape size identity stop_gradient ones_like zeros_like", input=F)
    rows("shape_n identity_n", input=[F, V])
    rows("argsort sort", values=F)
    rows("as_string", input=F)
    rows("boolean_mask", tensor=F, mask=np.array([True, False]))
    rows("broadcast_dynamic_shape", shape_x=np.array([2, 1]), shape_y=np.array([3]))
    rows("broadcast_static_shape", shape_x=tf.TensorShape([2, 1]), shape_y=tf.TensorShape([3]))
    rows("broadcast_to", input=V, shape=np.array([2, 3], np.int32))
    rows("case", pred_fn_pairs=[(np.array(True), lambda: 1.0)], default=lambda: 2.0)
    rows("cond", pred=np.array(True), true_fn=lambda: 1.0, false_fn=lambda: 2.0)
    rows("switch_case", branch_index=np.array(0, np.int32), branch_fns=[lambda: 1.0, lambda: 2.0])
    rows(
        "while_loop", cond=lambda i, *_: i < 3, body=lambda i, *rest: (i + 1, *rest), loop_vars=(0,)
    )
    rows("foldl foldr scan", fn=lambda a, x: a + x, elems=F, initializer=V)
    rows("map_fn vectorized_map", fn=lambda x: x * 2, elems=F)
    rows("cast", x=F, dtype=tf.int32)
    rows("clip_by_global_norm", t_list=[F, V], clip_norm=1.0)
    rows("clip_by_norm", t=F, clip_norm=1.0)
    rows("clip_by_value", t=F, clip_value_min=-1.0, clip_value_max=1.0)
    rows("concat", values=[F, F], axis=1)
    rows("constant convert_to_tensor", value=F)
    rows("einsum", equation="ij,jk->ik", inputs=(M, M))
    rows("ensure_shape", x=F, shape=[2, 3])
    rows("expand_dims", input=F, axis=1)
    rows("eye", num_rows=np.array(3, np.int32))
    rows("fill", dims=np.array([2, 3], np.int32), value=np.array(1.5, np.float32))
    rows("ones zeros", shape=np.array([2, 3], np.int32))
    rows("gather", params=F, indices=np.array([1, 0], np.int32))
    rows("gather_nd", params=F, indices=np.array([[1, 0], [0, 2]], np.int32))
    rows("get_static_value", tensor=V)
    rows("linspace", start=np.float32(0), stop=np.float32(1), num=np.array(4, np.int32))
    rows("matmul", a=M, b=M)
    rows("meshgrid", args=(V, V))
    rows("norm linalg.normalize", tensor=F)
    rows("one_hot", indices=W, depth=np.array(3, np.int32))
    rows("pad", tensor=F, paddings=np.array([[1, 0], [0, 2]], np.int32))
    rows("range", start=np.array(0, np.int32), limit=np.array(5, np.int32), delta=2)
    rows("reduce_all reduce_any", input_tensor=B)
    rows(
        "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum", input_tensor=F
    )
    rows("math.reduce_euclidean_norm math.reduce_std math.reduce_variance", input_tensor=F)
    rows("repeat", input=F, repeats=np.array([2, 1], np.int32), axis=0)
    rows("reshape", tensor=F, shape=np.array([3, -1], np.int32))
    rows("reverse", tensor=F, axis=[1])
    rows("roll", input=F, shift=np.array([1], np.int32), axis=[1])
    rows("scatter_nd", indices=np.array([[1], [3]]), updates=V[:2], shape=np.array([5]))
    rows("searchsorted", sorted_sequence=np.sort(V), values=V)
    rows("sequence_mask", lengths=W)
    rows("slice", input_=F, begin=np.array([0, 1]), size=np.array([1, 2]))
    rows("split", value=F, num_or_size_splits=3, axis=1)
    rows("squeeze", input=F[None])
    rows("stack", values=[F, F])
    rows("strided_slice", input_=F, begin=[0, 1], end=[2, 3])
    for kind in ("add", "max", "min", "sub", "update"):
        rows(f"tensor_scatter_nd_{kind}", tensor=V, indices=np.array([[0], [2]]), updates=V[:2])
    rows("tensordot", a=M, b=M, axes=1)
    rows("tile", input=F, multiples=np.array([2, 1], np.int32))
    rows("transpose", a=F, perm=[1, 0])
    rows("tuple", tensors=[F, V])
    rows("type_spec_from_value", value=F)
    rows("unique unique_with_counts", x=W)
    rows("unstack", value=F)
    rows("where", condition=B, x=F, y=F)
    rows("Assert", condition=np.array(True), data=[F])
    rows("py_function numpy_function", func=lambda *_: 1.0, inp=[F], Tout=tf.float32)
    rows("math.count_nonzero", input=F)
    rows("math.log_softmax math.softmax", logits=F)
    rows("math.softplus math.softsign nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6", features=F)
    rows("nn.selu nn.silu nn.crelu", features=F)
    rows("math.top_k", input=F, k=np.array(2, np.int32))
    rows("math.zero_fraction", value=F)
    rows("linalg.adjoint", matrix=M)
    rows("linalg.band_part", input=M, num_lower=np.array(0), num_upper=np.array(-1))
    rows("linalg.cholesky linalg.det linalg.inv linalg.slogdet linalg.tensor_diag_part", input=M)
    rows("linalg.logdet", matrix=M)
    rows("linalg.cholesky_solve", chol=M, rhs=M)
    rows("linalg.cross", a=V, b=V)
    rows("linalg.diag linalg.tensor_diag", diagonal=V)
    rows("linalg.diag_part", input=M)
    rows("linalg.set_diag", input=M, diagonal=V[:2])
    rows("linalg.global_norm", t_list=[F, V])
    rows("linalg.matrix_transpose", a=M)
    rows("linalg.matvec", a=M, b=V[:2])
    rows("linalg.solve linalg.triangular_solve", matrix=M, rhs=M)
    rows("linalg.trace", x=M)
    rows("nn.avg_pool1d nn.max_pool1d", **_pool(1))
    rows("nn.avg_pool2d nn.max_pool2d nn.avg_pool nn.max_pool", **_pool(2))
    rows("nn.avg_pool3d nn.max_pool3d", **_pool(3))
    rows("nn.conv1d", **_conv(1), stride=1)
    rows("nn.conv2d", **_conv(2), strides=1)
    rows("nn.conv3d", **_conv(3), strides=[1, 1, 1, 1, 1])
    rows(
        "nn.conv2d_transpose",
        input=np.ones((2, 4, 5, 2), np.float32),
        filters=np.ones((2, 2, 3, 2), np.float32),
        output_shape=np.array([2, 8, 10, 3], np.int32),
        strides=2,
    )
    rows(
        "nn.batch_normalization",
        x=F, mean=V, variance=V * V, offset=V, scale=V, variance_epsilon=1e-3,
    )  # fmt: skip
    rows("nn.bias_add", value=IMAGE, bias=V)
    rows("nn.dropout", x=F, rate=0.5)
    rows("nn.embedding_lookup", params=F, ids=np.array([1, 0], np.int32))
    rows("nn.l2_loss", t=F)
    rows("nn.log_poisson_loss", targets=F, log_input=F)
    rows("nn.moments", x=F, axes=[0])
    rows("nn.sigmoid_cross_entropy_with_logits", labels=P, logits=F)
    rows("nn.softmax_cross_entropy_with_logits", labels=P, logits=F)
    rows("nn.sparse_softmax_cross_entropy_with_logits", labels=np.array([0, 2]), logits=F)
    rows("nn.weighted_cross_entropy_with_logits", labels=P, logits=F, pos_weight=2.0)
    rows("random.categorical", logits=F, num_samples=np.array(3, np.int32))
    rows("random.stateless_categorical", logits=F, num_samples=np.array(3, np.int32), seed=SEED)
    rows("random.normal random.truncated_normal random.uniform", shape=np.array([2, 3]))
    rows("random.stateless_normal random.stateless_uniform", shape=np.array([2, 3]), seed=SEED)
    rows("random.stateless_truncated_normal", shape=np.array([2, 3]), seed=SEED)
    rows("random.shuffle", value=F)
    rows("random.fold_in", seed=SEED, data=np.array(3))
    rows("random.split", seed=SEED)
    rows("random.create_rng_state", seed=1, alg="philox")
    rows("random.set_seed", seed=1)
    rows("assert_equal debugging.assert_less_equal debugging.assert_greater_equal", x=F, y=F)
    rows("assert_less", x=F, y=F + 1)
    rows("assert_greater debugging.assert_none_equal", x=F, y=F - 1)
    rows("debugging.assert_near", x=F, y=F, rtol=np.float32(0.1), atol=np.float32(0.1))
    rows("debugging.assert_positive debugging.assert_non_negative", x=P)
    rows("debugging.assert_negative debugging.assert_non_positive", x=-P)
    rows("assert_rank", x=F, rank=np.array(2, np.int32))
    rows("debugging.assert_rank_at_least", x=F, rank=np.array(1, np.int32))
    rows("debugging.assert_rank_in", x=F, ranks=(1, 2))
    rows("debugging.assert_scalar", tensor=np.array(1.5, np.float32))
    rows("debugging.assert_shapes", shapes=[(F, (2, "n"))])
    rows("debugging.assert_integer", x=I)
    rows("debugging.assert_type", tensor=F, tf_type=tf.float32)
    rows("debugging.assert_same_float_dtype", tensors=[F, V])
    rows("debugging.assert_proper_iterable", values=[F, V])
    rows("debugging.assert_all_finite", x=F, message="text")
    rows("debugging.check_numerics", tensor=F, message="text")
    rows("control_dependencies", control_inputs=[F])
    rows("group", inputs=(F, V))
    rows("strings.join", inputs=[S, S])
    rows("strings.length strings.lower strings.upper strings.strip", input=S)
    rows("strings.reduce_join", inputs=S)
    rows("strings.regex_full_match", input=S, pattern="a.*")
    rows("strings.regex_replace", input=S, pattern="a", rewrite="b")
    rows("strings.substr", input=S, pos=np.array([0, 0, 1]), len=np.array([1, 0, 2]))
    rows("strings.split strings.bytes_split", input=S)
    rows("strings.ngrams", data=S, ngram_width=2)
    rows("strings.to_hash_bucket strings.to_hash_bucket_fast", input=S, num_buckets=7)
    rows("strings.to_hash_bucket_strong", input=S, num_buckets=7, key=[1, 2])
    rows(
        "strings.unicode_decode strings.unicode_decode_with_offsets",
        input=S,
        input_encoding="UTF-8",
    )
    rows(
        "strings.unicode_split strings.unicode_split_with_offsets", input=S, input_encoding="UTF-8"
    )
    rows("strings.unicode_encode", input=np.abs(I), output_encoding="UTF-8")
    rows("strings.unicode_transcode", input=S, input_encoding="UTF-8", output_encoding="UTF-16-BE")
    rows("strings.unicode_script", input=np.abs(I))
    rows("strings.unsorted_segment_join", inputs=S, segment_ids=W, num_segments=np.array(3))
    rows("strings.format", template="{}", inputs=F)
    rows("strings.to_number", input=np.array([b"1.5", b"-2"], object))
    rows("math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e", x=P)
    for kind in ("j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1"):
        rows(f"math.special.bessel_{kind}", x=P)
    rows("math.special.dawsn math.special.expint math.special.spence math.lbeta", x=P)
    rows("math.special.fresnel_cos math.special.fresnel_sin", x=P)
    rows("math.igamma math.igammac", a=P, x=P)
    rows("math.betainc", a=P, b=P, x=P)
    for kind in ("max", "mean", "min", "prod", "sum"):
        rows(f"math.segment_{kind}", data=V, segment_ids=np.array([0, 0, 2], np.int32))
    for kind in ("max", "mean", "min", "prod", "sum", "sqrt_n"):
        rows(f"math.unsorted_segment_{kind}", data=V, segment_ids=W, num_segments=3)
    rows("math.cumulative_logsumexp", x=P)
    rows("math.bincount", arr=np.array([1, 1, 3], np.int32))
    rows("histogram_fixed_width", values=F, value_range=np.array([0, 2], np.float32), nbins=4)
    rows("histogram_fixed_width_bins", values=F, value_range=np.array([0, 2], np.float32))
    rows("math.confusion_matrix", labels=W, predictions=W)
    rows("math.in_top_k", targets=np.array([0, 1], np.int32), predictions=F, k=2)
    rows("math.approx_max_k math.approx_min_k", operand=F, k=2)
    rows("math.is_non_decreasing math.is_strictly_increasing", x=F)
    rows("math.accumulate_n", inputs=[F, F])
    rows("math.invert_permutation", x=W)
    rows("math.sobol_sample", dim=np.array(2, np.int32), num_results=np.array(3, np.int32))
    rows("ragged.constant", pylist=[[1, 2], [3]])
    rows("ragged.range", starts=W, limits=np.array([3, 2, 2], np.int32))
    rows("ragged.stack", values=[V, V[:2]])
    rows("ragged.boolean_mask", data=F, mask=B)
    rows("ragged.map_flat_values", op=tf.abs, args=(tf.ragged.constant([[1.0], []]),))
    rows("ragged.row_splits_to_segment_ids", splits=np.array([0, 2, 2, 3]))
    rows("ragged.segment_ids_to_row_splits", segment_ids=np.array([0, 0, 2]))
    rows("ragged.cross ragged.cross_hashed", inputs=[np.array([[1], [2]]), np.array([[3], [4]])])
    rows(
        "ragged.stack_dynamic_partitions",
        data=V,
        partitions=W,
        num_partitions=np.array(4, np.int32),
    )
    rows("sparse.to_dense sparse.reorder sparse.transpose sparse.reset_shape", sp_input=SPARSE)
    rows("sparse.reduce_sum sparse.reduce_max sparse.expand_dims", sp_input=SPARSE)
    rows("sparse.softmax", sp_input=tf.cast(SPARSE, tf.float32))
    rows("sparse.from_dense", tensor=F)
    rows("sparse.sparse_dense_matmul", sp_a=tf.cast(SPARSE, tf.float32), b=F)
    rows("sparse.reshape", sp_input=SPARSE, shape=np.array([2, -1]))
    rows("sparse.slice", sp_input=SPARSE, start=np.array([0, 1]), size=np.array([1, 1]))
    rows("sparse.retain", sp_input=SPARSE, to_retain=np.array([True, False]))
    rows("sparse.concat", axis=0, sp_inputs=[SPARSE, SPARSE])
    rows("sparse.split", sp_input=SPARSE, num_split=2, axis=1)
    rows("sparse.fill_empty_rows", sp_input=SPARSE, default_value=0)
    rows("sparse.add", a=SPARSE, b=np.ones((1, 2), np.int32))
    rows("sparse.maximum sparse.minimum", sp_a=SPARSE, sp_b=SPARSE)
    rows("sparse.map_values", op=tf.abs, args=(SPARSE,))
    rows("sparse.cross sparse.cross_hashed", inputs=[SPARSE, np.array([[3]])])
    rows("sparse.bincount", values=np.array([[1, 1], [0, 2]]), axis=-1)
    rows("sparse.mask", a=tf.IndexedSlices(tf.constant(F), tf.constant([3, 1])), mask_indices=W)
    rows(
        "sparse.sampled_addmm",
        indices=np.array([[0, 1]]),
        values=np.array([1.0], np.float32),
        dense_shape=np.array([2, 2], np.int32),
        mat1=M,
        mat2=M,
    )
    rows("nn.embedding_lookup_sparse", params=F, sp_ids=IDS, sp_weights=None)
    rows("nn.safe_embedding_lookup_sparse", embedding_weights=F, sparse_ids=IDS)
    rows("sparse.eye", num_rows=np.array(3))
    rows("sparse.to_indicator", sp_input=SPARSE, vocab_size=5)
    rows(
        "sparse.segment_sum sparse.segment_mean sparse.segment_sqrt_n",
        data=F,
        indices=np.array([1, 0]),
        segment_ids=np.array([0, 1]),
    )
    rows("sets.difference sets.intersection sets.union", a=I, b=I[:, :2])
    rows("sets.size", a=SPARSE)
    rows("edit_distance", hypothesis=SPARSE, truth=SPARSE)
    rows("dynamic_partition", data=V, partitions=np.array([0, 1, 0], np.int32), num_partitions=2)
    rows("dynamic_stitch", indices=[W[:2], W[2:]], data=[V[:2], V[2:]])
    rows("bitcast", input=F, type=tf.int32)
    rows("fingerprint", data=F)
    pairs = np.array([[0, 0], [0, 1]], np.int32)
    block = np.array([2, 2], np.int32)
    rows("space_to_batch space_to_batch_nd", input=IMAGE, block_shape=block, paddings=pairs)
    rows("batch_to_space", input=np.ones((4, 2, 3)), block_shape=block, crops=pairs)
    rows("required_space_to_batch_paddings", input_shape=[5, 6], block_shape=[2, 4])
    rows("nn.space_to_depth", input=np.ones((2, 4, 2, 3), np.float32), block_size=2)
    rows("nn.depth_to_space", input=np.ones((2, 4, 2, 8), np.float32), block_size=2)
    rows("unravel_index", indices=W, dims=np.array([2, 3], np.int32))
    rows("reverse_sequence", input=F, seq_lengths=np.array([1, 3], np.int32), seq_axis=1)
    rows("linalg.svd linalg.eigh linalg.eigvalsh eig eigvals", tensor=M)
    rows("linalg.qr linalg.lu linalg.expm matrix_square_root", input=M)
    rows("linalg.logm", input=M.astype(np.complex64))
    factors = {"lower_upper": M, "perm": np.array([1, 0], np.int32)}
    rows("linalg.lu_matrix_inverse linalg.lu_reconstruct", **factors)
    rows("linalg.lu_solve", **factors, rhs=M)
    rows("linalg.matrix_rank linalg.pinv", a=M)
    rows("linalg.lstsq", matrix=M, rhs=M)
    bands = np.array([[1, 1, 0], [4, 4, 4], [0, 1, 1]], np.float32)
    rows("linalg.tridiagonal_matmul linalg.tridiagonal_solve", diagonals=bands, rhs=V[:, None])
    rows("nn.convolution", **_conv(2))
    rows("nn.atrous_conv2d", value=IMAGE, filters=_conv(2)["filters"], rate=2, padding="SAME")
    ones = np.ones((2, 2, 3, 2), np.float32)
    rows("nn.depthwise_conv2d", input=IMAGE, filter=ones, strides=[1, 1, 1, 1], padding="SAME")
    rows(
        "nn.separable_conv2d", input=IMAGE, depthwise_filter=ones,
        pointwise_filter=np.ones((1, 1, 6, 2), np.float32), strides=[1, 1, 1, 1], padding="SAME",
    )  # fmt: skip
    turned = {
        "filters": ones.transpose(0, 1, 3, 2),
        "output_shape": np.array([2, 8, 10, 2], np.int32),
    }
    rows("nn.conv_transpose", input=IMAGE, **turned, strides=2)
    line = {"filters": turned["filters"][0], "output_shape": np.array([4, 10, 2], np.int32)}
    rows("nn.conv1d_transpose", input=IMAGE[0], **line, strides=2)
    cube = {"filters": turned["filters"][None], "output_shape": np.array([1, 2, 8, 10, 2])}
    rows("nn.conv3d_transpose", input=IMAGE[None], **cube, strides=[1, 1, 2, 2, 1])
    morphology = {"padding": "SAME", "data_format": "NHWC"}
    morphology |= {"strides": [1, 2, 1, 1], "dilations": [1, 1, 1, 1]}
    rows("nn.dilation2d", input=IMAGE, filters=ones[..., 0], **morphology)
    rows("nn.erosion2d", value=IMAGE, filters=ones[..., 0], **morphology)
    gradient = np.ones((2, 3, 4, 6), np.float32)
    back = {"out_backprop": gradient, "strides": [1, 1, 1, 1], "padding": "VALID"}
    sizes = np.array([2, 2, 3, 2], np.int32)
    rows("nn.depthwise_conv2d_backprop_filter", input=IMAGE, filter_sizes=sizes, **back)
    filters = np.ones((2, 2, 3, 2), np.float32)
    sizes = np.array([2, 4, 5, 3], np.int32)
    rows("nn.depthwise_conv2d_backprop_input", input_sizes=sizes, filter=filters, **back)
    turned = {"value": gradient, "filters": np.ones((2, 2, 3, 6), np.float32), "rate": 2}
    rows("nn.atrous_conv2d_transpose", output_shape=[2, 5, 6, 3], padding="VALID", **turned)
    rows(
        "nn.with_space_to_batch",
        input=IMAGE,
        dilation_rate=[2, 2],
        padding="VALID",
        op=lambda x, *_: x * 2,
    )
    ratios = [1.0, 1.5, 1.4, 1.0]
    rows("nn.fractional_avg_pool nn.fractional_max_pool", value=IMAGE, pooling_ratio=ratios)
    rows("nn.isotonic_regression", inputs=F)
    scaled = {"beta": V, "gamma": V, "variance_epsilon": 0.1, "scale_after_normalization": True}
    rows("nn.batch_norm_with_global_normalization", input=F, mean=V, variance=V * V, **scaled)
    classes = np.array([[1], [4], [0]], np.int64)
    drawn = {"true_classes": classes, "num_true": 1, "num_sampled": 5, "unique": True}
    rows("nn.all_candidate_sampler", **drawn)
    rows(
        "random.log_uniform_candidate_sampler random.uniform_candidate_sampler",
        **drawn,
        range_max=6,
    )
    rows("nn.learned_unigram_candidate_sampler", **drawn, range_max=6)
    rows("nn.fixed_unigram_candidate_sampler", **drawn, range_max=6, unigrams=[1.0, 2, 3, 4, 5, 6])
    candidates = np.array([3, 0, 5], np.int64)
    rows(
        "nn.compute_accidental_hits",
        true_classes=classes,
        sampled_candidates=candidates,
        num_true=1,
    )
    sampled = (candidates, np.full((3, 1), 0.5, np.float32), np.full(3, 0.5, np.float32))
    classified = {"labels": classes, "inputs": np.ones((3, 2), np.float32)}
    rows(
        "nn.nce_loss nn.sampled_softmax_loss",
        weights=np.ones((6, 2), np.float32),
        biases=np.ones(6, np.float32),
        num_sampled=3,
        num_classes=6,
        sampled_values=sampled,
        **classified,
    )
    rows("parallel_stack", values=[F, F])
    bounded = {"means": V, "stddevs": V * V, "minvals": V - 1, "maxvals": V + 2}
    sizes = np.array([2, 3], np.int32)
    rows("random.stateless_parameterized_truncated_normal", shape=sizes, seed=SEED, **bounded)
    rows("signal.mdct", signals=np.ones((2, 16), np.float32), frame_length=8)
    rows("signal.inverse_mdct", mdcts=np.ones((2, 3, 4), np.float32))
    rows("linalg.eigh_tridiagonal", alpha=V, beta=np.array([0.5, 2.0], np.float32))
    rows("linalg.banded_triangular_solve", bands=P + 1, rhs=np.ones((3, 2), np.float32))
    rows("nn.max_pool_with_argmax", input=IMAGE, ksize=2, strides=1, padding="SAME")
    rows("nn.pool", input=IMAGE, window_shape=[2, 2], pooling_type="AVG")
    rows("nn.local_response_normalization", input=IMAGE)
    rows("nn.sufficient_statistics", x=F, axes=[0])
    rows("nn.normalize_moments", counts=np.float32(2), mean_ss=V, variance_ss=V, shift=None)
    rows("nn.weighted_moments", x=F, axes=[0], frequency_weights=P)
    rows("nn.compute_average_loss", per_example_loss=F)
    rows("nn.scale_regularization_loss", regularization_loss=F)
    rows("nn.collapse_repeated", labels=I, seq_length=np.array([3, 2], np.int32))
    rows("nn.ctc_unique_labels", labels=I)
    lengths = np.array([4, 3, 2, 1, 0], np.int32)
    rows(
        "nn.ctc_beam_search_decoder", inputs=IMAGE[0], sequence_length=lengths,
        beam_width=3, top_paths=1,
    )  # fmt: skip
    rows("nn.ctc_greedy_decoder", inputs=IMAGE[0], sequence_length=lengths)
    rows(
        "nn.ctc_loss", labels=np.array([[1], [2]], np.int32), logits=IMAGE[0, :, :2],
        label_length=np.array([1, 1], np.int32), logit_length=np.array([4, 3], np.int32),
    )  # fmt: skip
    rows("random.gamma", shape=np.array([2, 3], np.int32), alpha=P)
    rows("random.poisson", shape=np.array([2, 3], np.int32), lam=P)
    rows("random.stateless_gamma", shape=np.array([2, 3]), seed=SEED, alpha=P)
    rows("random.stateless_poisson", shape=np.array([2, 3]), seed=SEED, lam=P)
    rows("random.stateless_binomial", shape=np.array([2, 3]), seed=SEED, counts=P * 9, probs=P)
    rows("signal.fft signal.fft2d signal.ifft signal.ifft2d", input=F.astype(np.complex64))
    rows("signal.fft3d signal.ifft3d", input=IMAGE.astype(np.complex64))
    rows("signal.rfft signal.rfft2d signal.rfftnd", input_tensor=F)
    rows("signal.rfft3d", input_tensor=IMAGE)
    spectrum = F.astype(np.complex64)
    rows("signal.irfft signal.irfft2d signal.irfftnd signal.fftnd", input_tensor=spectrum)
    rows("signal.ifftnd", input_tensor=spectrum)
    rows("signal.irfft3d", input_tensor=IMAGE.astype(np.complex64))
    rows("signal.dct signal.idct", input=F)
    rows("signal.fftshift signal.ifftshift", x=F)
    rows("signal.mfccs_from_log_mel_spectrograms", log_mel_spectrograms=F)
    rows("signal.frame", signal=F, frame_length=np.array(2, np.int32), frame_step=1)
    rows("signal.overlap_and_add", signal=F, frame_step=np.array(2, np.int32))
    rows("signal.stft", signals=F, frame_length=2, frame_step=1)
    rows("signal.inverse_stft", stfts=spectrum, frame_length=2, frame_step=1)
    rows("signal.inverse_stft_window_fn", frame_step=2)
    for kind in ("hann", "hamming", "kaiser", "kaiser_bessel_derived", "vorbis"):
        rows(f"signal.{kind}_window", window_length=np.array(6, np.int32))
    rows("signal.linear_to_mel_weight_matrix", num_mel_bins=4)
    table.update(_image_table())
    table.update(_quantization_table())
    table.update(_media_table())
    return table


def _media_table() -> dict[str, dict[str, Any]]:
    pixels = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    png, jpeg = tf.io.encode_png(pixels).numpy(), tf.io.encode_jpeg(pixels).numpy()
    table: dict[str, dict[str, Any]] = {
        "audio.decode_wav": {"contents": tf.audio.encode_wav(F, 8000).numpy()},
        "audio.encode_wav": {"audio": F, "sample_rate": np.array(8000, np.int32)},
        "image.adjust_jpeg_quality": {"image": pixels, "jpeg_quality": np.array(50, np.int32)},
        "io.decode_and_crop_jpeg": {"contents": jpeg, "crop_window": [1, 0, 2, 3]},
        "io.decode_bmp": {"contents": BMPS["bmp 24"]},
        "io.decode_gif": {"contents": GIFS["gif moves"]},
        "io.decode_image": {"contents": png},
        "io.decode_webp": {"contents": stored()["webp"]},
        "io.encode_jpeg": {"image": pixels},
        "io.encode_png": {"image": pixels},
        "io.is_jpeg": {"contents": S},
    }
    qualities = {"min_jpeg_quality": 20, "max_jpeg_quality": 90}
    for name, more in (("random", {}), ("stateless_random", {"seed": SEED})):
        table[f"image.{name}_jpeg_quality"] = {"image": pixels, **qualities, **more}
    for name in ("decode_jpeg", "extract_jpeg_shape"):
        table[f"io.{name}"] = {"contents": jpeg}
    table["io.decode_png"] = {"contents": png}
    return table


def _image_table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}

    def rows(names: str, **arguments: Any) -> None:
        for name in names.split():
            table[f"image.{name}"] = arguments

    colours = IMAGE / 120
    rows("flip_left_right flip_up_down per_image_standardization rot90 transpose", image=IMAGE)
    rows("image_gradients random_flip_left_right random_flip_up_down sobel_edges", image=IMAGE)
    rows("hsv_to_rgb rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv", images=colours)
    rows("total_variation yiq_to_rgb yuv_to_rgb", images=colours)
    rows("grayscale_to_rgb", images=IMAGE[..., :1])
    rows("convert_image_dtype", image=colours, dtype=tf.uint8)
    rows("adjust_brightness adjust_hue", image=colours, delta=0.3)
    rows("adjust_contrast", images=colours, contrast_factor=1.5)
    rows("adjust_gamma", image=colours, gamma=0.5)
    rows("adjust_saturation", image=colours, saturation_factor=1.5)
    rows("resize", images=IMAGE, size=np.array([3, 7], np.int32))
    sizes = {"target_height": np.array(6, np.int32), "target_width": 9}
    rows("resize_with_crop_or_pad resize_with_pad", image=IMAGE, **sizes)
    rows("pad_to_bounding_box", image=IMAGE, offset_height=1, offset_width=2, **sizes)
    sizes = {"target_height": np.array(2, np.int32), "target_width": 3}
    rows("crop_to_bounding_box", image=IMAGE, offset_height=1, offset_width=2, **sizes)
    rows("central_crop", image=IMAGE, central_fraction=0.5)
    window = {"sizes": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "rates": [1, 1, 1, 1]}
    offsets = np.array([[0.1, 0.2], [-0.5, 0.6]], np.float32)
    rows("extract_glimpse", input=IMAGE, size=np.array([2, 3], np.int32), offsets=offsets)
    thing = np.array([[[0.1, 0.2, 0.8, 0.9]]], np.float32)
    sampled = {"image_size": np.array([9, 8, 3], np.int32), "bounding_boxes": thing}
    rows("sample_distorted_bounding_box", **sampled)
    rows("stateless_sample_distorted_bounding_box", seed=SEED, **sampled)
    rows("extract_patches", images=IMAGE, **window, padding="SAME")
    boxes = {"boxes": P[:, [0, 1, 2, 2]], "box_indices": np.array([1, 0], np.int32)}
    rows("crop_and_resize", image=IMAGE, **boxes, crop_size=np.array([2, 3], np.int32))
    corners = P[:, [0, 1, 2, 2]]
    found = {"boxes": corners, "scores": P[:, 0], "max_output_size": np.array(2, np.int32)}
    rows("non_max_suppression non_max_suppression_padded", **found)
    rows("non_max_suppression_with_scores", **found, soft_nms_sigma=0.5)
    del found["boxes"]
    rows("non_max_suppression_overlaps", overlaps=P[:, :2], **found)
    many = {"boxes": corners[None, :, None], "scores": P[None]}
    sizes = {"max_output_size_per_class": 1, "max_total_size": 3}
    rows("combined_non_max_suppression", **many, **sizes)
    rows("draw_bounding_boxes", images=IMAGE, boxes=np.stack([corners] * 2), colors=F)
    rows("psnr", a=IMAGE, b=IMAGE + 1, max_val=9.0)
    rows("ssim", img1=IMAGE, img2=IMAGE + 1, max_val=9.0, filter_size=3)
    two = {"power_factors": (0.5, 0.5), "filter_size": 2}
    rows("ssim_multiscale", img1=IMAGE, img2=IMAGE + 1, max_val=9.0, **two)
    for prefix, seed in (("", {}), ("stateless_", {"seed": SEED})):
        rows(f"{prefix}random_brightness", image=colours, max_delta=0.3, **seed)
        rows(f"{prefix}random_hue", image=colours, max_delta=0.3, **seed)
        rows(f"{prefix}random_contrast", image=colours, lower=0.5, upper=1.5, **seed)
        rows(f"{prefix}random_saturation", image=colours, lower=0.5, upper=1.5, **seed)
        rows(f"{prefix}random_crop", value=F, size=np.array([2, 2], np.int32), **seed)
    rows("stateless_random_flip_left_right stateless_random_flip_up_down", image=IMAGE, seed=SEED)
    return table


def _quantization_table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}

    def rows(names: str, **arguments: Any) -> None:
        for name in names.split():
            table[f"quantization.{name}"] = arguments

    low, high = np.array(-1, np.float32), np.array(2, np.float32)
    lows, highs = V - 2, V + 3
    fake = "fake_quant_with_min_max"
    rows(f"{fake}_args", inputs=F, num_bits=4)
    rows(f"{fake}_args_gradient", gradients=P, inputs=F)
    rows(f"{fake}_vars", inputs=F, min=low, max=high)
    rows(f"{fake}_vars_gradient", gradients=P, inputs=F, min=low, max=high)
    rows(f"{fake}_vars_per_channel", inputs=F, min=lows, max=highs)
    rows(f"{fake}_vars_per_channel_gradient", gradients=P, inputs=F, min=lows, max=highs)
    both = {"input": F, "input_min": low, "input_max": high, "num_bits": 5, "range_given": True}
    rows("quantize_and_dequantize quantize_and_dequantize_v2", **both)
    rows("quantize", input=F, min_range=low, max_range=high, T=tf.qint8)
    rows("dequantize", input=QUANTIZED, min_range=low, max_range=high)
    two = {"input_mins": [low, low], "input_maxes": [high, high]}
    rows("quantized_concat", concat_dim=0, values=[QUANTIZED, QUANTIZED], **two)
    return table


VALID = _table()

# Functions that take anything, or change the process.
LEFT_OUT = {
    "no_gradient", "no_op", "print", "timestamp", "register_tensor_conversion_function",
    "random.get_global_generator", "random.set_global_generator", "get_logger",
    "debugging.is_numeric_tensor",
    "debugging.enable_check_numerics", "debugging.disable_check_numerics",
    "debugging.enable_traceback_filtering", "debugging.disable_traceback_filtering",
    "debugging.is_traceback_filtering_enabled",
}  # fmt: skip

# New numbers in every call: only their types are compared.
DRAWS = {
    "image.random_brightness", "image.random_contrast", "image.random_crop",
    "image.random_flip_left_right", "image.random_flip_up_down", "image.random_hue",
    "image.random_saturation", "image.random_jpeg_quality", "image.extract_glimpse",
    "image.sample_distorted_bounding_box",
    "nn.dropout", "nn.fixed_unigram_candidate_sampler", "nn.fractional_avg_pool",
    "nn.learned_unigram_candidate_sampler",
    "nn.fractional_max_pool", "nn.nce_loss", "nn.sampled_softmax_loss", "random.categorical",
    "random.log_uniform_candidate_sampler",
    "random.uniform_candidate_sampler", "random.gamma", "random.normal", "random.poisson",
    "random.shuffle",
    "random.truncated_normal", "random.uniform",
}  # fmt: skip

# Functions of the user, whose results must agree only while tracing (and a loop need not end); a
# condition may be any number eagerly.
USERS = {
    ("case", "default"), ("cond", "false_fn"), ("cond", "pred"), ("cond", "true_fn"),
    ("foldl", "elems"), ("foldl", "initializer"), ("foldr", "elems"), ("foldr", "initializer"),
    ("scan", "elems"), ("switch_case", "default"),
    ("nn.with_space_to_batch", "op"),
    ("while_loop", "body"), ("while_loop", "cond"), ("while_loop", "shape_invariants"),
}  # fmt: skip

# What they give or take is no tensor.
NOT_TRACED = {
    "broadcast_static_shape", "constant", "control_dependencies", "get_static_value",
    "debugging.assert_proper_iterable", "debugging.assert_same_float_dtype",
    "signal.inverse_stft_window_fn", "type_spec_from_value",
}  # fmt: skip

NAMESPACES: dict[str, ModuleType] = {
    "": tf, "math.": tf.math, "linalg.": tf.linalg, "nn.": tf.nn, "random.": tf.random,
    "math.special.": tf.math.special, "strings.": tf.strings, "bitwise.": tf.bitwise,
    "debugging.": tf.debugging, "signal.": tf.signal, "ragged.": tf.ragged,
    "sparse.": tf.sparse, "sets.": tf.sets, "io.": tf.io, "image.": tf.image,
    "audio.": tf.audio, "quantization.": tf.quantization,
}  # fmt: skip

# Names that are imported when they are used.
LATER = {"image.": dir(tf.image)}


MODULES = (
    "weft._src.ops.",
    "weft._src.media.",
    "weft._src.graph.row_maps",
    "weft._src.core.convert",
    "weft._src.core.specs",
    "weft._src.state.generator",
)


def _written_in(function: Any) -> str:
    return inspect.unwrap(function).__globals__["__name__"]


def public_functions() -> dict[str, Callable[..., Any]]:
    """Every public function that makes tensors once, under the first of its names."""
    found: dict[str, Callable[..., Any]] = {}
    seen: set[int] = set()
    for prefix, module in NAMESPACES.items():
        for name in sorted({*vars(module), *LATER.get(prefix, ())}):
            value = getattr(module, name)
            is_op = inspect.isfunction(value) and _written_in(value).startswith(MODULES)
            if is_op and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                found[prefix + name] = value
    return found


FUNCTIONS = public_functions()


def _self_containing() -> list[Any]:
    items: list[Any] = [1]
    items.append(items)
    return items


class _Opaque:
    def __repr__(self) -> str:
        return "<opaque>"


class _BrokenArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError("this array is broken")


HOSTILE: dict[str, Any] = {
    "None": None,
    "str": "text",
    "bytes": b"\xff\x00",
    "object": _Opaque(),
    "class": int,
    "function": lambda *_: None,
    "dict": {"a": 1},
    "set": {1},
    "ellipsis": ...,
    "slice": slice(None),
    "empty list": [],
    "nested empty": [[]],
    "ragged": [[1], [2, 3]],
    "mixed list": [1, "z", None],
    "self-containing": _self_containing(),
    "broken array": _BrokenArray(),
    "object array": np.array([1, None, "a"], object),
    "structured": np.zeros(2, [("a", np.int32)]),
    "datetime": np.array(["2020-01-01"], "datetime64[D]"),
    "unicode array": np.array(["ä", "b"]),
    "string array": S,
    "zero": 0,
    "one": 1,
    "minus one": -1,
    "minus five": -5,
    "seven": 7,
    "int31": 2**31,
    "int40": 2**40,
    "int63": 2**63,
    "int200": 2**200,
    "float": 1.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "bool": True,
    "complex": 1j,
    "negative list": [-1, -2],
    "far list": [99],
    "pair": [1, 1],
    "repeated": [0, 0],
    "huge shape": [2**31, 2**31],
    "huge vector": [2**40],
    "huge array": np.array([2**40]),
    "pairs": [[1, 1], [1, 1]],
    "empty": np.zeros((0,), np.float32),
    "empty rows": np.zeros((0, 3), np.float32),
    "empty columns": np.zeros((2, 0), np.float32),
    "empty ints": np.zeros((0,), np.int32),
    "scalar": np.array(0.5, np.float32),
    "int scalar": np.array(1, np.int32),
    "vector": np.array([1.0, 2.0, 3.0, 4.0], np.float32),
    "square": np.ones((3, 3), np.float32),
    "rank 5": np.ones((1, 2, 1, 3, 2), np.float32),
    "specials": np.array([[np.nan, np.inf, -0.0], [-np.inf, np.nan, 1.0]], np.float32),
    "float16": F.astype(np.float16),
    "bfloat16": F.astype(ml_dtypes.bfloat16),
    "float8": F.astype(ml_dtypes.float8_e4m3fn),
    "float8 of kind f": F.astype(ml_dtypes.float8_e5m2),
    "int4": I.astype(ml_dtypes.int4),
    "quantized": QUANTIZED,
    "quantized scalar": QUANTIZED[0, 1:2].reshape(()),
    "float64": F.astype(np.float64),
    "complex array": F.astype(np.complex64),
    "int8": np.array([[-128, 127, 0], [1, 2, 3]], np.int8),
    "uint64": np.array([[2**63, 1, 0], [1, 2, 3]], np.uint64),
    "bools": B,
    "big endian": F.astype(">f4"),
    "strided": np.repeat(F, 2, 1)[:, ::2],
    "reversed": F[::-1, ::-1],
    "dtype": tf.float32,
    "unknown shape": tf.TensorShape(None),
    "open shape": tf.TensorShape([None, 3]),
    "ragged tensor": tf.ragged.constant([[1.5, 2.0], [], [0.5]]),
    "sparse tensor": tf.SparseTensor([[0, 1], [1, 2]], [1.5, -2.0], [2, 3]),
}

SMALL = {d.numpy_dtype for d in dtypes.SMALL | dtypes.QUANTIZED}
RECORDS = {"structured", "quantized", "quantized scalar"}  # cannot be compared with words
ALLOWED = (TypeError, ValueError, tf.errors.OpError, NotImplementedError)
OP_NAMES = {op.name.lower() for op in all_ops() if len(op.name) > 2}
SWEEP_ALL = os.environ.get("WEFT_SWEEP") == "all"
SHARE, TRACED_SHARE = 4, 16  # one call in so many is made, and traced as well


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """A gigabyte more than now, so that nothing huge is allocated in earnest; 20 seconds."""

    def too_slow(*_: Any) -> None:
        raise AssertionError("the call does not come to an end")

    with open("/proc/self/statm") as f:
        in_use = int(f.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**30, hard))
    signal.alarm(20)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    arguments = dict(arguments)
    positional: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = arguments.pop(parameter.name, ())
            positional += rest if isinstance(rest, tuple) else [rest]
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and not positional:
            before_rest = any(
                p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()
            )
            if before_rest:
                positional.append(arguments.pop(parameter.name))
    return function(*positional, **arguments)


def _eager(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, Any]:
    try:
        return _call(function, arguments), None
    except Exception as error:  # noqa: BLE001 - judged by the caller
        return None, error


def _is_numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "fiub" or array.dtype in SMALL


def _with_tensors(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with numeric arrays as tensors."""
    return {
        k: tf.convert_to_tensor(v) if isinstance(v, np.ndarray) and _is_numeric(v) else v
        for k, v in arguments.items()
    }


def _traced(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, Any]:
    """The call in a graph, with tensors as parameters, on the optimised plan."""
    tensors = {k: v for k, v in arguments.items() if isinstance(v, tf.Tensor)}
    try:
        graph = trace(
            lambda *xs: _call(function, {**arguments, **dict(zip(tensors, xs, strict=True))}),
            [tf.TensorSpec(t.shape, t.dtype) for t in tensors.values()],
        )
        values = [t._value for t in tensors.values()] + [t._value for t, _ in graph.captures]
        return NumpyPlan(optimize(graph))(*values), None
    except Exception as error:  # noqa: BLE001
        return None, error


def _text_problem(name: str, function: Callable[..., Any], error: Exception) -> str | None:
    text = str(error).lower()
    words = {name.rpartition(".")[2], function.__name__, *inspect.signature(function).parameters}
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    if f"{os.sep}numpy{os.sep}" in last and "weft" not in last:
        return "comes out of NumPy"
    if any(word.lower() in text for word in words if len(word) > 2):
        return None
    if (
        any(op in text for op in OP_NAMES)
        or "cannot convert" in text
        or "does not fit" in text
        or "dimension" in text
        or "raggedtensor" in text
        or "sparsetensor" in text
    ):
        return None
    return "names neither the function nor an argument"


def _ill_formed(result: Any) -> str | None:
    for leaf in nest.flatten(result, expand_composites=True):
        if not isinstance(leaf, tf.Tensor):
            continue
        value = leaf._value
        if leaf.dtype in (tf.resource, tf.variant):
            continue
        if type(value) is not np.ndarray:
            return f"holds a {type(value).__name__}"
        if value.dtype.byteorder == ">" or value.dtype != leaf.dtype.numpy_dtype:
            return f"dtype {leaf.dtype} holds {value.dtype}"
        if value.dtype == object and not all(type(x) is bytes for x in value.flat):
            return "a string tensor that holds other things"
        if tuple(leaf.shape) != value.shape:
            return f"shape {leaf.shape} holds {value.shape}"
    return None


def _differ(name: str, eager: Any, graph: tuple[Any, ...]) -> str | None:
    flat = nest.flatten(eager, expand_composites=True)
    flat = [tf.convert_to_tensor(x) for x in flat if x is not None]
    if len(flat) != len(graph):
        return f"{len(flat)} results, {len(graph)} from the graph"
    for e, g in zip(flat, graph, strict=True):
        e, g = np.asarray(e._value), np.asarray(g)
        if e.dtype != g.dtype or e.shape != g.shape:
            return f"{e.dtype}{e.shape}, from the graph {g.dtype}{g.shape}"
        if name in DRAWS:
            continue
        if e.dtype == object:
            same = e.tolist() == g.tolist()
        else:
            wide = np.complex128 if e.dtype.kind == "c" else np.float64
            e, g = dtypes.plain(e), dtypes.plain(g)
            same = np.allclose(e.astype(wide), g.astype(wide), 1e-5, 1e-6, equal_nan=True)
        if not same:
            return f"{e!r}, from the graph {g!r}"
    return None


def _problem(name: str, arguments: dict[str, Any], traced: bool) -> str | None:
    function = FUNCTIONS[name]
    result, error = _eager(function, arguments)
    if error is not None:
        if not isinstance(error, ALLOWED):
            return f"{type(error).__name__}: {error}"
        problem = _text_problem(name, function, error)
        if problem is not None:
            return f"{type(error).__name__} {problem}: {error}"
    else:
        problem = _ill_formed(result)
        if problem is not None:
            return problem
    if not traced or name in NOT_TRACED:
        return None
    arguments = _with_tensors(arguments)
    result, error = _eager(function, arguments)
    graph, graph_error = _traced(function, arguments)
    if graph_error is not None and not isinstance(graph_error, ALLOWED):
        return f"in a graph {type(graph_error).__name__}: {graph_error}"
    if any(hint in str(graph_error) for hint in ("while tracing", "got <tf.Tensor")):
        return None  # an attribute, which must be a Python value in a graph
    if (error is None) != (graph_error is None):
        return f"eager: {error or 'fine'}; in a graph: {graph_error or 'fine'}"
    return None if error is not None else _differ(name, result, graph)


def _is_array(name: str, parameter: str) -> bool:
    return isinstance(VALID[name].get(parameter), np.ndarray)


def _sweep(name: str) -> list[str]:
    problems = []
    signature = inspect.signature(FUNCTIONS[name])
    for parameter in signature.parameters:
        if parameter in ("name", "layout"):
            continue
        for label, value in HOSTILE.items():
            if (name, parameter) in USERS or (label in RECORDS and not _is_array(name, parameter)):
                continue
            arguments = {**VALID[name], parameter: value}
            key = zlib.crc32(f"{name} {parameter} {label}".encode())
            if not SWEEP_ALL and key % SHARE:
                continue
            problem = _problem(name, arguments, SWEEP_ALL or key % TRACED_SHARE == 0)
            if problem is not None:
                problems.append(f"tf.{name}({parameter}=<{label}>): {problem}")
    return problems


def test_every_public_function_is_in_the_table() -> None:
    missing = sorted(set(FUNCTIONS) - LEFT_OUT - set(VALID))
    assert not missing, f"add a valid call to _table (or the name to LEFT_OUT) for {missing}"
    assert set(VALID) <= set(FUNCTIONS), "rows of functions that are gone"


@pytest.mark.parametrize("name", sorted(VALID))
def test_valid_call_works_eagerly_and_traced(name: str) -> None:
    assert _eager(FUNCTIONS[name], VALID[name])[1] is None
    assert _problem(name, VALID[name], traced=True) is None


@pytest.mark.parametrize("name", sorted(VALID))
def test_hostile_arguments(name: str) -> None:
    tf.random.set_seed(1)
    with limits():
        problems = _sweep(name)
    assert not problems, "\n".join(problems)
