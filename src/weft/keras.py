"""`tf.keras`: Keras 3 itself, bound to Weft; it needs `pip install 'weft[keras]'`.

This module becomes the one that Keras offers under this name, so `import weft.keras.layers` and
`from weft.keras.layers import Dense` work as well.
"""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from weft._src.keras.binding import as_in_tensorflow as _as_in_tensorflow

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...


_sys.modules[__name__] = _as_in_tensorflow()
