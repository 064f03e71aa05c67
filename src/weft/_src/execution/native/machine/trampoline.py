"""How Python calls machine code: a function in LLVM IR that takes arrays and returns arrays.

`PyObject *weft_call(PyObject *self, PyObject **args, Py_ssize_t n)` looks into the array objects
itself. Anything unusual (another shape, strides, a shared variable buffer) makes it answer
NotImplemented, and Python takes over. `self` is a bytes object, the context: the addresses the
function needs, the program's own function among them, and then what that expects of every input,
constant and output. So one such function serves all programs, and is compiled once.
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
    # Of the program: its function, how many there are of each, bytes of scratch memory, and whether
    # it uses stacks and lets other threads run meanwhile.
    "main", "inputs", "constants", "outputs", "slots", "scratch_bytes", "stacks", "gil",
)  # fmt: skip

PLAIN, CELL, WRITTEN_CELL = 0, 1, 2
_MOST_SPARE = 1 << 28  # bytes of stacks that are kept for the next call
_MOST_STACK = 1 << 33  # bytes of one stack; beyond that NumPy asks what the machine has


def context_entries(
    fixed: dict[str, int],
    program: dict[str, int],
    inputs: Sequence[tuple[int, ...]],
    constants: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int, int, int]],
) -> list[int]:
    """The context: its first entries, then (slot, ...) of inputs, constants and outputs."""
    counts = {"inputs": len(inputs), "constants": len(constants), "outputs": len(outputs)}
    first = fixed | program | counts
    groups: list[Any] = [*inputs, *constants, *outputs]
    return [*[first[name] for name in CONTEXT], *[number for group in groups for number in group]]


def program_entries(translation: Translation, main: int) -> dict[str, int]:
    """What the context says of a program, whose function lies at an address."""
    program = translation.program
    return {
        "main": main,
        "slots": len(program.slots) + 1,
        "scratch_bytes": -(-program.scratch_bytes // 64) * 64,
        "stacks": int(program.uses_stacks),
        "gil": int(program.releases_gil),
    }


_PLACES: dict[str, Any] = {f"at {name}": i for i, name in enumerate(CONTEXT)}
_PLACES |= {f"offset {field}": offset for field, offset in LAYOUT.items()}


def full_text(translation: Translation) -> str:
    """The module of a program."""
    program = translation.program
    slots = len(program.slots) + 1
    # Behind the slots of the table: the context, the state of the thread, memory that was taken
    # during the call, and what is left of that of the call before.
    words = {"slots": slots, "thread": slots + 1, "arena": slots + 2, "spare": slots + 3}
    asks = program.module.forget("weft_interrupted")
    text = f"{program.text()}\n{_INTERRUPTED if asks else ''}"
    return filled(text, words | {"most_stack": _MOST_STACK} | _PLACES)


def call_text() -> str:
    """The module of the function that Python calls."""
    words = {"first_input": len(CONTEXT), "most_spare": _MOST_SPARE}
    return filled(f"{_BLOCKS}{_CALL}", words | _PLACES)


# Where the fields of objects lie is written down, and checked, in `support`.
_CALL = """
define ptr @weft_call(ptr %self, ptr %args, i64 %n) {
entry:
%context = getelementptr i8, ptr %self, i64 <offset bytes data>
%slots.p = getelementptr i64, ptr %context, i64 <at slots>
%slots = load i64, ptr %slots.p
%table = add i64 %slots, 4
%t = alloca ptr, i64 %table, align 16
%tp = getelementptr ptr, ptr %t, i64 %slots
store ptr %context, ptr %tp
%thread.p = getelementptr ptr, ptr %tp, i64 1
%arena.p = getelementptr ptr, ptr %tp, i64 2
store ptr null, ptr %arena.p
%spare.p = getelementptr ptr, ptr %tp, i64 3
store ptr null, ptr %spare.p
%inputs.p = getelementptr i64, ptr %context, i64 <at inputs>
%input.count = load i64, ptr %inputs.p
%constants.p = getelementptr i64, ptr %context, i64 <at constants>
%constant.count = load i64, ptr %constants.p
%outputs.p = getelementptr i64, ptr %context, i64 <at outputs>
%output.count = load i64, ptr %outputs.p
%first.input = getelementptr i64, ptr %context, i64 <first_input>
%input.words = mul i64 %input.count, 5
%first.constant = getelementptr i64, ptr %first.input, i64 %input.words
%constant.words = mul i64 %constant.count, 2
%first.output = getelementptr i64, ptr %first.constant, i64 %constant.words
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
%counted = icmp eq i64 %n, %input.count
br i1 %counted, label %inputs, label %unusual

inputs:
%has.inputs = icmp ne i64 %input.count, 0
br i1 %has.inputs, label %input, label %constants
input:
%i = phi i64 [0, %inputs], [%i.next, %input.done]
%i.entry = mul i64 %i, 5
%e = getelementptr i64, ptr %first.input, i64 %i.entry
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
%i.more = icmp ult i64 %i.next, %input.count
br i1 %i.more, label %input, label %constants

constants:
%has.constants = icmp ne i64 %constant.count, 0
br i1 %has.constants, label %constant, label %outputs
constant:
%k = phi i64 [0, %constants], [%k.next, %constant]
%k.entry = mul i64 %k, 2
%k.e = getelementptr i64, ptr %first.constant, i64 %k.entry
%k.slot = load i64, ptr %k.e
%k.e1 = getelementptr i64, ptr %k.e, i64 1
%k.data = load ptr, ptr %k.e1
%k.place = getelementptr ptr, ptr %t, i64 %k.slot
store ptr %k.data, ptr %k.place
%k.next = add i64 %k, 1
%k.more = icmp ult i64 %k.next, %constant.count
br i1 %k.more, label %constant, label %outputs

outputs:
%tuple_new.p = getelementptr ptr, ptr %context, i64 <at tuple_new>
%tuple_new = load ptr, ptr %tuple_new.p
%array_new.p = getelementptr ptr, ptr %context, i64 <at array_new>
%array_new = load ptr, ptr %array_new.p
%decref.p = getelementptr ptr, ptr %context, i64 <at decref>
%decref = load ptr, ptr %decref.p
%result = call ptr %tuple_new(i64 %output.count)
%got.tuple = icmp ne ptr %result, null
br i1 %got.tuple, label %make, label %failed
make:
%has.outputs = icmp ne i64 %output.count, 0
br i1 %has.outputs, label %output, label %ready
output:
%o = phi i64 [0, %make], [%o.next, %output.done]
%o.entry = mul i64 %o, 4
%o.e = getelementptr i64, ptr %first.output, i64 %o.entry
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
%o.more = icmp ult i64 %o.next, %output.count
br i1 %o.more, label %output, label %ready
drop:
call void %decref(ptr %result)
br label %failed

ready:
%scratch.p = getelementptr ptr, ptr %context, i64 <at scratch>
%bytes.p = getelementptr i64, ptr %context, i64 <at scratch_bytes>
%bytes = load i64, ptr %bytes.p
%has.scratch = icmp ne i64 %bytes, 0
%stacks.p = getelementptr i64, ptr %context, i64 <at stacks>
%stacks = load i64, ptr %stacks.p
%has.stacks = icmp ne i64 %stacks, 0
br i1 %has.scratch, label %scratch, label %run
scratch:
%old = atomicrmw xchg ptr %scratch.p, ptr null seq_cst
%have = icmp ne ptr %old, null
br i1 %have, label %run, label %allocate
allocate:
%allocate.p = getelementptr ptr, ptr %context, i64 <at allocate>
%allocator = load ptr, ptr %allocate.p
%fresh = call ptr %allocator(i64 64, i64 %bytes)
%allocated = icmp ne ptr %fresh, null
br i1 %allocated, label %run, label %no.memory
no.memory:
call void %decref(ptr %result)
br label %unusual

run:
%block = phi ptr [null, %ready], [%old, %scratch], [%fresh, %allocate]
store ptr %block, ptr %t
br i1 %has.stacks, label %take, label %start
take:
%spares.p = getelementptr ptr, ptr %context, i64 <at spare>
%spares = atomicrmw xchg ptr %spares.p, ptr null seq_cst
store ptr %spares, ptr %spare.p
br label %start
start:
%main.p = getelementptr ptr, ptr %context, i64 <at main>
%main = load ptr, ptr %main.p
%gil.p = getelementptr i64, ptr %context, i64 <at gil>
%gil = load i64, ptr %gil.p
%lets.others.run = icmp ne i64 %gil, 0
%save.p = getelementptr ptr, ptr %context, i64 <at save_thread>
%save = load ptr, ptr %save.p
%restore.p = getelementptr ptr, ptr %context, i64 <at restore_thread>
%restore = load ptr, ptr %restore.p
br i1 %lets.others.run, label %released, label %holding
released:
%state = call ptr %save()
store ptr %state, ptr %thread.p
%status.1 = call i32 %main(ptr %t)
%state.now = load ptr, ptr %thread.p
call void %restore(ptr %state.now)
br label %finish
holding:
store ptr null, ptr %thread.p
%status.2 = call i32 %main(ptr %t)
br label %finish

finish:
%status = phi i32 [%status.1, %released], [%status.2, %holding]
%free.p = getelementptr ptr, ptr %context, i64 <at free>
%free = load ptr, ptr %free.p
br i1 %has.stacks, label %release, label %released.all
release:
call void @weft_keep_blocks(ptr %context, ptr %arena.p, ptr %spare.p)
br label %released.all
released.all:
br i1 %has.scratch, label %keep, label %answer
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
define internal void @weft_keep_blocks(ptr %context, ptr %arena.p, ptr %spare.p) {
entry:
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
