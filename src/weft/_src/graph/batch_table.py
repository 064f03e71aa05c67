"""Which rule batches which op (becomes `batch=` of the blocks)."""

from weft._src.ops import batching as r

RULES: dict[str, r.Rule] = {}


def _add(rule: r.Rule, names: str) -> None:
    for name in names.split():
        RULES[name] = rule


_add(
    r.pointwise,
    "Complex Real Imag Angle Identity StopGradient SelectV2 StringLower StringUpper StringStrip StringLength StringToHashBucket StringToHashBucketFast UnicodeTranscode AsString StringToNumber CheckNumerics EncodeBase64 DecodeBase64 StringJoin Bitcast",
)
_add(r.same_shapes, "AddN IdentityN Cross")
_add(r.first_only, "RegexFullMatch RegexReplace StringToHashBucketStrong")
_add(r.shape_only, "Shape Size Rank")
_add(
    r.along_axis,
    "ArgMax ArgMin ArgSort Sort Cumsum Cumprod Unpack Split SplitV",
)
_add(r.joined_along_axis, "ConcatV2 Pack TakeAlongAxis")
_add(r.along_axes, "Max Min All Any ReverseV2 ReduceJoin Roll")
_add(r.summed, "Sum Mean Prod")
_add(r.inexact(r.along_axes), "LogSumExp EuclideanNorm")
_add(r.expanded, "ExpandDims")
_add(r.squeezed, "Squeeze")
_add(r.transposed, "Transpose")
_add(r.reshaped, "Reshape")
_add(r.broadcast, "BroadcastTo")
_add(r.summed_to_shape, "SumToShape")
_add(r.filled, "Fill")
_add(r.padded, "Pad PadV2 MirrorPad")
_add(r.padded_back, "MirrorPadGrad TileGrad")
_add(r.tiled, "Tile")
_add(r.ensured, "EnsureShape")
_add(r.sliced, "StridedSlice")
_add(r.sliced_back, "StridedSliceGrad")
_add(r.block, "Slice")
_add(r.gathered, "GatherV2")
_add(r.inexact(r.gathered_back), "GatherGrad")
_add(r.gathered_nd, "GatherNd")
_add(r.inexact(r.scattered), "ScatterNd")
_add(
    r.updated,
    "TensorScatterMax TensorScatterMin TensorScatterUpdate",
)
_add(r.one_hot, "OneHot")
_add(r.segments, "UnsortedSegmentMax UnsortedSegmentMin")
_add(
    r.leading,
    "MatrixBandPart MatrixDiagPartV3 MatrixDiagV3 TopKV2",
)
_add(
    r.inexact(r.leading),
    "Cholesky Lu Qr MatrixExponential MatrixLogarithm MatrixSquareRoot LogMatrixDeterminant MatrixDeterminant MatrixInverse Eig SelfAdjointEigV2 Svd PseudoInverse",
)
_add(
    r.inexact(r.systems),
    "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits MatrixSetDiagV3 MatrixSolve MatrixTriangularSolve TridiagonalSolve",
)
_add(r.product, "MatMul")
_add(r.inexact(r.merged), "Conv2D Conv3D DepthwiseConv2dNative Dilation2D")
_add(r.merged, "MaxPool MaxPool3D AvgPool AvgPool3D SpaceToDepth DepthToSpace")
_add(
    r.merged_all,
    "MaxPoolGrad MaxPool3DGrad MaxPoolGradGrad MaxPool3DGradGrad",
)
_add(
    r.merged_back,
    "Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput AvgPoolGrad AvgPool3DGrad",
)
_add(r.channel_sums, "BiasAddGrad")
_add(r.half_of_squares, "L2Loss")
_add(r.asserted, "Assert")
_add(r.pushed, "TensorListPushBack TensorListSetItem")
_add(r.read, "TensorListGetItem TensorListPopBack")
_add(r.read_shaped, "StackGetShapedItem StackPopShaped")
_add(r.unstacked_list, "TensorListStack")
_add(r.list_of_rows, "TensorListFromTensor")
_add(r.same_list, "StackZerosLike StackClearItem")
_add(r.added_lists, "StackAdd")
_add(r.length_of_list, "TensorListLength")
_add(r.inexact(r.along_axis), "Softmax LogSoftmax CumulativeLogsumexp")
_add(r.inexact(r.merged), "ChannelWindowSum")
_add(r.inexact(r.leading), "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D DCT OverlapAndAdd RFFT")
_add(r.inexact(r.updated), "TensorScatterAdd TensorScatterSub")
_add(r.inexact(r.segments), "UnsortedSegmentProd UnsortedSegmentSum")
