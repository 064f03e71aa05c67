"""Tables of strings, as LLVM IR; the rest is told in `key_tables.py`.

A slot has four words: the first and the last eight bytes of a string, the bytes object, and its
size above its row, -1 if the slot is empty. So short strings are compared without a look at the
object.

Keys are hashed in blocks before the first of a block is looked for, so that their slots are on the
way from memory meanwhile (a million strings in 27 ms instead of 38); and objects are fetched while
others are hashed (21 ms instead of 24).
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels.key_tables import JOB, SIZES, find, words, write

_BLOCK, _AHEAD = 32, 24

# A string is its first and its last eight bytes, which may overlap, and what lies between. Of a
# short one both are the word that ends with it: what stands before is the object's own header, and
# is shifted out. So strings of up to 16 bytes are read without a branch, which would be guessed
# wrong where lengths differ. Sizes must fit the upper half of the last word of a slot.
_COMMON = f"""
%ends = type {{ i64, i64, i64 }}

define internal i1 @is_bytes(ptr %object, ptr %bytes.type) alwaysinline {{
entry:
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %answer
ask:
%type.p = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.p
%same = icmp eq ptr %type, %bytes.type
br i1 %same, label %measure, label %answer
measure:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
%fits = icmp ult i64 %size, {1 << 31}
br label %answer
answer:
%out = phi i1 [false, %entry], [false, %ask], [%fits, %measure]
ret i1 %out
}}

define internal %ends @ends_of(ptr %object) alwaysinline {{
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
%behind = getelementptr i8, ptr %data, i64 %size
%last.p = getelementptr i8, ptr %behind, i64 -8
%is.long = icmp sgt i64 %size, 8
%first.p = select i1 %is.long, ptr %data, ptr %last.p
%lacking = sub i64 8, %size
%half = select i1 %is.long, i64 0, i64 %lacking
%bits = shl i64 %half, 2
%first.raw = load i64, ptr %first.p, align 1
%last.raw = load i64, ptr %last.p, align 1
%first.part = lshr i64 %first.raw, %bits
%last.part = lshr i64 %last.raw, %bits
%first = lshr i64 %first.part, %bits
%last = lshr i64 %last.part, %bits
%one = insertvalue %ends undef, i64 %size, 0
%two = insertvalue %ends %one, i64 %first, 1
%out = insertvalue %ends %two, i64 %last, 2
ret %ends %out
}}

define internal i64 @hash_of(ptr %object) alwaysinline {{
entry:
%ends = call %ends @ends_of(ptr %object)
%size = extractvalue %ends %ends, 0
%first = extractvalue %ends %ends, 1
%last = extractvalue %ends %ends, 2
%begun = call i64 @mixed(i64 %size, i64 %first)
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
%stop = sub i64 %size, 8
br label %word
word:
%i = phi i64 [8, %entry], [%i.next, %take]
%hash = phi i64 [%begun, %entry], [%hash.next, %take]
%more = icmp slt i64 %i, %stop
br i1 %more, label %take, label %end
take:
%p = getelementptr i8, ptr %data, i64 %i
%w = load i64, ptr %p, align 1
%hash.next = call i64 @mixed(i64 %hash, i64 %w)
%i.next = add i64 %i, 8
br label %word
end:
%with.last = call i64 @mixed(i64 %hash, i64 %last)
ret i64 %with.last
}}

