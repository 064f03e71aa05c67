"""The threads that share large loop nests: a small pool in machine code, one per process.

`weft_parallel(function, table, n, grain)` calls `function(table, begin, end)` for pieces of
[0, n). Where the pieces lie depends on the sizes alone, so results do not depend on the number of
threads. A second caller at the same time, and a forked process, do their work alone.

Who has called waits for the threads that have begun, not for all: one that gets no processor, as
others use it, finds the work closed when it wakes up. Before, every shared loop waited for it.
A thread that is done looks for more work for a moment before it sleeps: the next loop of the same
program mostly comes within it, and to be woken takes about as long.
"""

from __future__ import annotations

import platform
import sys

from weft._src.core.processors import threads_per_op
from weft._src.execution.native.machine import llvm
from weft._src.execution.native.machine.builder import filled

_TURNS = 300  # of waiting for the next work before a thread sleeps, about 15 us
SHARED_FROM = 60_000  # nanoseconds of work from which waking other threads pays

# Enough for pthread_mutex_t (40 bytes) and pthread_cond_t (48 bytes) of the platforms LLVM
# compiles for here; zeros are their initial state on Linux.
_POOL = """
@mutex = internal global [64 x i8] zeroinitializer, align 16
@wake = internal global [64 x i8] zeroinitializer, align 16
@done = internal global [64 x i8] zeroinitializer, align 16
@busy = internal global i32 0
@owner = internal global i32 0
@workers = internal global i32 0
@active = internal global i32 0
@open = internal global i32 0
@generation = internal global i64 0
@function = internal global ptr null
@table = internal global ptr null
@size = internal global i64 0
@grain = internal global i64 0
@next = internal global i64 0
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @getpid()

define internal void @work(ptr %f, ptr %t, i64 %n, i64 %g) {
entry:
br label %again
again:
%lo = atomicrmw add ptr @next, i64 %g seq_cst
%any = icmp slt i64 %lo, %n
br i1 %any, label %piece, label %end
piece:
%up = add i64 %lo, %g
%less = icmp slt i64 %up, %n
%hi = select i1 %less, i64 %up, i64 %n
call void %f(ptr %t, i64 %lo, i64 %hi)
br label %again
end:
ret void
}

define internal ptr @worker(ptr %argument) {
entry:
call i32 @pthread_mutex_lock(ptr @mutex)
%initial = ptrtoint ptr %argument to i64
br label %wait
wait:
%seen = phi i64 [%initial, %entry], [%now, %finished]
call i32 @pthread_mutex_unlock(ptr @mutex)
br label %spin
spin:
%turn = phi i64 [0, %wait], [%turn.next, %spin]
<pause>
%newest = load atomic i64, ptr @generation monotonic, align 8
%still = icmp eq i64 %newest, %seen
%turn.next = add i64 %turn, 1
%patient = icmp ult i64 %turn.next, <turns>
%again = and i1 %still, %patient
br i1 %again, label %spin, label %spun
spun:
call i32 @pthread_mutex_lock(ptr @mutex)
br label %look
look:
%now = load i64, ptr @generation
%same = icmp eq i64 %now, %seen
br i1 %same, label %sleep, label %news
sleep:
call i32 @pthread_cond_wait(ptr @wake, ptr @mutex)
br label %look
news:
%is.open = load i32, ptr @open
%late = icmp eq i32 %is.open, 0
br i1 %late, label %finished, label %go
go:
%a.before = load i32, ptr @active
%a.after = add i32 %a.before, 1
store i32 %a.after, ptr @active
%f = load ptr, ptr @function
%t = load ptr, ptr @table
%n = load i64, ptr @size
%g = load i64, ptr @grain
call i32 @pthread_mutex_unlock(ptr @mutex)
call void @work(ptr %f, ptr %t, i64 %n, i64 %g)
call i32 @pthread_mutex_lock(ptr @mutex)
%a = load i32, ptr @active
%b = sub i32 %a, 1
store i32 %b, ptr @active
%last = icmp eq i32 %b, 0
br i1 %last, label %signal, label %finished
signal:
call i32 @pthread_cond_signal(ptr @done)
br label %finished
finished:
br label %wait
}

define i32 @weft_start_pool(i32 %threads) {
entry:
%pid = call i32 @getpid()
store i32 %pid, ptr @owner
%id = alloca i64
%generation = load i64, ptr @generation
%argument = inttoptr i64 %generation to ptr
br label %test
test:
%i = phi i32 [1, %entry], [%i.next, %made]
%more = icmp slt i32 %i, %threads
br i1 %more, label %make, label %end
make:
%failed = call i32 @pthread_create(ptr %id, ptr null, ptr @worker, ptr %argument)
%ok = icmp eq i32 %failed, 0
br i1 %ok, label %made, label %end
made:
%thread = load i64, ptr %id
call i32 @pthread_detach(i64 %thread)
%w = load i32, ptr @workers
%w.more = add i32 %w, 1
store i32 %w.more, ptr @workers
%i.next = add i32 %i, 1
br label %test
end:
%all = load i32, ptr @workers
ret i32 %all
}

define void @weft_parallel(ptr %f, ptr %t, i64 %n, i64 %g) {
entry:
%w = load i32, ptr @workers
%none = icmp eq i32 %w, 0
br i1 %none, label %alone, label %own
own:
%pid = call i32 @getpid()
%creator = load i32, ptr @owner
%mine = icmp eq i32 %pid, %creator
br i1 %mine, label %claim, label %alone
claim:
%pair = cmpxchg ptr @busy, i32 0, i32 1 seq_cst seq_cst
%got = extractvalue { i32, i1 } %pair, 1
br i1 %got, label %share, label %alone
alone:
br label %step
step:
%lo = phi i64 [0, %alone], [%hi, %run]
%any = icmp slt i64 %lo, %n
br i1 %any, label %run, label %out
run:
%up = add i64 %lo, %g
%less = icmp slt i64 %up, %n
%hi = select i1 %less, i64 %up, i64 %n
call void %f(ptr %t, i64 %lo, i64 %hi)
br label %step
share:
call i32 @pthread_mutex_lock(ptr @mutex)
store ptr %f, ptr @function
store ptr %t, ptr @table
store i64 %n, ptr @size
store i64 %g, ptr @grain
store i64 0, ptr @next
store i32 1, ptr @open
%old = load i64, ptr @generation
%new = add i64 %old, 1
store i64 %new, ptr @generation
call i32 @pthread_cond_broadcast(ptr @wake)
call i32 @pthread_mutex_unlock(ptr @mutex)
call void @work(ptr %f, ptr %t, i64 %n, i64 %g)
call i32 @pthread_mutex_lock(ptr @mutex)
store i32 0, ptr @open
call i32 @pthread_mutex_unlock(ptr @mutex)
br label %spin
spin:
%turn = phi i64 [0, %share], [%turn.next, %spin]
<pause>
%busy.now = load atomic i32, ptr @active monotonic, align 4
%still = icmp ne i32 %busy.now, 0
%turn.next = add i64 %turn, 1
%patient = icmp ult i64 %turn.next, <turns>
%again = and i1 %still, %patient
br i1 %again, label %spin, label %spun
spun:
call i32 @pthread_mutex_lock(ptr @mutex)
br label %check
check:
%left = load i32, ptr @active
%all = icmp eq i32 %left, 0
br i1 %all, label %finish, label %sleep
sleep:
call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
br label %check
finish:
call i32 @pthread_mutex_unlock(ptr @mutex)
store atomic i32 0, ptr @busy seq_cst, align 4
br label %out
out:
ret void
}
"""


def _text() -> str:
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    pause = "call void @llvm.x86.sse2.pause()" if is_x86 else ""
    turns = _TURNS if is_x86 else 1
    declared = "declare void @llvm.x86.sse2.pause()\n" if is_x86 else ""
    return declared + filled(_POOL, {"pause": pause, "turns": turns})


_started: list[llvm.MachineCode] = []  # kept for ever: its threads run in it


def start() -> None:
    """Compiles the pool and starts its threads, the first time."""
    if _started:
        return
    with llvm.lock:  # functions are compiled by several threads, and the pool is one for all
        if not _started:
            code = llvm.MachineCode(llvm.plain_code(_text()))
            llvm.add_symbol("weft_parallel", code.address("weft_parallel"))
            llvm.call_with_int(code.address("weft_start_pool"), threads())
            _started.append(code)


def address() -> int:
    """Where `weft_parallel` lies, once there is a pool."""
    return _started[0].address("weft_parallel")


def threads() -> int:
    """How many threads share the work; the pool is written for Linux."""
    return threads_per_op() if sys.platform == "linux" else 1
