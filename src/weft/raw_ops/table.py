"""Raw ops that have attributes: TensorFlow's arguments, and the function of Weft that does it.

Each row is `name: function(arguments)`. An argument that the function calls differently is written
`theirs:ours`; one with a default, `name=default`. A function `=Op` is the op itself; an argument
`!name=value` is not TensorFlow's, but fixed.
"""

from __future__ import annotations

ROWS = """
All: reduce_all(input:input_tensor axis keep_dims:keepdims=False)
Any: reduce_any(input:input_tensor axis keep_dims:keepdims=False)
ArgMax: argmax(input dimension:axis output_type=tf.int64)
ArgMin: argmin(input dimension:axis output_type=tf.int64)
AsString: strings.as_string(input precision=-1 scientific=False shortest=False width=-1 fill='')
AvgPool3D: nn.avg_pool3d(input ksize strides padding data_format='NDHWC')
AvgPool: nn.avg_pool(value:input ksize strides padding data_format='NHWC')
BatchToSpaceND: batch_to_space(input block_shape crops)
BiasAdd: nn.bias_add(value bias data_format='NHWC')
Bitcast: bitcast(input type)
Cast: cast(x DstT:dtype)
CheckNumerics: debugging.check_numerics(tensor message)
Complex: complex(real imag)
ConcatV2: concat(values axis)
Conv2D: nn.conv2d(input filter:filters strides padding data_format='NHWC' dilations=[1,1,1,1])
Conv3D: nn.conv3d(input filter:filters strides padding data_format='NDHWC' dilations=[1,1,1,1,1])
Cumprod: math.cumprod(x axis exclusive=False reverse=False)
Cumsum: cumsum(x axis exclusive=False reverse=False)
CumulativeLogsumexp: math.cumulative_logsumexp(x axis exclusive=False reverse=False)
DecodeBase64: io.decode_base64(input)
DecodeRaw: io.decode_raw(bytes:input_bytes out_type little_endian=True)
DepthToSpace: nn.depth_to_space(input block_size data_format='NHWC')
DepthwiseConv2dNative: nn.depthwise_conv2d(input filter strides padding data_format='NHWC')
DynamicPartition: dynamic_partition(data partitions num_partitions)
DynamicStitch: dynamic_stitch(indices data)
EncodeBase64: io.encode_base64(input pad=False)
EnsureShape: ensure_shape(input:x shape)
EuclideanNorm: math.reduce_euclidean_norm(input:input_tensor axis keep_dims:keepdims=False)
ExpandDims: expand_dims(input axis)
FFT2D: signal.fft2d(input)
FFT3D: signal.fft3d(input)
FFT: signal.fft(input)
Fingerprint: fingerprint(data method)
GatherNd: gather_nd(params indices)
GatherV2: gather(params indices axis batch_dims=0)
HistogramFixedWidth: histogram_fixed_width(values value_range nbins=100 dtype=tf.int32)
IFFT2D: signal.ifft2d(input)
IFFT3D: signal.ifft3d(input)
IFFT: signal.ifft(input)
IRFFT: signal.irfft(input:input_tensor fft_length)
IdentityN: identity_n(input)
InTopKV2: math.in_top_k(predictions targets k)
LeakyRelu: nn.leaky_relu(features alpha=0.2)
LogSoftmax: nn.log_softmax(logits)
LowerBound: searchsorted(sorted_inputs:sorted_sequence values out_type=tf.int32 !side='left')
Lu: linalg.lu(input output_idx_type=tf.int32)
MatMul: matmul(a b transpose_a=False transpose_b=False)
MatrixDiagPartV3: linalg.diag_part(input k padding_value align='RIGHT_LEFT')
MatrixDiagV3: linalg.diag(diagonal k num_rows num_cols padding_value align='RIGHT_LEFT')
MatrixInverse: linalg.inv(input adjoint=False)
MatrixSetDiagV3: linalg.set_diag(input diagonal k align='RIGHT_LEFT')
MatrixSolve: linalg.solve(matrix rhs adjoint=False)
MatrixTriangularSolve: linalg.triangular_solve(matrix rhs lower=True adjoint=False)
Max: reduce_max(input:input_tensor axis keep_dims:keepdims=False)
MaxPool3D: nn.max_pool3d(input ksize strides padding data_format='NDHWC')
MaxPool: nn.max_pool(input ksize strides padding data_format='NHWC')
Mean: reduce_mean(input:input_tensor axis keep_dims:keepdims=False)
Min: reduce_min(input:input_tensor axis keep_dims:keepdims=False)
MirrorPad: pad(input:tensor paddings mode)
OneHot: one_hot(indices depth on_value off_value axis=-1)
Pack: stack(values axis=0)
ParseTensor: io.parse_tensor(serialized out_type)
Prod: reduce_prod(input:input_tensor axis keep_dims:keepdims=False)
Qr: linalg.qr(input full_matrices=False)
RFFT: signal.rfft(input:input_tensor fft_length)
Range: range(start limit delta)
ReadFile: io.read_file(filename)
ReduceJoin: strings.reduce_join(inputs reduction_indices:axis keep_dims:keepdims=False separator='')
RegexFullMatch: strings.regex_full_match(input pattern)
RegexReplace: strings.regex_replace(input pattern rewrite replace_global=True)
ReverseSequence: reverse_sequence(input seq_lengths seq_dim:seq_axis batch_dim:batch_axis=0)
ReverseV2: reverse(tensor axis)
Roll: roll(input shift axis)
ScatterNd: scatter_nd(indices updates shape)
SerializeTensor: io.serialize_tensor(tensor)
SetSize: =SetSize(set_indices set_values set_shape validate_indices=True)
Shape: shape(input out_type=tf.int32)
Size: size(input out_type=tf.int32)
SobolSample: math.sobol_sample(dim num_results skip dtype=tf.float32)
Softmax: nn.softmax(logits)
SpaceToBatchND: space_to_batch_nd(input block_shape paddings)
SpaceToDepth: nn.space_to_depth(input block_size data_format='NHWC')
SparseToDense: =SparseToDense(sparse_indices output_shape sparse_values default_value validate_indices=True)
SparseToSparseSetOperation: =SparseToSparseSetOperation(set1_indices set1_values set1_shape set2_indices set2_values set2_shape set_operation validate_indices=True)
Split: split(axis value num_split:num_or_size_splits)
SplitV: split(value size_splits:num_or_size_splits axis num_split:num)
Squeeze: squeeze(input axis=None)
StringFormat: strings.format(inputs template='%s' placeholder='%s' summarize=3)
StringJoin: strings.join(inputs separator='')
StringLength: strings.length(input unit='BYTE')
StringLower: strings.lower(input encoding='')
StringNGrams: =StringNGrams(data data_splits separator ngram_widths left_pad right_pad pad_width preserve_short_sequences)
StringSplitV2: =StringSplitV2(input sep maxsplit=-1)
StringToHashBucket: strings.to_hash_bucket(string_tensor:input num_buckets)
StringToHashBucketFast: strings.to_hash_bucket_fast(input num_buckets)
StringToHashBucketStrong: strings.to_hash_bucket_strong(input num_buckets key)
StringToNumber: strings.to_number(string_tensor:input out_type=tf.float32)
StringUpper: strings.upper(input encoding='')
Substr: strings.substr(input pos len unit='BYTE')
Sum: reduce_sum(input:input_tensor axis keep_dims:keepdims=False)
Svd: linalg.svd(input:tensor compute_uv=True full_matrices=False)
TopKV2: math.top_k(input k sorted=True)
Transpose: transpose(x:a perm)
UnicodeDecodeWithOffsets: =UnicodeDecodeWithOffsets(input input_encoding errors='replace' replacement_char=65533 replace_control_characters=False Tsplits:splits_dtype=tf.int64)
UnicodeEncode: =UnicodeEncode(input_values input_splits output_encoding errors='replace' replacement_char=65533)
UnicodeTranscode: strings.unicode_transcode(input input_encoding output_encoding errors='replace' replacement_char=65533 replace_control_characters=False)
UniqueWithCounts: unique_with_counts(x out_idx=tf.int32)
Unpack: unstack(value num axis=0)
UnsortedSegmentJoin: strings.unsorted_segment_join(inputs segment_ids num_segments separator='')
UpperBound: searchsorted(sorted_inputs:sorted_sequence values out_type=tf.int32 !side='right')
Where: where(condition)
"""  # noqa: E501

