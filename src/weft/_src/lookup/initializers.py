"""What static tables get their content from: tensors, or a text file."""

from __future__ import annotations

import os
from typing import Any

from weft._src.core.aliases import DTypeLike, IntLike, TensorLike
from weft._src.core.context import init_scope
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, as_dtype, int64
from weft._src.core.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.errors import DTypeError
from weft._src.fileio.assets import Asset
from weft._src.fileio.paths import path_text
from weft._src.lookup.ops import import_op
from weft._src.lookup.text_files import LINE_NUMBER, WHOLE_LINE, initialize_from_file_op
from weft._src.ops.static import static_int, static_value
from weft._src.ops.strings.elements import text_argument
from weft._src.state.tracking import Trackable


def known_now(what: str, value: TensorLike, dtype: DTypeLike | None = None) -> EagerTensor:
    """A tensor that has a value, also while a function is traced: a table is made once."""
    if isinstance(value, SymbolicTensor):
        known, wanted = static_value(value), value.dtype
        if known is None:
            raise ValueError(
                f"{what} must be known while tracing, got {value!r}. Make the table outside of the "
                "function, or insert into a tf.lookup.experimental.MutableHashTable."
            )
        with init_scope():
            value = convert_to_tensor(known, wanted)
    with init_scope():
        out: Any = convert_to_tensor(value, dtype)
    if not isinstance(out, Tensor):
        raise DTypeError(f"{what} must be a tensor, got {type(out).__name__}.")
    return out  # type: ignore[return-value]


class TableInitializer:
    """Base of what gives a static table its content."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    def _check(self, table: Any) -> None:
        wanted, got = (self.key_dtype, self.value_dtype), (table.key_dtype, table.value_dtype)
        if wanted != got:
            raise DTypeError(
                f"{type(self).__name__}: the table goes from {got[0].name} to {got[1].name}, and "
                f"this is from {wanted[0].name} to {wanted[1].name}."
            )


class KeyValueTensorInitializer(TableInitializer):
    """Keys and values as tensors of one shape.

    A key may come more than once, with one value.

    >>> init = tf.lookup.KeyValueTensorInitializer(["emerson", "lake"], [1, 2])
    >>> tf.lookup.StaticHashTable(init, default_value=-1)[["lake", "palmer"]].numpy()
    array([ 2, -1], dtype=int32)
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        self._keys = known_now("KeyValueTensorInitializer: keys", keys, key_dtype)
        self._values = known_now("KeyValueTensorInitializer: values", values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> None:
        """Gives a table its content; nothing happens if it has just this.

        Args:
          table: a static table.

        Raises:
          DTypeError: if the table has other dtypes.
          ShapeError: if there are not as many values as keys.
          tf.errors.FailedPreconditionError: if a key comes with two values, or the table has
            another content.
        """
        self._check(table)
        import_op(table.resource_handle, self._keys, self._values, key_shape=(), value_shape=())


class TextFileIndex:
    """What `TextFileInitializer` may take of a line beside the number of a column.

    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TextFileInitializer(TableInitializer, Trackable):
    r"""Keys and values out of the lines of a text file.

    A key or value is a column of the line, counted from 0, or one of `tf.lookup.TextFileIndex`: the
    whole line, or the number of the line, also counted from 0. Lines end with a line feed, with or
    without a carriage return; none may be empty.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "vocabulary.txt")
    >>> tf.io.write_file(path, "emerson 10\nlake 20\npalmer 30\n")
    >>> init = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, delimiter=" ")
    >>> tf.lookup.StaticHashTable(init, default_value=-1)[["palmer", "king"]].numpy()
    array([30, -1])
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: DTypeLike,
        key_index: IntLike,
        value_dtype: DTypeLike,
        value_index: IntLike,
        vocab_size: IntLike | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: IntLike = 0,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        op = "TextFileInitializer"
        self._path = path_text(op, filename)
        if not self._path:
            raise ValueError(f"{op}: filename must name a file, got {filename!r}.")
        self._key_index = static_int(op, key_index, "key_index")
        self._value_index = static_int(op, value_index, "value_index")
        for what, index, dtype in (
            ("key", self._key_index, self.key_dtype),
            ("value", self._value_index, self.value_dtype),
        ):
            if index < WHOLE_LINE:
                raise ValueError(
                    f"{op}: {what}_index must be a column, or one of tf.lookup.TextFileIndex, got "
                    f"{index}."
                )
            if index == LINE_NUMBER and dtype is not int64:
                raise DTypeError(
                    f"{op}: {what}_dtype must be int64 for line numbers, got {dtype.name}."
                )
        self._count = -1 if vocab_size is None else static_int(op, vocab_size, "vocab_size")
        if vocab_size is not None and self._count < 1:
            raise ValueError(f"{op}: vocab_size must be at least 1, got {self._count}.")
        self._delimiter = text_argument(op, delimiter, "delimiter").encode()
        self._offset = static_int(op, value_index_offset, "value_index_offset")
        self.asset = Asset(self._path)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_filename": self.asset}

    @property
    def form(self) -> dict[str, Any]:
        """What lines mean, as attributes of the op that reads them."""
        return {
            "key_index": self._key_index,
            "value_index": self._value_index,
            "vocab_size": self._count,
            "delimiter": self._delimiter,
            "offset": self._offset,
        }

    def initialize(self, table: Any) -> None:
        """Reads the file and gives a table its content; nothing happens if it has just this.

        Args:
          table: a static table.

        Raises:
          DTypeError: if the table has other dtypes.
          tf.errors.NotFoundError: if there is no such file; other errors of the system have their
            own class.
          tf.errors.InvalidArgumentError: if the file is empty, a line is empty or has too few
            columns, a number cannot be read, there are fewer lines than `vocab_size`, or the
            delimiter is not one byte.
          tf.errors.FailedPreconditionError: if a key comes with two values, or the table has
            another content.
        """
        self._check(table)
        initialize_from_file_op(
            table.resource_handle,
            known_now("TextFileInitializer: filename", os.fsencode(self._path)),
            **self.form,
        )
