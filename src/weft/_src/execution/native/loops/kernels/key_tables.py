"""Tables of keys, as LLVM IR: where keys are entered, and found again by open addressing.

The slot of an integer is the key and its row. That of a string has four words: its first and its
last eight bytes, the bytes object, and its size above its row; so short strings are compared
without a look at the object. A last word of -1 is an empty slot, and at least every other is.

Keys are hashed in blocks before the first of a block is looked for, so that their slots are on the
way from memory meanwhile (a million strings in 27 ms instead of 38); string objects are fetched
while others are hashed (21 ms instead of 24). For integers the processor does it by itself.
"""

from __future__ import annotations

from typing import NamedTuple

# The words of a job, which is all that machine code is given: addresses, and numbers.
JOB = (
    "keys", "count", "slots", "shift", "bytes type", "out", "values", "last row", "size", "failed",
)  # fmt: skip

BLOCK = 32
_AHEAD = 24
_PIECE = 1 << 14  # keys; threads share lookups of four such pieces or more
_FACTOR = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio, as an odd number

# A string is its first and its last eight bytes, which may overlap, and what lies between. Of a
# short one both are the word that ends with it: what stands before is the object's own header, and
# is shifted out. So strings of up to 16 bytes are read without a branch, which would be guessed
# wrong where lengths differ.
_COMMON = f"""
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare void @weft_parallel(ptr, ptr, i64, i64)

%ends = type {{ i64, i64, i64 }}

define internal i64 @mixed(i64 %hash, i64 %word) alwaysinline {{
%both = xor i64 %hash, %word
%high = lshr i64 %both, 32
%folded = xor i64 %both, %high
%product = mul i64 %folded, {_FACTOR}
%top = lshr i64 %product, 32
%out = xor i64 %product, %top
ret i64 %out
}}

define internal i1 @is_bytes(ptr %object, ptr %bytes.type) alwaysinline {{
entry:
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %answer
ask:
%type.p = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.p
%same = icmp eq ptr %type, %bytes.type
br label %answer
answer:
%out = phi i1 [false, %entry], [%same, %ask]
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


class _Kind(NamedTuple):
    """What differs between integers and strings."""

    name: str
    words: int  # of a slot
    load: str  # %key, from %key.p
    ahead: str  # has a key that comes later fetched
    check: str  # goes on at "fine", or at "stopped"
    hash: str
    store: str  # the words of a slot, from %key, %hash and %row
    compare: str  # %slot with %key and %hash; goes on at "found" with %row.found, or at "other"


_INT = _Kind(
    name="int",
    words=2,
    load="load i64, ptr %key.p",
    ahead="",
    check="br label %fine",
    hash="call i64 @mixed(i64 %key, i64 0)",
    store="""
store i64 %key, ptr %slot
store i64 %row, ptr %mark.p""",
    # One branch for found and empty slots, which is nearly always taken.
    compare="""
%entered = load i64, ptr %slot
%is.same = icmp eq i64 %entered, %key
%row = select i1 %is.same, i64 %mark, i64 -1
%is.empty = icmp eq i64 %mark, -1
%is.done = or i1 %is.same, %is.empty
br i1 %is.done, label %found, label %other
found:
%row.found = phi i64 [%row, %probe]""",
)

_STRING = _Kind(
    name="string",
    words=4,
    load="load ptr, ptr %key.p",
    ahead=f"""
%j.far = add i64 %j, {_AHEAD}
%j.top = sub i64 %count, 1
%j.ahead = call i64 @llvm.smin.i64(i64 %j.far, i64 %j.top)
%ahead.p = getelementptr ptr, ptr %keys, i64 %j.ahead
%ahead = load ptr, ptr %ahead.p
call void @llvm.prefetch.p0(ptr %ahead, i32 0, i32 3, i32 1)""",
    check="""
%is.bytes = call i1 @is_bytes(ptr %key, ptr %bytes.type)
br i1 %is.bytes, label %fine, label %stopped""",
    hash="call i64 @hash_of(ptr %key)",
    store="""
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
store i64 %mark.new, ptr %mark.p""",
    compare="""
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
%row = and i64 %mark, 4294967295
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
%row.found = phi i64 [%row, %alike], [%row, %compare], [-1, %differs]""",
)


def _words(*names: str) -> str:
    """Loads words of the job."""
    lines = []
    for name in names:
        word, kind = name.replace(" ", "."), "ptr" if name in _ADDRESSES else "i64"
        lines += [
            f"%{word}.p = getelementptr i64, ptr %job, i64 {JOB.index(name)}",
            f"%{word} = load {kind}, ptr %{word}.p",
        ]
    return "\n".join(lines)


_ADDRESSES = {"keys", "slots", "bytes type", "out", "values"}


def _enter(kind: _Kind) -> str:
    """Enters keys that are not there with the rows in "out"."""
    return f"""
define void @weft_enter_{kind.name}s(ptr %job) {{
entry:
{_words("keys", "count", "slots", "shift", "bytes type", "out", "failed")}
%mask = lshr i64 -1, %shift
br label %next
next:
%k = phi i64 [0, %entry], [%k.next, %store]
%more = icmp slt i64 %k, %count
br i1 %more, label %look, label %done
look:
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = {kind.load}
{kind.check}
fine:
%hash = {kind.hash}
%row.p = getelementptr i64, ptr %out, i64 %k
%row = load i64, ptr %row.p
%first = lshr i64 %hash, %shift
br label %probe
probe:
%i = phi i64 [%first, %fine], [%i.next, %taken]
%slot = getelementptr [{kind.words} x i64], ptr %slots, i64 %i
%mark.p = getelementptr i64, ptr %slot, i64 {kind.words - 1}
%mark = load i64, ptr %mark.p
%is.empty = icmp eq i64 %mark, -1
br i1 %is.empty, label %store, label %taken
taken:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %probe
store:{kind.store}
%k.next = add i64 %k, 1
br label %next
stopped:
store i64 1, ptr %failed.p
br label %done
done:
ret void
}}
"""


def _find(kind: _Kind) -> str:
    """Writes the values of keys (of 1, 4 or 8 bytes), or, if they have no size, their rows.

    The row of a key that is not there is -1; its value is that of the last row.
    """
    return f"""