# Ops without attributes take their inputs, under the names of the registry but for these.
RENAMED = {
    "BroadcastArgs": "s0 s1",
    "Conj": "input",
    "Elu": "features",
    "NextAfter": "x1 x2",
    "Pad": "input paddings",
    "PadV2": "input paddings constant_values",
    "Relu": "features",
    "Relu6": "features",
    "SelectV2": "condition t e",
    "Selu": "features",
    "Slice": "input begin size",
    "Softplus": "features",
    "Softsign": "features",
}

# Ops of Weft that TensorFlow does not have, or that take other inputs than TensorFlow's.
OWN = frozenset(
    """
    ArgSort CTCLossDense ChannelWindowSum CollapseAxes DCT Dilation2DPick EinsumGrad EluGrad
    GatherGrad GatherSegments IteratorHasNext LogSumExp MirrorPadGrad MutexLock OverlapAndAdd
    PseudoInverse PutAlongAxis ReducedShape RestoreAxes RngRead RngWrite ScaledGradient SeluGrad
    Sort StackAdd StackAddRows StackClearItem StackReadRows StackToShape StackZeros StackZerosLike
    StringBytesSplit SumToShape TakeAlongAxis Tensordot TensordotGrad TileGrad
    """.split()  # noqa: SIM905
)
