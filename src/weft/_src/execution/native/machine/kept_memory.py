"""The memory of large results, which is kept for the next ones when an array is gone.

The system gives back pages at once that large arrays have used, and clears new ones when they are
first touched: for results of some megabytes that takes as long as computing them. NumPy lets arrays
have an allocator of their own. This one keeps the last blocks that were freed, up to a limit, for
arrays of exactly the same size, as training steps ask for them again and again. New blocks begin
where lines of caches do, and large ones where large pages do.

Only results of machine code have it, since only the call that makes them sets it. All of it runs
with Python's global lock held, as NumPy makes and frees arrays.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from weft._src.execution.native.machine import llvm
from weft._src.execution.native.machine.builder import filled
from weft._src.execution.native.machine.support import array_functions

LEAST = 1 << 18  # bytes; the C library keeps smaller blocks itself
_BLOCKS = 32
_MOST, _PART = 1 << 28, 16  # bytes that are kept, and no more than this part of all memory
_HUGE = 1 << 21  # bytes of a large page
_ADVICE = 14  # MADV_HUGEPAGE
_SET_HANDLER = 304  # in NumPy's table of functions: PyDataMem_SetHandler

_TEXT = """
@blocks = internal global [<count> x ptr] zeroinitializer
@sizes = internal global [<count> x i64] zeroinitializer
@next = internal global i64 0
@kept = internal global i64 0
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @aligned_alloc(i64, i64)
declare i32 @madvise(ptr, i64, i32)
declare void @free(ptr)

; Frees the block at a place, if there is one.
define internal void @drop(i64 %i) {
%block.p = getelementptr ptr, ptr @blocks, i64 %i
%size.p = getelementptr i64, ptr @sizes, i64 %i
%block = load ptr, ptr %block.p
%size = load i64, ptr %size.p
%kept = load i64, ptr @kept
%less = sub i64 %kept, %size
store i64 %less, ptr @kept
store i64 0, ptr %size.p
store ptr null, ptr %block.p
call void @free(ptr %block)
ret void
}

define internal void @drop_all() {
entry:
br label %each
each:
%i = phi i64 [0, %entry], [%i.next, %each]
call void @drop(i64 %i)
%i.next = add i64 %i, 1
%more = icmp ult i64 %i.next, <count>
br i1 %more, label %each, label %done
done:
ret void
}

define internal ptr @fresh(i64 %size) {
entry:
%is.huge = icmp uge i64 %size, <huge twice>
%alignment = select i1 %is.huge, i64 <huge>, i64 64
%part = sub i64 %alignment, 1
%sum = add i64 %size, %part
%mask = xor i64 %part, -1
%whole = and i64 %sum, %mask
%block = call ptr @aligned_alloc(i64 %alignment, i64 %whole)
%is.there = icmp ne ptr %block, null
%both = and i1 %is.huge, %is.there
br i1 %both, label %advise, label %done
advise:
call i32 @madvise(ptr %block, i64 %whole, i32 <advice>)
br label %done
done:
ret ptr %block
}

define ptr @weft_kept_malloc(ptr %context, i64 %size) {
entry:
%is.small = icmp ult i64 %size, <least>
br i1 %is.small, label %small, label %look
small:
%plain = call ptr @malloc(i64 %size)
ret ptr %plain
look:
%i = phi i64 [0, %entry], [%i.next, %other]
%size.p = getelementptr i64, ptr @sizes, i64 %i
%here = load i64, ptr %size.p
%fits = icmp eq i64 %here, %size
br i1 %fits, label %take, label %other
take:
%block.p = getelementptr ptr, ptr @blocks, i64 %i
%block = load ptr, ptr %block.p
store ptr null, ptr %block.p
store i64 0, ptr %size.p
%kept = load i64, ptr @kept
%less = sub i64 %kept, %size
store i64 %less, ptr @kept
ret ptr %block
other:
%i.next = add i64 %i, 1
%more = icmp ult i64 %i.next, <count>
br i1 %more, label %look, label %new
new:
%first = call ptr @fresh(i64 %size)
%is.there = icmp ne ptr %first, null
br i1 %is.there, label %done, label %tidy
tidy:
call void @drop_all()
%second = call ptr @fresh(i64 %size)
ret ptr %second
done:
ret ptr %first
}

define ptr @weft_kept_calloc(ptr %context, i64 %count, i64 %size) {
%block = call ptr @calloc(i64 %count, i64 %size)
ret ptr %block
}

