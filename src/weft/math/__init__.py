"""`tf.math`: arithmetic, elementwise functions, reductions."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.math import (
    special as special,
)
from weft.ops.array.permutations import (
    invert_permutation as invert_permutation,
)
from weft.ops.linalg.norms import (
    l2_normalize as l2_normalize,
)
from weft.ops.math.angles import (
    angle as angle,
    atan2 as atan2,
)
from weft.ops.math.arithmetic import (
    add as add,
    divide as divide,
    log as log,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    nextafter as nextafter,
    polyval as polyval,
    pow as pow,
    scalar_mul as scalar_mul,
    subtract as subtract,
    truediv as truediv,
)
from weft.ops.math.bessel import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
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
    logical_xor as logical_xor,
    not_equal as not_equal,
)
from weft.ops.math.complex_parts import (
    conj as conj,
    imag as imag,
    real as real,
)
from weft.ops.math.division import (
    floordiv as floordiv,
    floormod as floormod,
    mod as mod,
)
from weft.ops.math.guarded import (
    divide_no_nan as divide_no_nan,
    multiply_no_nan as multiply_no_nan,
    reciprocal_no_nan as reciprocal_no_nan,
    squared_difference as squared_difference,
    xdivy as xdivy,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from weft.ops.math.incomplete import (
    betainc as betainc,
    igamma as igamma,
    igammac as igammac,
    lbeta as lbeta,
)
from weft.ops.math.special import (
    digamma as digamma,
    erfcinv as erfcinv,
    erfinv as erfinv,
    lgamma as lgamma,
    log_sigmoid as log_sigmoid,
    ndtri as ndtri,
    polygamma as polygamma,
    softplus as softplus,
    zeta as zeta,
)
from weft.ops.math.unary import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    log1p as log1p,
    reciprocal as reciprocal,
    rint as rint,
    round as round,
    rsqrt as rsqrt,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
)
from weft.ops.nn.activations import (
    softsign as softsign,
)
from weft.ops.nn.normalization import (
    zero_fraction as zero_fraction,
)
from weft.ops.nn.softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from weft.ops.random.sobol import (
    sobol_sample as sobol_sample,
)
from weft.ops.reduce.counting import (
    bincount as bincount,
    confusion_matrix as confusion_matrix,
)
from weft.ops.reduce.extrema import (
    reduce_max as reduce_max,
    reduce_min as reduce_min,
)
from weft.ops.reduce.logic import (
    count_nonzero as count_nonzero,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
)
from weft.ops.reduce.moments import (
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
)
from weft.ops.reduce.order import (
    argmax as argmax,
    argmin as argmin,
    top_k as top_k,
)
from weft.ops.reduce.products import (
    reduce_prod as reduce_prod,
)
from weft.ops.reduce.ranking import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
)
from weft.ops.reduce.scans import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from weft.ops.reduce.segments import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
)
from weft.ops.reduce.sums import (
    accumulate_n as accumulate_n,
    add_n as add_n,
    reduce_mean as reduce_mean,
    reduce_sum as reduce_sum,
)
from weft.ops.reduce.unsorted_segments import (
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
