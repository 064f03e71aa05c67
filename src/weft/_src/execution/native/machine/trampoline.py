"""How Python calls machine code: a function in LLVM IR that takes arrays and returns arrays.

`PyObject *weft_call(PyObject *self, PyObject **args, Py_ssize_t n)` looks into the array objects
itself. Anything unusual (another shape, strides, a shared variable buffer) makes it answer
NotImplemented, and Python takes over. `self` is a bytes object, the context: the addresses the
function needs, and then what it expects of every input, constant and output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.execution.native.front.translate import Translation
from weft._src.execution.native.machine.builder import filled
from weft._src.execution.native.machine.support import LAYOUT

# The first entries of the context; each is eight bytes.
CONTEXT = (
    "ndarray", "true", "not_implemented", "tuple_new", "array_new", "save_thread",
    "restore_thread", "check_signals", "incref", "decref", "allocate", "free", "scratch",
    "spare", "cell_data", "cell_shared",
)  # fmt: skip

PLAIN, CELL, WRITTEN_CELL = 0, 1, 2
_MOST_SPARE = 1 << 26  # bytes of stacks that are kept for the next call
_MOST_STACK = 1 << 33  # bytes of one stack; beyond that NumPy asks what the machine has


def context_entries(
    fixed: Sequence[int],
    inputs: Sequence[tuple[int, ...]],
    constants: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int, int, int]],
) -> list[int]:
    """The context: fixed addresses, then (slot, ...) of inputs, constants and outputs."""
    groups: list[Any] = [*inputs, *constants, *outputs]
    return [*fixed, *[number for group in groups for number in group]]


def full_text(translation: Translation) -> str:
    """The module of a program with its calling function."""
    program = translation.program
    program.module.forget("weft_interrupted")
    values = {
        "inputs": len(translation.inputs),
        "constants": len(translation.constants),
        "outputs": len(translation.outputs),
        "slots": len(program.slots) + 1,
        "scratch": -(-program.scratch_bytes // 64) * 64,
    }
    first = len(CONTEXT)
    values["first_input"] = first
    values["first_constant"] = first + 5 * values["inputs"]
    values["first_output"] = values["first_constant"] + 2 * values["constants"]
    values["thread"] = values["slots"] + 1
    values["arena"] = values["slots"] + 2  # memory that was taken during the call
    values["spare"] = values["slots"] + 3  # what is left of that of the call before
    values["table"] = values["slots"] + 4
    values["most_spare"] = _MOST_SPARE
    values["most_stack"] = _MOST_STACK
    text = f"{program.text()}\n{_INTERRUPTED}{_BLOCKS}{_CALL}"
    there = {name: values[name] for name in ("inputs", "constants", "outputs", "scratch")}
    there |= {"stacks": program.uses_stacks, "gil": program.releases_gil}
    words: dict[str, Any] = {f"at {name}": i for i, name in enumerate(CONTEXT)}
    words |= {f"offset {field}": offset for field, offset in LAYOUT.items()}
    words |= {f"has {name}": "true" if is_there else "false" for name, is_there in there.items()}
    return filled(text, {**values, **words})


# Where the fields of objects lie is written down, and checked, in `support`.
_CALL = """
define ptr @weft_call(ptr %self, ptr %args, i64 %n) {
entry:
%context = getelementptr i8, ptr %self, i64 <offset bytes data>
%t = alloca [<table> x ptr], align 16
%tp = getelementptr ptr, ptr %t, i64 <slots>
store ptr %context, ptr %tp
%arena.p = getelementptr ptr, ptr %t, i64 <arena>
store ptr null, ptr %arena.p
%spare.p = getelementptr ptr, ptr %t, i64 <spare>
store ptr null, ptr %spare.p
%ndarray.p = getelementptr ptr, ptr %context, i64 <at ndarray>
%ndarray = load ptr, ptr %ndarray.p
%true.p = getelementptr ptr, ptr %context, i64 <at true>
%true = load ptr, ptr %true.p
%data.p = getelementptr i64, ptr %context, i64 <at cell_data>
%data.offset = load i64, ptr %data.p
%shared.p = getelementptr i64, ptr %context, i64 <at cell_shared>
%shared.offset = load i64, ptr %shared.p
%incref.p = getelementptr ptr, ptr %context, i64 <at incref>
%incref = load ptr, ptr %incref.p
%counted = icmp eq i64 %n, <inputs>
br i1 %counted, label %inputs, label %unusual

inputs:
br i1 <has inputs>, label %input, label %constants
input:
%i = phi i64 [0, %inputs], [%i.next, %input.done]
%i.entry = mul i64 %i, 5
%i.at = add i64 %i.entry, <first_input>
%e = getelementptr i64, ptr %context, i64 %i.at
%e.kind = getelementptr i64, ptr %e, i64 1
%e.descr = getelementptr i64, ptr %e, i64 2
%e.rank = getelementptr i64, ptr %e, i64 3
%e.dims = getelementptr i64, ptr %e, i64 4
%slot = load i64, ptr %e
%kind = load i64, ptr %e.kind
%descr = load ptr, ptr %e.descr
%rank = load i64, ptr %e.rank
%dims = load ptr, ptr %e.dims
%arg.p = getelementptr ptr, ptr %args, i64 %i
%arg = load ptr, ptr %arg.p
%is.cell = icmp ne i64 %kind, 0
br i1 %is.cell, label %cell, label %array
cell:
%shared.at = getelementptr i8, ptr %arg, i64 %shared.offset
%shared = load ptr, ptr %shared.at
%is.shared = icmp eq ptr %shared, %true
%is.written = icmp eq i64 %kind, 2
%is.bad = and i1 %is.shared, %is.written
%data.at = getelementptr i8, ptr %arg, i64 %data.offset
%cell.array = load ptr, ptr %data.at
br i1 %is.bad, label %unusual, label %array
array:
%a = phi ptr [%arg, %input], [%cell.array, %cell]
%a.type.p = getelementptr i8, ptr %a, i64 <offset type>
%a.type = load ptr, ptr %a.type.p
%is.array = icmp eq ptr %a.type, %ndarray
br i1 %is.array, label %look, label %unusual
look:
%a.data.p = getelementptr i8, ptr %a, i64 <offset array data>
%a.rank.p = getelementptr i8, ptr %a, i64 <offset array rank>
%a.dims.p = getelementptr i8, ptr %a, i64 <offset array sizes>
%a.descr.p = getelementptr i8, ptr %a, i64 <offset array dtype>
%a.flags.p = getelementptr i8, ptr %a, i64 <offset array flags>
%a.data = load ptr, ptr %a.data.p
%a.rank = load i32, ptr %a.rank.p
%a.dims = load ptr, ptr %a.dims.p
%a.descr = load ptr, ptr %a.descr.p
%a.flags = load i32, ptr %a.flags.p
%same.descr = icmp eq ptr %a.descr, %descr
%a.rank64 = sext i32 %a.rank to i64
%same.rank = icmp eq i64 %a.rank64, %rank
%layout = and i32 %a.flags, 257
%same.layout = icmp eq i32 %layout, 257
%same.1 = and i1 %same.descr, %same.rank
%same = and i1 %same.1, %same.layout
br i1 %same, label %sizes, label %unusual
sizes:
%scalar = icmp eq i64 %rank, 0
br i1 %scalar, label %input.done, label %size
size:
%d = phi i64 [0, %sizes], [%d.next, %size.done]
%d.got.p = getelementptr i64, ptr %a.dims, i64 %d
%d.want.p = getelementptr i64, ptr %dims, i64 %d
%d.got = load i64, ptr %d.got.p
%d.want = load i64, ptr %d.want.p
%d.same = icmp eq i64 %d.got, %d.want
br i1 %d.same, label %size.done, label %unusual
size.done:
%d.next = add i64 %d, 1
%d.more = icmp ult i64 %d.next, %rank
br i1 %d.more, label %size, label %input.done
input.done:
%slot.p = getelementptr ptr, ptr %t, i64 %slot
store ptr %a.data, ptr %slot.p
%i.next = add i64 %i, 1
%i.more = icmp ult i64 %i.next, <inputs>
br i1 %i.more, label %input, label %constants

constants:
br i1 <has constants>, label %constant, label %outputs
constant:
%k = phi i64 [0, %constants], [%k.next, %constant]
%k.entry = mul i64 %k, 2
%k.at = add i64 %k.entry, <first_constant>
%k.e = getelementptr i64, ptr %context, i64 %k.at
%k.slot = load i64, ptr %k.e
%k.e1 = getelementptr i64, ptr %k.e, i64 1
%k.data = load ptr, ptr %k.e1
%k.place = getelementptr ptr, ptr %t, i64 %k.slot
store ptr %k.data, ptr %k.place
%k.next = add i64 %k, 1
%k.more = icmp ult i64 %k.next, <constants>
br i1 %k.more, label %constant, label %outputs

outputs:
%tuple_new.p = getelementptr ptr, ptr %context, i64 <at tuple_new>
%tuple_new = load ptr, ptr %tuple_new.p
%array_new.p = getelementptr ptr, ptr %context, i64 <at array_new>
%array_new = load ptr, ptr %array_new.p
%decref.p = getelementptr ptr, ptr %context, i64 <at decref>
%decref = load ptr, ptr %decref.p
%result = call ptr %tuple_new(i64 <outputs>)
%got.tuple = icmp ne ptr %result, null
br i1 %got.tuple, label %make, label %failed
make:
br i1 <has outputs>, label %output, label %ready
output:
%o = phi i64 [0, %make], [%o.next, %output.done]
%o.entry = mul i64 %o, 4
%o.at = add i64 %o.entry, <first_output>
%o.e = getelementptr i64, ptr %context, i64 %o.at
%o.e1 = getelementptr i64, ptr %o.e, i64 1
%o.e2 = getelementptr i64, ptr %o.e, i64 2
%o.e3 = getelementptr i64, ptr %o.e, i64 3
%o.slot = load i64, ptr %o.e
%o.descr = load ptr, ptr %o.e1
%o.rank64 = load i64, ptr %o.e2
%o.rank = trunc i64 %o.rank64 to i32
%o.dims = load ptr, ptr %o.e3
call void %incref(ptr %o.descr)
%made = call ptr %array_new(ptr %ndarray, ptr %o.descr, i32 %o.rank,
  ptr %o.dims, ptr null, ptr null, i32 0, ptr null)
%made.ok = icmp ne ptr %made, null
br i1 %made.ok, label %output.done, label %drop
output.done:
%o.data.p = getelementptr i8, ptr %made, i64 <offset array data>
%o.data = load ptr, ptr %o.data.p
%o.place = getelementptr ptr, ptr %t, i64 %o.slot
store ptr %o.data, ptr %o.place
%o.next = add i64 %o, 1
%item = getelementptr ptr, ptr %result, i64 %o
%item.p = getelementptr i8, ptr %item, i64 <offset tuple items>
store ptr %made, ptr %item.p
%o.more = icmp ult i64 %o.next, <outputs>
br i1 %o.more, label %output, label %ready
drop:
call void %decref(ptr %result)
br label %failed

ready:
%scratch.p = getelementptr ptr, ptr %context, i64 <at scratch>
br i1 <has scratch>, label %scratch, label %run
scratch:
%old = atomicrmw xchg ptr %scratch.p, ptr null seq_cst
%have = icmp ne ptr %old, null
br i1 %have, label %run, label %allocate
allocate:
%allocate.p = getelementptr ptr, ptr %context, i64 <at allocate>
%allocator = load ptr, ptr %allocate.p
%fresh = call ptr %allocator(i64 64, i64 <scratch>)
%allocated = icmp ne ptr %fresh, null
br i1 %allocated, label %run, label %no.memory
no.memory:
call void %decref(ptr %result)
br label %unusual

run:
%block = phi ptr [null, %ready], [%old, %scratch], [%fresh, %allocate]
store ptr %block, ptr %t
br i1 <has stacks>, label %take, label %start
take:
%spares.p = getelementptr ptr, ptr %context, i64 <at spare>
%spares = atomicrmw xchg ptr %spares.p, ptr null seq_cst
store ptr %spares, ptr %spare.p
br label %start
start:
%thread.p = getelementptr ptr, ptr %t, i64 <thread>
%save.p = getelementptr ptr, ptr %context, i64 <at save_thread>
%save = load ptr, ptr %save.p
%restore.p = getelementptr ptr, ptr %context, i64 <at restore_thread>
%restore = load ptr, ptr %restore.p
br i1 <has gil>, label %released, label %holding
released:
%state = call ptr %save()
store ptr %state, ptr %thread.p
%status.1 = call i32 @weft_main(ptr %t)
%state.now = load ptr, ptr %thread.p
call void %restore(ptr %state.now)
br label %finish
holding:
store ptr null, ptr %thread.p
%status.2 = call i32 @weft_main(ptr %t)
br label %finish

finish:
%status = phi i32 [%status.1, %released], [%status.2, %holding]
%free.p = getelementptr ptr, ptr %context, i64 <at free>
%free = load ptr, ptr %free.p
br i1 <has stacks>, label %release, label %released.all
release:
call void @weft_keep_blocks(ptr %context, ptr %t)
br label %released.all
released.all:
br i1 <has scratch>, label %keep, label %answer
keep:
%other = atomicrmw xchg ptr %scratch.p, ptr %block seq_cst
call void %free(ptr %other)
br label %answer
answer:
%fine = icmp eq i32 %status, 0
br i1 %fine, label %good, label %bad
good:
ret ptr %result
bad:
call void %decref(ptr %result)
%interrupted = icmp slt i32 %status, 0
br i1 %interrupted, label %failed, label %unusual
failed:
ret ptr null
unusual:
%no.p = getelementptr ptr, ptr %context, i64 <at not_implemented>
%no = load ptr, ptr %no.p
%incref2.p = getelementptr ptr, ptr %context, i64 <at incref>
%incref2 = load ptr, ptr %incref2.p
call void %incref2(ptr %no)
ret ptr %no
}
"""

# Memory of stacks: a chain of blocks, each with the next one and its size in front. What a call has
# used is kept for the next one, as fresh memory costs more than what is done with it.
_BLOCKS = """
define internal void @weft_free_blocks(ptr %context, ptr %first) {
entry:
%free.p = getelementptr ptr, ptr %context, i64 <at free>
%free = load ptr, ptr %free.p
br label %look
look:
%block = phi ptr [%first, %entry], [%next, %release]
%is.there = icmp ne ptr %block, null
br i1 %is.there, label %release, label %done
release:
%next = load ptr, ptr %block
call void %free(ptr %block)
br label %look
done:
ret void
}
define internal void @weft_keep_blocks(ptr %context, ptr %t) {
entry:
%arena.p = getelementptr ptr, ptr %t, i64 <arena>
%used = load ptr, ptr %arena.p
br label %look
look:
%block = phi ptr [%used, %entry], [%next, %count]
%total = phi i64 [0, %entry], [%more, %count]
%is.there = icmp ne ptr %block, null
br i1 %is.there, label %count, label %counted
count:
%next = load ptr, ptr %block
%size.p = getelementptr i64, ptr %block, i64 1
%size = load i64, ptr %size.p
%more = add i64 %total, %size
br label %look
counted:
%fits = icmp ule i64 %total, <most_spare>
br i1 %fits, label %keep, label %tidy
keep:
%spares.p = getelementptr ptr, ptr %context, i64 <at spare>
%others = atomicrmw xchg ptr %spares.p, ptr %used seq_cst
br label %tidy
tidy:
%unwanted = phi ptr [%used, %counted], [%others, %keep]
call void @weft_free_blocks(ptr %context, ptr %unwanted)
%spare.p = getelementptr ptr, ptr %t, i64 <spare>
%unused = load ptr, ptr %spare.p
call void @weft_free_blocks(ptr %context, ptr %unused)
ret void
}
"""

# Asks Python whether a signal came, taking the GIL for that if it was released.
_INTERRUPTED = """
define i32 @weft_interrupted(ptr %t) {
entry:
%context.p = getelementptr ptr, ptr %t, i64 <slots>
%context = load ptr, ptr %context.p
%thread.p = getelementptr ptr, ptr %t, i64 <thread>
%state = load ptr, ptr %thread.p
%held = icmp eq ptr %state, null
%restore.p = getelementptr ptr, ptr %context, i64 <at restore_thread>
%restore = load ptr, ptr %restore.p
%check.p = getelementptr ptr, ptr %context, i64 <at check_signals>
%check = load ptr, ptr %check.p
%save.p = getelementptr ptr, ptr %context, i64 <at save_thread>
%save = load ptr, ptr %save.p
br i1 %held, label %ask, label %take
take:
call void %restore(ptr %state)
br label %ask
ask:
%answer = call i32 %check()
br i1 %held, label %end, label %give
give:
%again = call ptr %save()
store ptr %again, ptr %thread.p
br label %end
end:
ret i32 %answer
}
"""
