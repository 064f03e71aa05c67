"""Bytes objects read and made, as LLVM IR: what all functions for strings have in common.

In the text `<ptr name>` loads a word of the job (see `ops/strings/packed.py`). Python's lock is
held all the time.
"""

from __future__ import annotations

from typing import Any

from weft._src.ops.strings.packed import HELD

# Where the bytes of an object are, null if it is no bytes object; and how many there are.
LOOK = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @text_of(ptr %job, ptr %object) alwaysinline {
entry:
<ptr bytes type>
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %none
ask:
%type.p = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.p
%is.bytes = icmp eq ptr %type, %bytes.type
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
%out = select i1 %is.bytes, ptr %data, ptr null
ret ptr %out
none:
ret ptr null
}

define internal i64 @object_size(ptr %object) alwaysinline {
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
ret i64 %size
}

define internal ptr @object_at(ptr %job, i64 %k) alwaysinline {
<ptr objects>
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
ret ptr %object
}

define internal ptr @look(ptr %job, i64 %k) alwaysinline {
%object = call ptr @object_at(ptr %job, i64 %k)
%data = call ptr @text_of(ptr %job, ptr %object)
ret ptr %data
}

define internal i64 @size_of(ptr %job, i64 %k) alwaysinline {
%object = call ptr @object_at(ptr %job, i64 %k)
%size = call i64 @object_size(ptr %object)
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


def _copy_ends(name: str, kind: str, size: int) -> str:
    """Copies a first and a last word, which may overlap: so many bytes, or up to twice as many."""
    return f"""
{name}:
%{name}.back = sub i64 %n, {size}
%{name}.from = getelementptr i8, ptr %from, i64 %{name}.back
%{name}.to = getelementptr i8, ptr %to, i64 %{name}.back
%{name}.first = load {kind}, ptr %from, align 1
%{name}.last = load {kind}, ptr %{name}.from, align 1
store {kind} %{name}.first, ptr %to, align 1
store {kind} %{name}.last, ptr %{name}.to, align 1
ret void
"""


# Copies bytes; few of them without calling the C library, which would take as long as all else.
COPY = f"""
define internal void @copy(ptr %to, ptr %from, i64 %n) alwaysinline {{
entry:
%is.word = icmp uge i64 %n, 8
br i1 %is.word, label %words, label %less
words:
%is.two = icmp ule i64 %n, 16
br i1 %is.two, label %eight, label %more
more:
%is.four = icmp ule i64 %n, 32
br i1 %is.four, label %sixteen, label %many
many:
call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
ret void
less:
%is.half = icmp uge i64 %n, 4
br i1 %is.half, label %four, label %few
few:
%is.pair = icmp uge i64 %n, 2
br i1 %is.pair, label %two, label %last
last:
%is.one = icmp eq i64 %n, 1
br i1 %is.one, label %one, label %none
one:
%byte = load i8, ptr %from
store i8 %byte, ptr %to
ret void
none:
ret void
{_copy_ends("sixteen", "<16 x i8>", 16)}
{_copy_ends("eight", "i64", 8)}
{_copy_ends("four", "i32", 4)}
{_copy_ends("two", "i16", 2)}
}}
"""

_SMALL = 512  # bytes of the largest object for which Python has arenas
_ARENA = 20  # bits of addresses within one: it is a mebibyte

# Objects that are made. `@new_string` leaves the bytes to its caller; null if there is no memory.
# Where "allocate" is given, it fills in the head of an object itself, which saves a sixth of the
# time; an empty string is Python's own.
#
# Python gives an arena back to the system when its last object is gone. The next result of as many
# strings would fetch it again, and the system would clear every page: more than half of all the
# time. So one block in each of the first arenas that are met is never given back (`@hold`); Python
# uses the rest of it for whatever it likes.
MAKE = f"""
define internal ptr @new_string(ptr %job, i64 %size) alwaysinline {{
entry:
<ptr allocate>
<ptr bytes type>
<ptr new bytes>
%may = icmp ne ptr %allocate, null
%less = sub i64 %size, 1
%is.short = icmp ult i64 %less, {_SMALL}
%by.hand = and i1 %may, %is.short
br i1 %by.hand, label %hand, label %python
hand:
%whole = add i64 %size, <offset bytes data>
%room = add i64 %whole, 1
%made = call ptr %allocate(i64 %room)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %head, label %none
head:
store i64 1, ptr %made
%type.p = getelementptr i8, ptr %made, i64 <offset type>
store ptr %bytes.type, ptr %type.p
%size.p = getelementptr i8, ptr %made, i64 <offset bytes size>
store i64 %size, ptr %size.p
%hash.p = getelementptr i8, ptr %made, i64 <offset bytes hash>
store i64 -1, ptr %hash.p
%data = getelementptr i8, ptr %made, i64 <offset bytes data>
%end = getelementptr i8, ptr %data, i64 %size
store i8 0, ptr %end
ret ptr %made
python:
%other = call ptr %new.bytes(ptr null, i64 %size)
ret ptr %other
none:
ret ptr null
}}

; A string of these bytes. Python has those of one byte already.
define internal ptr @string_of(ptr %job, ptr %from, i64 %size) alwaysinline {{
entry:
<ptr new bytes>
%is.letter = icmp eq i64 %size, 1
br i1 %is.letter, label %letter, label %make
letter:
%known = call ptr %new.bytes(ptr %from, i64 1)
ret ptr %known
make:
%made = call ptr @new_string(ptr %job, i64 %size)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %fill, label %none
fill:
%to = getelementptr i8, ptr %made, i64 <offset bytes data>
call void @copy(ptr %to, ptr %from, i64 %size)
ret ptr %made
none:
ret ptr null
}}

; Puts an object in its place, and gives back what was there; 2 if it could not be made.
define internal i64 @keep(ptr %job, i64 %k, ptr %object) alwaysinline {{
entry:
<ptr made>
<ptr decref>
<i64 region>
%is.made = icmp ne ptr %object, null
br i1 %is.made, label %put, label %full
put:
%place = getelementptr ptr, ptr %made, i64 %k
%old = load ptr, ptr %place
store ptr %object, ptr %place
%was.some = icmp ne ptr %old, null
br i1 %was.some, label %give.back, label %arena
give.back:
call void %decref(ptr %old)
br label %arena
arena:
%address = ptrtoint ptr %object to i64
%here = lshr i64 %address, {_ARENA}
%is.same = icmp eq i64 %here, %region
br i1 %is.same, label %done, label %new
new:
call void @hold(ptr %job, ptr %object, i64 %here)
br label %done
done:
ret i64 0
full:
ret i64 2
}}

; The string that is there already, once more.
define internal i64 @keep_same(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr made>
<ptr decref>
<ptr incref>
%object = call ptr @object_at(ptr %job, i64 %k)
call void %incref(ptr %object)
%place = getelementptr ptr, ptr %made, i64 %k
%old = load ptr, ptr %place
store ptr %object, ptr %place
%was.some = icmp ne ptr %old, null
br i1 %was.some, label %give.back, label %done
give.back:
call void %decref(ptr %old)
br label %done
done:
ret i64 0
}}

define internal void @hold(ptr %job, ptr %object, i64 %here) noinline {{
entry:
<ptr held>
<ptr allocate>
%region.p = getelementptr i64, ptr %job, i64 <word region>
store i64 %here, ptr %region.p
%may = icmp ne ptr %allocate, null
%size = call i64 @object_size(ptr %object)
%whole = add i64 %size, <offset bytes data>
%room = add i64 %whole, 1
%is.small = icmp ule i64 %room, {_SMALL}
%wanted = and i1 %may, %is.small
br i1 %wanted, label %look, label %done
look:
%number = and i64 %here, {HELD - 1}
%place = getelementptr ptr, ptr %held, i64 %number
%block = load ptr, ptr %place
%is.free = icmp eq ptr %block, null
br i1 %is.free, label %take, label %done
take:
; Of the same size, so most likely from the same arena.
%taken = call ptr %allocate(i64 %room)
store ptr %taken, ptr %place
br label %done
done:
ret void
}}
"""

# What is done with each string is one of three. @<name>_of is given the bytes of an object, or
# those of a piece of "data": "sizes" of them from "starts" on. @<name>_one finds all for itself.
# Each says by 0 that it went well; 1 is an object that is no bytes, or a piece outside of the data.
_OF_STRING = """
define internal i64 @{name}_one(ptr %job, i64 %k) alwaysinline {{
entry:
%text = call ptr @look(ptr %job, i64 %k)
%is.bytes = icmp ne ptr %text, null
br i1 %is.bytes, label %do, label %other
do:
%size = call i64 @size_of(ptr %job, i64 %k)
%status = call i64 @{name}_of(ptr %job, i64 %k, ptr %text, i64 %size)
ret i64 %status
other:
ret i64 1
}}
"""

_OF_PIECE = """
define internal i64 @{name}_one(ptr %job, i64 %k) alwaysinline {{
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
br i1 %fits, label %do, label %other
do:
%text = getelementptr i8, ptr %data, i64 %start
%status = call i64 @{name}_of(ptr %job, i64 %k, ptr %text, i64 %size)
ret i64 %status
other:
ret i64 1
}}
"""

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


def functions(kernels: Any) -> tuple[list[str], str]:
    """The names of the functions of a module of kernels, and all of its text."""
    strings, pieces, others = [
        getattr(kernels, names, ()) for names in ("OF_STRINGS", "OF_PIECES", "OTHERS")
    ]
    names = [*strings, *pieces, *others]
    ways = [_OF_STRING.format(name=name) for name in strings]
    ways += [_OF_PIECE.format(name=name) for name in pieces]
    return names, "".join([kernels.TEXT, *ways, *[_LOOP.format(name=name) for name in names]])
