"""Bytes objects measured, hashed, and copied into one run of bytes and back, as LLVM IR.

In the text `<ptr name>` loads a word of the job (see `ops/strings/packed.py`). Strings from "at" to
"stop" are treated; "status" tells how it ended. Python's lock is held all the time.
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels.fingerprinting import FINGERPRINTS
from weft._src.execution.native.loops.kernels.string_hashing import HASHES

# The sizes of the strings.
_MEASURE = """
define internal i64 @measure_one(ptr %job, i64 %k) alwaysinline {
entry:
<ptr sizes>
%data = call ptr @look(ptr %job, i64 %k)
%is.bytes = icmp ne ptr %data, null
br i1 %is.bytes, label %measured, label %other
measured:
%size = call i64 @size_of(ptr %job, i64 %k)
%out.p = getelementptr i64, ptr %sizes, i64 %k
store i64 %size, ptr %out.p
ret i64 0
other:
ret i64 1
}
"""

# The strings, each to its place, if they still have the sizes that were measured.
_PACK = """
define internal i64 @pack_one(ptr %job, i64 %k) alwaysinline {
entry:
<ptr sizes>
<ptr starts>
<ptr data>
%from = call ptr @look(ptr %job, i64 %k)
%is.bytes = icmp ne ptr %from, null
br i1 %is.bytes, label %measure, label %other
measure:
%size = call i64 @size_of(ptr %job, i64 %k)
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

# New bytes objects in the place of what is in the array of objects. Nothing outside of the data is
# read, whatever places and sizes say.
_UNPACK = """
define internal i64 @unpack_one(ptr %job, i64 %k) alwaysinline {
entry:
<ptr sizes>
<ptr starts>
<ptr data>
<i64 room>
%size.p = getelementptr i64, ptr %sizes, i64 %k
%size = load i64, ptr %size.p
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%fits = call i1 @fits(i64 %start, i64 %size, i64 %room)
br i1 %fits, label %make, label %other
make:
%from = getelementptr i8, ptr %data, i64 %start
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
other:
ret i64 1
}
"""

# Pieces of one run of bytes to their places in another; both are checked.
_MOVE = """
define internal i64 @move_one(ptr %job, i64 %k) alwaysinline {
entry:
<ptr sizes>
<ptr starts>
<ptr data>
<i64 room>
<ptr targets>
<ptr target>
<i64 target room>
%size.p = getelementptr i64, ptr %sizes, i64 %k
%size = load i64, ptr %size.p
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%target.p2 = getelementptr i64, ptr %targets, i64 %k
%place = load i64, ptr %target.p2
%fits.here = call i1 @fits(i64 %start, i64 %size, i64 %room)
%fits.there = call i1 @fits(i64 %place, i64 %size, i64 %target.room)
%fits = and i1 %fits.here, %fits.there
br i1 %fits, label %copy, label %other
copy:
%from = getelementptr i8, ptr %data, i64 %start
%to = getelementptr i8, ptr %target, i64 %place
call void @copy(ptr %to, ptr %from, i64 %size)
ret i64 0
other:
ret i64 1
}
"""

NAMES = ("measure", "pack", "unpack", "move", "fingerprint", "murmur", "siphash")
TEXT = _MEASURE + _PACK + _UNPACK + _MOVE + FINGERPRINTS + HASHES
