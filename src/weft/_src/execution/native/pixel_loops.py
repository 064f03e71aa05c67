"""Machine code for pixels: rows of PNG files, colours of JPEG files. `media/` calls it.

Python's lock is not held while it runs: it reads and writes arrays that nobody else changes.
"""

from __future__ import annotations

import ctypes
import logging
from typing import Any

import numpy as np

from weft._src.execution.native.job_words import with_job
from weft._src.execution.native.loops.kernels import jpeg_colours, jpeg_scans, png_filters
from weft._src.execution.native.machine import llvm, support
from weft._src.execution.native.written_loops import with_loops

Array = np.ndarray[Any, Any]

_log = logging.getLogger("weft")

_STATUS = jpeg_scans.JOB.index("status")
# The samples of a JPEG file, and then its pixels: two jobs, one behind the other.
_FILE = f"""
define void @weft_jpeg_file(ptr %job) {{
entry:
call void @weft_jpeg_scan(ptr %job)
<i64 status>
%is.whole = icmp eq i64 %status, 0
br i1 %is.whole, label %whole, label %done
whole:
%second = getelementptr i64, ptr %job, i64 {len(jpeg_scans.JOB)}
call void @weft_jpeg_planes(ptr %second)
br label %done
done:
ret void
}}
"""


class PixelLoops:
    """Functions of machine code; the arrays are contiguous bytes of the sizes that are said."""

    def __init__(self, code: llvm.MachineCode) -> None:
        self._code = code  # lives as long as its functions
        prototype: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self._restore = {
            step: prototype(code.address(f"weft_png_rows_{step}")) for step in png_filters.STEPS
        }
        self._convert = {
            number: prototype(code.address(f"weft_jpeg_rows_{number}"))
            for number in jpeg_colours.BYTES
        }
        self._decode = prototype(code.address("weft_jpeg_file"))

    def restore_rows(self, filtered: Array, out: Array, start: int, stop: int, step: int) -> None:
        """Takes the filters off some rows of a PNG file; those before them are done.

        Args:
          filtered: [rows, 1 + n], each row with the number of its filter in front, 0 to 4.
          out: [rows, n].
          start: the first row.
          stop: the row after the last.
          step: bytes of a pixel, one of `png_filters.STEPS`.
        """
        rows, size = out.shape
        assert filtered.shape == (rows, size + 1), "rows of another size"
        assert size % step == 0, "a row that ends within a pixel"
        assert 0 <= start <= stop <= rows, "rows that are not there"
        nothing = np.zeros(size, np.uint8)  # stands above the first row
        self._run(self._restore[step], filtered, out, nothing, start, stop, size)

    def convert_rows(self, given: Array, out: Array, window: tuple[int, int], rule: Any) -> None:
        """YCbCr as RGB, with colours of half the width blended.

        Args:
          given: [height, width, 3 or 4], colours as they are at even columns (and rows); the fourth
            byte of a pixel means nothing.
          out: [height, width, 3].
          window: the first column, and the number of columns, that colours are known of.
          rule: how colours are blended: the numbers `jpeg_colours.RULE`.
        """
        height, width, channels = given.shape
        assert out.shape == (height, width, 3), "images of two sizes"
        first, count = window
        assert first % 2 == 0, "the first column is odd"
        assert 0 <= first < first + count <= width, "columns that are not there"
        samples = (count + 1) // 2
        rows = (height + rule[0]) >> rule[0]
        planes = np.empty((2, rows, samples + 2), np.uint8)
        room = np.empty(5 * samples + 2, np.int32)
        sizes = (height, width, first, count, samples)
        self._run(self._convert[channels], given, out, planes, room, *sizes, *rule)

    def decode_scan(self, data: bytes, start: int, layout: Any, out: Array, rule: Any) -> bool:
        """The pixels of a usual JPEG file, with colours of half the width, as RGB.

        Args:
          data: the file.
          start: where the compressed pixels begin.
          layout: its tables and sizes, a `media.jpeg_scans.Layout`.
          out: [height, width, 3].
          rule: how colours are blended: the numbers `jpeg_colours.RULE`.

        Returns:
          Whether that was all; if it is False, libjpeg is to read the file.
        """
        assert 0 <= start <= len(data), "pixels that are not there"
        assert out.shape == (layout.height, layout.width, 3), "images of two sizes"
        samples = (layout.width + 1) // 2
        room = np.empty(layout.size // 8 + 4 * samples + 2, np.int64)  # planes, then sums
        planes = _address(room)
        # The words of one job, then those of the other; the first one tells how it ended.
        words = (
            id(data) + support.LAYOUT["bytes data"], start, len(data), planes, *layout.addresses,
            len(layout.blocks), layout.across, layout.down, 1,
            planes, _address(out), planes + layout.blue, planes + layout.red, planes + layout.size,
            layout.height, layout.width, samples, layout.line, layout.wide, *rule,
        )  # fmt: skip
        job = (ctypes.c_int64 * len(words))(*words)
        self._decode(ctypes.addressof(job))
        return job[_STATUS] == 0

    @staticmethod
    def _run(function: Any, *words: Any) -> None:
        """Calls with addresses of arrays, and numbers."""
        numbers = [_address(word) if isinstance(word, np.ndarray) else word for word in words]
        job = np.array(numbers, np.int64)
        function(_address(job))


def _address(array: Array) -> int:
    assert array.flags.c_contiguous, "an array that is not contiguous"
    address: int = array.__array_interface__["data"][0]  # a third of the time of `ctypes.data`
    return address


def load() -> PixelLoops | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    texts = (
        (png_filters.ROWS, png_filters.JOB),
        (jpeg_colours.ROWS, jpeg_colours.JOB),
        (jpeg_colours.FROM_PLANES, jpeg_colours.PLANES),
        (with_loops(jpeg_scans.SCAN), jpeg_scans.JOB),
        (_FILE, jpeg_scans.JOB),
    )
    text = "".join([with_job(text, words) for text, words in texts])
    try:
        return PixelLoops(llvm.compile_text(text))
    except (OSError, RuntimeError) as error:  # of LLVM: NumPy is slower, and right
        _log.warning("Pixels are read without machine code: %s", error)
        return None
