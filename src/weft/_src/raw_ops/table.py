"""Raw ops that have attributes: TensorFlow's arguments, and the function of Weft that does it.

The files in `rows` hold a row for each: `name: function(arguments)`. An argument that the function
calls differently is written `theirs:ours`; one with a default, `name=default`. A function `=Op` is
the op itself; one that begins with `raw.` stands in a file beside this one. An argument
`!name=value` is not TensorFlow's, but fixed; one of `~name=value` is taken, but must have that
value; one of `-name` is taken and may have any, since it says nothing of the result.
"""

from __future__ import annotations

from weft._src.raw_ops.rows import (
    data,
    gradients,
    images,
    media,
    random_numbers,
    sparse,
    state,
    strings,
    tensors,
)

ROWS = "".join(
    [
        file.ROWS
        for file in (
            data,
            gradients,
            images,
            media,
            random_numbers,
            sparse,
            state,
            strings,
            tensors,
        )
    ]
)

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
    GatherGrad GatherSegments IteratorHasNext LogSumExp MirrorPadGrad MutexLock NearestPlaces
    OptionalFromValue OverlapAndAdd PlacingBand PseudoInverse PutAlongAxis ReducedShape
    ReducedShapes Resample ResizeAxis ResizeAxisBack RestoreAxes ReverseBy RollBy ScaledGradient
    SeluGrad Sort StackAdd StackAddRows StackClearItem StackConcat StackGetShapedItem
    StackPopShaped StackReadRows StackRowLengths StackSplit StackToShape StackZeros StackZerosLike
    StringBytesSplit SumToShape TransposeBy TakeAlongAxis Tensordot TensordotGrad TileGrad
    """.split()  # noqa: SIM905
)