define internal void @find_{kind.name}s(ptr %job, i64 %from, i64 %to) {{
entry:
{_words(*JOB)}
%found.rows = alloca [{BLOCK} x i64], align 64
%mask = lshr i64 -1, %shift
br label %block
block:
%begin = phi i64 [%from, %entry], [%end, %written]
%some = icmp slt i64 %begin, %to
br i1 %some, label %bounds, label %done
bounds:
%full = add i64 %begin, {BLOCK}
%end = call i64 @llvm.smin.i64(i64 %full, i64 %to)
br label %look
look:
%j = phi i64 [%begin, %bounds], [%j.next, %fine]
%looked.p = getelementptr i64, ptr %keys, i64 %j{kind.ahead}
{_renamed(kind)}
%j.at = sub i64 %j, %begin
%hashed.p = getelementptr i64, ptr %found.rows, i64 %j.at
store i64 %looked.hash, ptr %hashed.p
%expected = lshr i64 %looked.hash, %shift
%expected.p = getelementptr [{kind.words} x i64], ptr %slots, i64 %expected
call void @llvm.prefetch.p0(ptr %expected.p, i32 0, i32 3, i32 1)
%j.next = add i64 %j, 1
%in.block = icmp slt i64 %j.next, %end
br i1 %in.block, label %look, label %search
search:
%k = phi i64 [%begin, %fine], [%k.next, %found]
%key.p = getelementptr i64, ptr %keys, i64 %k
%key = {kind.load}
%k.at = sub i64 %k, %begin
%found.p = getelementptr i64, ptr %found.rows, i64 %k.at
%hash = load i64, ptr %found.p
%first = lshr i64 %hash, %shift
br label %probe
probe:
%i = phi i64 [%first, %search], [%i.next, %other]
%slot = getelementptr [{kind.words} x i64], ptr %slots, i64 %i
%mark.p = getelementptr i64, ptr %slot, i64 {kind.words - 1}
%mark = load i64, ptr %mark.p{kind.compare}
store i64 %row.found, ptr %found.p
%k.next = add i64 %k, 1
%is.more = icmp slt i64 %k.next, %end
br i1 %is.more, label %search, label %write
other:
%after = add i64 %i, 1
%i.next = and i64 %after, %mask
br label %probe
write:
%count.here = sub i64 %end, %begin
switch i64 %size, label %write.rows [
  i64 1, label %write.i8
  i64 4, label %write.i32
  i64 8, label %write.i64
]
write.rows:
%rows.p = getelementptr i64, ptr %out, i64 %begin
%bytes = shl i64 %count.here, 3
call void @llvm.memcpy.p0.p0.i64(ptr %rows.p, ptr %found.rows, i64 %bytes, i1 false)
br label %written
{_write("i8")}
{_write("i32")}
{_write("i64")}
written:
br label %block
stopped:
store i64 1, ptr %failed.p
br label %done
done:
ret void
}}

define void @weft_find_{kind.name}s(ptr %job) {{
entry:
{_words("count")}
%is.much = icmp sge i64 %count, {4 * _PIECE}
br i1 %is.much, label %share, label %alone
share:
call void @weft_parallel(ptr @find_{kind.name}s, ptr %job, i64 %count, i64 {_PIECE})
br label %done
alone:
call void @find_{kind.name}s(ptr %job, i64 0, i64 %count)
br label %done
done:
ret void
}}
"""


def _write(kind: str) -> str:
    """Writes the values of the rows of a block."""
    text = """
write.T:
br label %next.T
next.T:
%w.T = phi i64 [0, %write.T], [%w.next.T, %next.T]
%w.row.p.T = getelementptr i64, ptr %found.rows, i64 %w.T
%w.row.T = load i64, ptr %w.row.p.T
%w.none.T = icmp slt i64 %w.row.T, 0
%w.at.T = select i1 %w.none.T, i64 %last.row, i64 %w.row.T
%w.value.p.T = getelementptr T, ptr %values, i64 %w.at.T
%w.value.T = load T, ptr %w.value.p.T
%w.place.T = add i64 %begin, %w.T
%w.out.p.T = getelementptr T, ptr %out, i64 %w.place.T
store T %w.value.T, ptr %w.out.p.T
%w.next.T = add i64 %w.T, 1
%w.more.T = icmp slt i64 %w.next.T, %count.here
br i1 %w.more.T, label %next.T, label %written"""
    return text.replace(".T", f".{kind}").replace("T,", f"{kind},").replace("T %", f"{kind} %")


def _renamed(kind: _Kind) -> str:
    """The key of the first pass over a block, and its hash."""
    text = f"%key = {kind.load}\n{kind.check}\nfine:\n%hash = {kind.hash}"
    return text.replace("%key", "%looked").replace("%hash ", "%looked.hash ")


TEXT = _COMMON + "".join([_enter(kind) + _find(kind) for kind in (_INT, _STRING)])
