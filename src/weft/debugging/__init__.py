"""`tf.debugging`: assertions about values, shapes and types."""

from weft._src.config.policies import get_log_device_placement, set_log_device_placement
from weft._src.ops.host.asserting import Assert
from weft._src.ops.host.comparing import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
)
from weft._src.ops.host.numerics import (
    assert_all_finite,
    check_numerics,
    disable_check_numerics,
    enable_check_numerics,
)
from weft._src.ops.host.rank_checks import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
)
from weft._src.ops.host.shape_checks import assert_shapes
from weft._src.ops.host.tracebacks import (
    disable_traceback_filtering,
    enable_traceback_filtering,
    is_traceback_filtering_enabled,
)
from weft._src.ops.host.type_checks import (
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.debugging import experimental

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "disable_check_numerics",
    "disable_traceback_filtering",
    "enable_check_numerics",
    "enable_traceback_filtering",
    "experimental",
    "get_log_device_placement",
    "is_numeric_tensor",
    "is_traceback_filtering_enabled",
    "set_log_device_placement",
]

_open_namespace(__name__)
