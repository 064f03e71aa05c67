"""Bytes objects measured, hashed, and copied into one run of bytes and back, as LLVM IR.

In the text `<ptr name>` loads a word of the job (see `ops/strings/packed.py`). Strings from "at" to
"stop" are treated; "status" tells how it ended. Python's lock is held all the time.
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels.fingerprinting import FINGERPRINTS
from weft._src.execution.native.loops.kernels.string_hashing import HASHES

# Where the bytes of string %k are, null if it is no bytes object; and how many there are.
_LOOK = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @look(ptr %job, i64 %k) alwaysinline {
entry:
<ptr objects>
<ptr bytes type>
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%type.p = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.p
%is.bytes = icmp eq ptr %type, %bytes.type
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
%out = select i1 %is.bytes, ptr %data, ptr null
ret ptr %out
}

define internal i64 @size_of(ptr %job, i64 %k) alwaysinline {
<ptr objects>
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
ret i64 %size
}

; Whether a piece lies within so many bytes, whatever its place and size say.
define internal i1 @fits(i64 %start, i64 %size, i64 %room) alwaysinline {
%size.fits = icmp ule i64 %size, %room
%last = sub i64 %room, %size
%start.fits = icmp ule i64 %start, %last
%fits = and i1 %size.fits, %start.fits
ret i1 %fits
}
"""

# Calls @one for each string, which says by 0 that it went well.
_LOOP = """
define void @weft_{name}(ptr %job) {{
entry:
<i64 at>
<i64 stop>
br label %next
next:
%k = phi i64 [%at, %entry], [%k.next, %fine]
%more = icmp slt i64 %k, %stop
br i1 %more, label %one, label %done
one:
%status = call i64 @{name}_one(ptr %job, i64 %k)
%is.fine = icmp eq i64 %status, 0
br i1 %is.fine, label %fine, label %failed
fine:
%k.next = add i64 %k, 1
br label %next
failed:
%status.p = getelementptr i64, ptr %job, i64 <word status>
store i64 %status, ptr %status.p
br label %done
done:
ret void
}}
"""

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
call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
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
<ptr objects>
<ptr sizes>
<ptr starts>
<ptr data>
<i64 room>
<ptr new bytes>
<ptr decref>
%size.p = getelementptr i64, ptr %sizes, i64 %k
%size = load i64, ptr %size.p
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%fits = call i1 @fits(i64 %start, i64 %size, i64 %room)
br i1 %fits, label %make, label %other
make:
%from = getelementptr i8, ptr %data, i64 %start
%made = call ptr %new.bytes(ptr %from, i64 %size)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %keep, label %full
keep:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%old = load ptr, ptr %object.p
store ptr %made, ptr %object.p
call void %decref(ptr %old)
ret i64 0
other:
ret i64 1
full:
ret i64 2
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
call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
ret i64 0
other:
ret i64 1
}
"""

# The number that a piece spells in plain decimals, without its point: at most 18 digits. "targets"
# gets 0 for a whole number, one more than the digits behind a point, or -1 for what is no such.
_PARSE = """
define internal i64 @parse_one(ptr %job, i64 %k) alwaysinline {
entry:
<ptr sizes>
<ptr starts>
<ptr data>
<i64 room>
<ptr targets>
<ptr out>
%size.p = getelementptr i64, ptr %sizes, i64 %k
%size = load i64, ptr %size.p
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%point.p = getelementptr i64, ptr %targets, i64 %k
%out.p2 = getelementptr i64, ptr %out, i64 %k
%fits = call i1 @fits(i64 %start, i64 %size, i64 %room)
br i1 %fits, label %begin, label %outside
begin:
%text = getelementptr i8, ptr %data, i64 %start
%is.some = icmp sgt i64 %size, 0
br i1 %is.some, label %sign, label %other
sign:
%front = load i8, ptr %text
%is.minus = icmp eq i8 %front, 45
%is.plus = icmp eq i8 %front, 43
%is.sign = or i1 %is.minus, %is.plus
%from = zext i1 %is.sign to i64
br label %next
next:
%i = phi i64 [%from, %sign], [%i.next, %digit], [%i.next, %point]
%value = phi i64 [0, %sign], [%value.next, %digit], [%value, %point]
%digits = phi i64 [0, %sign], [%digits.next, %digit], [%digits, %point]
%behind = phi i64 [0, %sign], [%behind.next, %digit], [1, %point]
%is.more = icmp slt i64 %i, %size
br i1 %is.more, label %look, label %done
look:
%byte.p = getelementptr i8, ptr %text, i64 %i
%byte = load i8, ptr %byte.p
%i.next = add i64 %i, 1
%number = sub i8 %byte, 48
%is.digit = icmp ule i8 %number, 9
br i1 %is.digit, label %room.left, label %no.digit
room.left:
%is.few = icmp slt i64 %digits, 18
br i1 %is.few, label %digit, label %other
digit:
%wide = zext i8 %number to i64
%tenfold = mul i64 %value, 10
%value.next = add i64 %tenfold, %wide
%digits.next = add i64 %digits, 1
%has.point = icmp sgt i64 %behind, 0
%step = zext i1 %has.point to i64
%behind.next = add i64 %behind, %step
br label %next
no.digit:
%is.point = icmp eq i8 %byte, 46
%is.first = icmp eq i64 %behind, 0
%is.fine = and i1 %is.point, %is.first
br i1 %is.fine, label %point, label %other
point:
br label %next
done:
%has.digits = icmp sgt i64 %digits, 0
br i1 %has.digits, label %write, label %other
write:
%negative = sub i64 0, %value
%signed = select i1 %is.minus, i64 %negative, i64 %value
store i64 %signed, ptr %out.p2
store i64 %behind, ptr %point.p
ret i64 0
other:
store i64 0, ptr %out.p2
store i64 -1, ptr %point.p
ret i64 0
outside:
ret i64 1
}
"""

_NAMES = ("measure", "pack", "unpack", "move", "fingerprint", "murmur", "siphash", "parse")
TEXT = "\n".join(
    [
        *[_LOOK, _MEASURE, _PACK, _UNPACK, _MOVE, _PARSE, FINGERPRINTS, HASHES],
        *[_LOOP.format(name=name) for name in _NAMES],
    ]
)