define ptr @weft_kept_realloc(ptr %context, ptr %block, i64 %size) {
%other = call ptr @realloc(ptr %block, i64 %size)
ret ptr %other
}

define void @weft_kept_free(ptr %context, ptr %block, i64 %size) {
entry:
%is.small = icmp ult i64 %size, <least>
%is.large = icmp ugt i64 %size, <most>
%is.null = icmp eq ptr %block, null
%either = or i1 %is.small, %is.large
%any = or i1 %either, %is.null
br i1 %any, label %release, label %room
release:
call void @free(ptr %block)
ret void
room:
; The oldest goes, and more of the oldest as long as there is too much.
%at = load i64, ptr @next
call void @drop(i64 %at)
%at.more = add i64 %at, 1
%next = urem i64 %at.more, <count>
br label %look
look:
%i = phi i64 [%next, %room], [%i.next, %oldest]
%kept = load i64, ptr @kept
%with = add i64 %kept, %size
%too.much = icmp ugt i64 %with, <most>
br i1 %too.much, label %oldest, label %keep
oldest:
call void @drop(i64 %i)
%i.more = add i64 %i, 1
%i.next = urem i64 %i.more, <count>
br label %look
keep:
store i64 %with, ptr @kept
store i64 %next, ptr @next
%block.p = getelementptr ptr, ptr @blocks, i64 %at
%size.p = getelementptr i64, ptr @sizes, i64 %at
store ptr %block, ptr %block.p
store i64 %size, ptr %size.p
ret void
}

; PyArray_NewFromDescr, with this allocator.
define ptr @weft_kept_array(ptr %kind, ptr %descr, i32 %rank, ptr %dims, ptr %strides,
  ptr %data, i32 %flags, ptr %owner) {
entry:
%set = inttoptr i64 <set handler> to ptr
%new = inttoptr i64 <array new> to ptr
%decref = inttoptr i64 <decref> to ptr
%ours = inttoptr i64 <handler> to ptr
%before = call ptr %set(ptr %ours)
%was.set = icmp ne ptr %before, null
br i1 %was.set, label %make, label %failed
failed:
ret ptr null
make:
%made = call ptr %new(ptr %kind, ptr %descr, i32 %rank, ptr %dims, ptr %strides, ptr %data,
  i32 %flags, ptr %owner)
%fetch = inttoptr i64 <fetch> to ptr
%restore = inttoptr i64 <restore> to ptr
%type.p = alloca ptr
%value.p = alloca ptr
%trace.p = alloca ptr
call void %fetch(ptr %type.p, ptr %value.p, ptr %trace.p)
%again = call ptr %set(ptr %before)
call void %decref(ptr %before)
call void %decref(ptr %again)
%type = load ptr, ptr %type.p
%value = load ptr, ptr %value.p
%trace = load ptr, ptr %trace.p
call void %restore(ptr %type, ptr %value, ptr %trace)
ret ptr %made
}
"""


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *[(name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")],
    )


_kept_for_ever: list[Any] = []  # arrays may be freed when modules are gone: never given back
_api = ctypes.pythonapi


@functools.cache
def array_new() -> int:
    """The address of a function that makes arrays with this allocator."""
    _api.PyCapsule_New.restype = ctypes.py_object
    _api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    handler = _Handler(b"weft", 1)
    name = ctypes.create_string_buffer(b"mem_handler")  # which the capsule points to
    capsule = _api.PyCapsule_New(ctypes.addressof(handler), name, None)
    table = array_functions()
    functions = {"decref": "Py_DecRef", "fetch": "PyErr_Fetch", "restore": "PyErr_Restore"}
    words = {
        key: ctypes.cast(getattr(_api, name), ctypes.c_void_p).value
        for key, name in functions.items()
    }
    words |= {
        "count": _BLOCKS, "least": LEAST, "most": _most_kept(), "huge": _HUGE,
        "huge twice": 2 * _HUGE if sys.platform == "linux" else 1 << 62, "advice": _ADVICE,
        "handler": id(capsule),
        "set handler": table[_SET_HANDLER], "array new": table[94],
    }  # fmt: skip
    code = llvm.MachineCode(llvm.plain_code(filled(_TEXT, words)))
    for verb in ("malloc", "calloc", "realloc", "free"):
        setattr(handler, verb, code.address(f"weft_kept_{verb}"))
    for thing in (handler, capsule, code, name):
        _kept_for_ever.append(thing)
        _api.Py_IncRef(ctypes.py_object(thing))
    return code.address("weft_kept_array")


def _most_kept() -> int:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_MOST, pages // _PART)