define internal i1 @same_between(ptr %a, ptr %b, i64 %size) alwaysinline {{
begin:
%a.data = getelementptr i8, ptr %a, i64 <offset bytes data>
%b.data = getelementptr i8, ptr %b, i64 <offset bytes data>
%stop = sub i64 %size, 8
br label %word
word:
%i = phi i64 [8, %begin], [%i.next, %same]
%more = icmp slt i64 %i, %stop
br i1 %more, label %take, label %yes
take:
%a.p = getelementptr i8, ptr %a.data, i64 %i
%b.p = getelementptr i8, ptr %b.data, i64 %i
%a.w = load i64, ptr %a.p, align 1
%b.w = load i64, ptr %b.p, align 1
%is.same = icmp eq i64 %a.w, %b.w
br i1 %is.same, label %same, label %no
same:
%i.next = add i64 %i, 8
br label %word
yes:
ret i1 true
no:
ret i1 false
}}
"""

_ENTER = f"""
define void @weft_enter_strings(ptr %job) {{
entry:
{words("keys", "count", "slots", "shift", "bytes type", "out", "failed")}
%mask = lshr i64 -1, %shift
br label %next
next:
%k = phi i64 [0, %entry], [%k.next, %store]
%more = icmp slt i64 %k, %count
br i1 %more, label %look, label %done
look:
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = load ptr, ptr %key.p
%is.bytes = call i1 @is_bytes(ptr %key, ptr %bytes.type)
br i1 %is.bytes, label %fine, label %stopped
fine:
%hash = call i64 @hash_of(ptr %key)
%row.p = getelementptr i64, ptr %out, i64 %k
%row = load i64, ptr %row.p
%first = lshr i64 %hash, %shift
br label %probe
probe:
%i = phi i64 [%first, %fine], [%i.next, %taken]
%slot = getelementptr [4 x i64], ptr %slots, i64 %i
%mark.p = getelementptr i64, ptr %slot, i64 3
%mark = load i64, ptr %mark.p
%is.empty = icmp eq i64 %mark, -1
br i1 %is.empty, label %store, label %taken
taken:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %probe
store:
%ends = call %ends @ends_of(ptr %key)
%key.size = extractvalue %ends %ends, 0
%key.first = extractvalue %ends %ends, 1
%key.last = extractvalue %ends %ends, 2
%last.p = getelementptr i64, ptr %slot, i64 1
%object.p = getelementptr i64, ptr %slot, i64 2
%upper = shl i64 %key.size, 32
%mark.new = or i64 %upper, %row
store i64 %key.first, ptr %slot
store i64 %key.last, ptr %last.p
store ptr %key, ptr %object.p
store i64 %mark.new, ptr %mark.p
%k.next = add i64 %k, 1
br label %next
stopped:
store i64 1, ptr %failed.p
br label %done
done:
ret void
}}
"""

# Goes on at "found" with %row, or at "other".
_COMPARE = """
%ends = call %ends @ends_of(ptr %key)
%key.size = extractvalue %ends %ends, 0
%key.first = extractvalue %ends %ends, 1
%key.last = extractvalue %ends %ends, 2
%last.p = getelementptr i64, ptr %slot, i64 1
%slot.size = lshr i64 %mark, 32
%slot.first = load i64, ptr %slot
%slot.last = load i64, ptr %last.p
%size.differs = xor i64 %key.size, %slot.size
%first.differs = xor i64 %key.first, %slot.first
%last.differs = xor i64 %key.last, %slot.last
%some.differ = or i64 %size.differs, %first.differs
%differ = or i64 %some.differ, %last.differs
%row.here = and i64 %mark, 4294967295
%is.alike = icmp eq i64 %differ, 0
br i1 %is.alike, label %alike, label %differs
alike:
%is.short = icmp sle i64 %key.size, 16
br i1 %is.short, label %found, label %compare
compare:
%object.p = getelementptr i64, ptr %slot, i64 2
%object = load ptr, ptr %object.p
%is.same = call i1 @same_between(ptr %object, ptr %key, i64 %key.size)
br i1 %is.same, label %found, label %differs
differs:
%is.empty = icmp eq i64 %mark, -1
br i1 %is.empty, label %found, label %other
found:
%row = phi i64 [%row.here, %alike], [%row.here, %compare], [%last.row, %differs]"""


def _find(size: int) -> str:
    return f"""
define internal void @find_strings_{size}(ptr %job, i64 %from, i64 %to) {{
entry:
{words(*JOB)}
%hashes = alloca [{_BLOCK} x i64], align 64
%mask = lshr i64 -1, %shift
%final = sub i64 %count, 1
br label %block
block:
%begin = phi i64 [%from, %entry], [%end, %found]
%some = icmp slt i64 %begin, %to
br i1 %some, label %bounds, label %done
bounds:
%full = add i64 %begin, {_BLOCK}
%end = call i64 @llvm.smin.i64(i64 %full, i64 %to)
br label %look
look:
%j = phi i64 [%begin, %bounds], [%j.next, %fine]
%far = add i64 %j, {_AHEAD}
%ahead = call i64 @llvm.smin.i64(i64 %far, i64 %final)
%ahead.p = getelementptr ptr, ptr %keys, i64 %ahead
%ahead.key = load ptr, ptr %ahead.p
call void @llvm.prefetch.p0(ptr %ahead.key, i32 0, i32 3, i32 1)
%j.key.p = getelementptr ptr, ptr %keys, i64 %j
%j.key = load ptr, ptr %j.key.p
%is.bytes = call i1 @is_bytes(ptr %j.key, ptr %bytes.type)
br i1 %is.bytes, label %fine, label %stopped
fine:
%j.hash = call i64 @hash_of(ptr %j.key)
%j.at = sub i64 %j, %begin
%j.hash.p = getelementptr i64, ptr %hashes, i64 %j.at
store i64 %j.hash, ptr %j.hash.p
%expected = lshr i64 %j.hash, %shift
%expected.p = getelementptr [4 x i64], ptr %slots, i64 %expected
call void @llvm.prefetch.p0(ptr %expected.p, i32 0, i32 3, i32 1)
%j.next = add i64 %j, 1
%in.block = icmp slt i64 %j.next, %end
br i1 %in.block, label %look, label %search
search:
%k = phi i64 [%begin, %fine], [%k.next, %found]
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = load ptr, ptr %key.p
%k.at = sub i64 %k, %begin
%hash.p = getelementptr i64, ptr %hashes, i64 %k.at
%hash = load i64, ptr %hash.p
%first = lshr i64 %hash, %shift
br label %probe
probe:
%i = phi i64 [%first, %search], [%i.next, %other]
%slot = getelementptr [4 x i64], ptr %slots, i64 %i
%mark.p = getelementptr i64, ptr %slot, i64 3
%mark = load i64, ptr %mark.p{_COMPARE}{write(size)}
%k.next = add i64 %k, 1
%is.more = icmp slt i64 %k.next, %end
br i1 %is.more, label %search, label %block
other:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %probe
stopped:
store i64 1, ptr %failed.p
br label %done
done:
ret void
}}
"""


STRINGS = _COMMON + _ENTER + "".join([_find(size) for size in SIZES]) + find("strings")
