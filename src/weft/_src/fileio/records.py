"""TFRecord files: records of bytes, each with its length and checksums of both.

A record is stored as its length (8 bytes), the masked CRC-32C of these, the bytes, and the masked
CRC-32C of the bytes. Whatever bit of that is wrong, reading says so, with the file and the offset.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, ClassVar

from weft._src.core.aliases import TensorLike
from weft._src.errors import DataLossError
from weft._src.fileio.crc32c import masked_crc32c, whole_records
from weft._src.fileio.paths import Closing, file_errors, path_text
from weft._src.fileio.snappy import SnappyStream
from weft._src.fileio.streams import CHUNK, InputStream, compression_name

_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_WORTH_LOOKING_AHEAD = 1 << 18  # bytes that were read; it takes compiled code


class RecordReader:
    """The records of a file, one after the other; `position` is that of the next one."""

    def __init__(self, path: str, compression: str = "", position: int = 0) -> None:
        what = "TFRecord file"
        self._stream = (
            SnappyStream(path, what)
            if compression == "SNAPPY"  # of snapshots only
            else InputStream(path, compression, what)
        )
        self._path = path
        self._buffer = b""
        self._at = 0
        self._ahead: list[bytes] = []  # records behind the buffer's place, the next one last
        self._seen = 0
        self.position = position
        if position:
            self._stream.skip(position)

    def read(self) -> bytes | None:
        """The next record, None at the end of the file."""
        if not self._ahead and self._seen >= _WORTH_LOOKING_AHEAD:
            self._look_ahead()
        record = self._ahead.pop() if self._ahead else self._read_one()
        if record is not None:
            self.position += len(record) + 16
            self._seen += len(record) + 16
        return record

    def _look_ahead(self) -> None:
        """Takes all whole records that are in memory; what is wrong with others is told later."""
        if len(self._buffer) - self._at < CHUNK // 4:
            self._buffer, self._at = self._buffer[self._at :] + self._stream.read(CHUNK), 0
        found = whole_records(self._buffer, self._at)
        self._at += sum([len(record) + 16 for record in found])
        self._ahead = found[::-1]

    def _read_one(self) -> bytes | None:
        header = self._take(12)
        if not header:
            return None
        if len(header) < 12:
            raise self._lost("is cut short in its header")
        length, crc = _HEADER.unpack(header)
        if masked_crc32c(header[:8]) != crc:
            raise self._lost("has a corrupt length: its checksum is wrong")
        body = self._take(length + 4)
        if len(body) < length + 4:
            raise self._lost(f"is cut short: {length} bytes were expected, {len(body)} are there")
        data = body[:length]
        if masked_crc32c(data) != _CRC.unpack_from(body, length)[0]:
            raise self._lost("is corrupt: the checksum of its data is wrong")
        return data

    def _take(self, n: int) -> bytes:
        at = self._at
        buffer = self._buffer
        if len(buffer) - at < n:
            rest = buffer[at:]
            buffer = self._buffer = rest + self._stream.read(max(CHUNK, n - len(rest)))
            at = 0
        self._at = min(at + n, len(buffer))
        return buffer[at : at + n]

    def _lost(self, text: str) -> DataLossError:
        return DataLossError(
            None, None, f"TFRecord file {self._path}: the record at offset {self.position} {text}."
        )

    def __iter__(self) -> Iterator[bytes]:
        while (record := self.read()) is not None:
            yield record

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()


def framed(record: bytes) -> bytes:
    """A record as a file holds it."""
    length = _LENGTH.pack(len(record))
    return b"".join([
        length, _CRC.pack(masked_crc32c(length)), record, _CRC.pack(masked_crc32c(record)),
    ])  # fmt: skip


class TFRecordOptions:
    """How a TFRecord file is written.

    >>> tf.io.TFRecordOptions(compression_type="GZIP").compression_type
    'GZIP'
    """

    def __init__(
        self,
        compression_type: str | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.compression_type = compression_name("TFRecordOptions", compression_type)
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    # By number, as TensorFlow 1 told them.
    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression.

        Args:
          options: `tf.io.TFRecordOptions`, a name, a number of `compression_type_map`, or None.

        Returns:
          "", "ZLIB" or "GZIP".

        Raises:
          ValueError: if there is no such compression.

        >>> tf.io.TFRecordOptions.get_compression_type_string("GZIP")
        'GZIP'
        """
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        return compression_name("TFRecordOptions", options)

    def compressor(self) -> Any:
        """What compresses; None for a plain file.

        Returns:
          A new `zlib` compressor with these options, or None.

        >>> tf.io.TFRecordOptions(compression_type="").compressor() is None
        True
        """
        if not self.compression_type:
            return None
        bits = self.window_bits or 15
        return zlib.compressobj(
            zlib.Z_DEFAULT_COMPRESSION if self.compression_level is None
            else self.compression_level,
            zlib.DEFLATED if self.compression_method is None else self.compression_method,
            bits + 16 if self.compression_type == "GZIP" else bits,
            zlib.DEF_MEM_LEVEL if self.mem_level is None else self.mem_level,
            zlib.Z_DEFAULT_STRATEGY if self.compression_strategy is None
            else self.compression_strategy,
        )  # fmt: skip


class TFRecordWriter(Closing):
    """Writes records to a file; to be used in a `with` statement.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as file:
    ...     for i in range(3):
    ...         file.write(f"number {i}")
    >>> [record.numpy() for record in tf.data.TFRecordDataset(path)]
    [b'number 0', b'number 1', b'number 2']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        self._path = path_text("TFRecordWriter", path)
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._compressor = options.compressor()
        with file_errors("TFRecordWriter", self._path):
            self._file = open(self._path, "wb")  # noqa: SIM115 - closed by close()

    def write(self, record: TensorLike) -> None:
        """Adds a record: bytes, or text, which is encoded as UTF-8.

        Args:
          record: bytes, text or a scalar string tensor.

        Raises:
          TypeError: if it is something else.
          tf.errors.OpError: of the class that fits, if the file cannot be written.
        """
        if isinstance(record, str):
            record = record.encode()
        elif isinstance(record, (bytearray, memoryview)):
            record = bytes(record)
        elif hasattr(record, "numpy"):
            record = record.numpy()
        if not isinstance(record, bytes):
            raise TypeError(
                f"TFRecordWriter.write: record must be bytes, got {record!r} of type "
                f"{type(record).__name__}. Serialize it first, with SerializeToString()."
            )
        data = framed(record)
        with file_errors("TFRecordWriter", self._path):
            self._file.write(data if self._compressor is None else self._compressor.compress(data))

    def flush(self) -> None:
        """Hands everything to the operating system."""
        with file_errors("TFRecordWriter", self._path):
            if self._compressor is not None:
                self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        """Completes the file; further writes are an error."""
        if self._file.closed:
            return
        with file_errors("TFRecordWriter", self._path):
            if self._compressor is not None:
                self._file.write(self._compressor.flush(zlib.Z_FINISH))
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # opening it may have failed
            self.close()
