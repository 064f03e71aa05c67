"""Tables of integers, as LLVM IR; the rest is told in `key_tables.py`.

Slots come in buckets of four, which fill a line of the cache: four keys, and their rows plus one; 0
is an empty slot. A key is compared with a whole bucket at once, so there is one branch, on whether
a key has to be looked for in the next bucket, which it hardly ever has. A loop over single slots
took a third longer: where it ends cannot be foreseen, and is known only when memory answers.
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels.key_tables import JOB, SIZES, find, words, write

_AHEAD = 16  # keys, whose buckets are on the way from memory: a fifth less time

_ENTER = f"""
declare i64 @llvm.vector.reduce.or.v4i64(<4 x i64>)

define void @weft_enter_ints(ptr %job) {{
entry:
{words("keys", "count", "slots", "shift", "out")}
%mask = lshr i64 -1, %shift
br label %next
next:
%k = phi i64 [0, %entry], [%k.next, %store]
%more = icmp slt i64 %k, %count
br i1 %more, label %look, label %done
look:
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = load i64, ptr %key.p
%hash = call i64 @mixed(i64 %key, i64 0)
%first = lshr i64 %hash, %shift
br label %bucket
bucket:
%i = phi i64 [%first, %look], [%i.next, %full]
%bucket.p = getelementptr [8 x i64], ptr %slots, i64 %i
br label %slot
slot:
%s = phi i64 [0, %bucket], [%s.next, %taken]
%slot.p = getelementptr i64, ptr %bucket.p, i64 %s
%number.p = getelementptr i64, ptr %slot.p, i64 4
%number = load i64, ptr %number.p
%is.empty = icmp eq i64 %number, 0
br i1 %is.empty, label %store, label %taken
taken:
%s.next = add i64 %s, 1
%in.bucket = icmp slt i64 %s.next, 4
br i1 %in.bucket, label %slot, label %full
full:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %bucket
store:
%row.p = getelementptr i64, ptr %out, i64 %k
%row = load i64, ptr %row.p
%row.number = add i64 %row, 1
store i64 %key, ptr %slot.p
store i64 %row.number, ptr %number.p
%k.next = add i64 %k, 1
br label %next
done:
ret void
}}
"""


def _find(size: int) -> str:
    return f"""
define internal void @find_ints_{size}(ptr %job, i64 %from, i64 %to) {{
entry:
{words(*JOB[:-1])}
%mask = lshr i64 -1, %shift
%final = sub i64 %count, 1
br label %next
next:
%k = phi i64 [%from, %entry], [%k.next, %found]
%more = icmp slt i64 %k, %to
br i1 %more, label %look, label %done
look:
%far = add i64 %k, {_AHEAD}
%ahead = call i64 @llvm.smin.i64(i64 %far, i64 %final)
%ahead.p = getelementptr i64, ptr %keys, i64 %ahead
%ahead.key = load i64, ptr %ahead.p
%ahead.hash = call i64 @mixed(i64 %ahead.key, i64 0)
%ahead.i = lshr i64 %ahead.hash, %shift
%ahead.bucket.p = getelementptr [8 x i64], ptr %slots, i64 %ahead.i
call void @llvm.prefetch.p0(ptr %ahead.bucket.p, i32 0, i32 3, i32 1)
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = load i64, ptr %key.p
%hash = call i64 @mixed(i64 %key, i64 0)
%first = lshr i64 %hash, %shift
%one = insertelement <4 x i64> poison, i64 %key, i32 0
%four = shufflevector <4 x i64> %one, <4 x i64> poison, <4 x i32> zeroinitializer
br label %bucket
bucket:
%i = phi i64 [%first, %look], [%i.next, %other]
%bucket.p = getelementptr [8 x i64], ptr %slots, i64 %i
%numbers.p = getelementptr i64, ptr %bucket.p, i64 4
%entered = load <4 x i64>, ptr %bucket.p, align 64
%numbers = load <4 x i64>, ptr %numbers.p, align 32
%are.same = icmp eq <4 x i64> %entered, %four
%picked = select <4 x i1> %are.same, <4 x i64> %numbers, <4 x i64> zeroinitializer
%number = call i64 @llvm.vector.reduce.or.v4i64(<4 x i64> %picked)
%fourth = extractelement <4 x i64> %numbers, i32 3
%is.there = icmp ne i64 %number, 0
%has.room = icmp eq i64 %fourth, 0
%is.done = or i1 %is.there, %has.room
br i1 %is.done, label %found, label %other
other:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %bucket
found:
%row.there = sub i64 %number, 1
%row = select i1 %is.there, i64 %row.there, i64 %last.row{write(size)}
%k.next = add i64 %k, 1
br label %next
done:
ret void
}}
"""


INTS = _ENTER + "".join([_find(size) for size in SIZES]) + find("ints")
