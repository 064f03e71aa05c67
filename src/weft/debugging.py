"""`tf.debugging`: assertions about values, shapes and types."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.host.asserting import (
    Assert as Assert,
)
from weft.ops.host.comparing import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
)
from weft.ops.host.numerics import (
    assert_all_finite as assert_all_finite,
    check_numerics as check_numerics,
    disable_check_numerics as disable_check_numerics,
    enable_check_numerics as enable_check_numerics,
)
from weft.ops.host.rank_checks import (
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
)
from weft.ops.host.shape_checks import (
    assert_shapes as assert_shapes,
)
from weft.ops.host.tracebacks import (
    disable_traceback_filtering as disable_traceback_filtering,
    enable_traceback_filtering as enable_traceback_filtering,
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)
from weft.ops.host.type_checks import (
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_type as assert_type,
    is_numeric_tensor as is_numeric_tensor,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
