"""Bytes objects measured, hashed, and copied into one run of bytes and back, as LLVM IR.

In the text `<ptr name>` loads a word of the job (see `ops/strings/packed.py`). Strings from "at" to
"stop" are treated; "status" tells how it ended. Python's lock is held all the time.
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels.fingerprinting import FINGERPRINTS
from weft._src.execution.native.loops.kernels.string_hashing import HASHES

# The sizes of the strings.
_MEASURE = """
define internal i64 @measure_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
<ptr sizes>
%out.p = getelementptr i64, ptr %sizes, i64 %k
store i64 %size, ptr %out.p
ret i64 0
}
"""

# The strings, each to its place, if they still have the sizes that were measured.
_PACK = """
define internal i64 @pack_of(ptr %job, i64 %k, ptr %from, i64 %size) alwaysinline {
entry:
<ptr sizes>
<ptr starts>
<ptr data>
%measured.p = getelementptr i64, ptr %sizes, i64 %k
%measured = load i64, ptr %measured.p
%is.same = icmp eq i64 %size, %measured
br i1 %is.same, label %copy, label %other
copy:
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%to = getelementptr i8, ptr %data, i64 %start
call void @copy(ptr %to, ptr %from, i64 %size)
ret i64 0
other:
ret i64 1
}
"""

# New bytes objects from pieces of a run of bytes.
_UNPACK = """
define internal i64 @unpack_of(ptr %job, i64 %k, ptr %from, i64 %size) alwaysinline {
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
}
"""

# Pieces of one run of bytes to their places in another; both are checked.
_MOVE = """
define internal i64 @move_of(ptr %job, i64 %k, ptr %from, i64 %size) alwaysinline {
entry:
<ptr targets>
<ptr target>
<i64 target room>
%place.p = getelementptr i64, ptr %targets, i64 %k
%place = load i64, ptr %place.p
%fits = call i1 @fits(i64 %place, i64 %size, i64 %target.room)
br i1 %fits, label %copy, label %other
copy:
%to = getelementptr i8, ptr %target, i64 %place
call void @copy(ptr %to, ptr %from, i64 %size)
ret i64 0
other:
ret i64 1
}
"""

OF_STRINGS = ("measure", "pack", "fingerprint", "murmur", "siphash")
OF_PIECES = ("unpack", "move")
TEXT = _MEASURE + _PACK + _UNPACK + _MOVE + FINGERPRINTS + HASHES
