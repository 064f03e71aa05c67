"""Lists of values in the wire format of protocol buffers, as LLVM IR (see `reading.py`).

A place is a pointer in memory of its own, the cursor, which LLVM turns into a register; it is null
once something was not as expected. Every read is preceded by a comparison with the end of what it
belongs to.
"""

# Numbers, lengths, and what lies between fields that are wanted.
WALK = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @number(ptr %cursor, ptr %end, i64 %most.bits) alwaysinline {
entry:
%start = load ptr, ptr %cursor
br label %next
next:
%p = phi ptr [%start, %entry], [%p.next, %more]
%n = phi i64 [0, %entry], [%n.next, %more]
%shift = phi i64 [0, %entry], [%shift.next, %more]
%is.inside = icmp ult ptr %p, %end
br i1 %is.inside, label %read, label %wrong
read:
%byte = load i8, ptr %p
%wide = zext i8 %byte to i64
%low = and i64 %wide, 127
%moved = shl i64 %low, %shift
%n.next = or i64 %n, %moved
%p.next = getelementptr i8, ptr %p, i64 1
%shift.next = add i64 %shift, 7
%is.last = icmp ult i64 %wide, 128
br i1 %is.last, label %done, label %more
more:
%fits = icmp ult i64 %shift.next, %most.bits
br i1 %fits, label %next, label %wrong
done:
store ptr %p.next, ptr %cursor
ret i64 %n.next
wrong:
store ptr null, ptr %cursor
ret i64 0
}

define internal i64 @size(ptr %cursor, ptr %end) alwaysinline {
%n = call i64 @number(ptr %cursor, ptr %end, i64 35)
%p = load ptr, ptr %cursor
%p.word = ptrtoint ptr %p to i64
%end.word = ptrtoint ptr %end to i64
%room = sub i64 %end.word, %p.word
%fits = icmp ule i64 %n, %room
%is.there = icmp ne ptr %p, null
%is.fine = and i1 %fits, %is.there
%kept = select i1 %is.fine, ptr %p, ptr null
store ptr %kept, ptr %cursor
%out = select i1 %is.fine, i64 %n, i64 0
ret i64 %out
}

define internal void @advance(ptr %cursor, ptr %end, i64 %count) alwaysinline {
%p = load ptr, ptr %cursor
%p.word = ptrtoint ptr %p to i64
%end.word = ptrtoint ptr %end to i64
%room = sub i64 %end.word, %p.word
%fits = icmp ule i64 %count, %room
%behind = getelementptr i8, ptr %p, i64 %count
%kept = select i1 %fits, ptr %behind, ptr null
store ptr %kept, ptr %cursor
ret void
}

define internal i64 @key(ptr %cursor, ptr %end) alwaysinline {
%n = call i64 @number(ptr %cursor, ptr %end, i64 14)
%has.number = icmp uge i64 %n, 8
%p = load ptr, ptr %cursor
%kept = select i1 %has.number, ptr %p, ptr null
store ptr %kept, ptr %cursor
ret i64 %n
}

define internal ptr @skip(ptr %start, ptr %end, i64 %key) {
entry:
%cursor = alloca ptr
store ptr %start, ptr %cursor
%stored = and i64 %key, 7
switch i64 %stored, label %unusual [
i64 0, label %varint
i64 1, label %eight
i64 2, label %bytes
i64 5, label %four
]
varint:
%n = call i64 @number(ptr %cursor, ptr %end, i64 70)
br label %done
eight:
call void @advance(ptr %cursor, ptr %end, i64 8)
br label %done
bytes:
%size = call i64 @size(ptr %cursor, ptr %end)
%q = load ptr, ptr %cursor
%is.sized = icmp ne ptr %q, null
br i1 %is.sized, label %behind, label %unusual
behind:
call void @advance(ptr %cursor, ptr %end, i64 %size)
br label %done
four:
call void @advance(ptr %cursor, ptr %end, i64 4)
br label %done
done:
%p = load ptr, ptr %cursor
ret ptr %p
unusual:
ret ptr null
}
"""

# How many values a list has: -1 if it is unusual. Numbers end with a byte below 128; whether one
# is too long is seen when they are read.
COUNT = """
define internal i64 @count(ptr %begin, ptr %end, i64 %kind) {
entry:
%cursor = alloca ptr
store ptr %begin, ptr %cursor
br label %field
field:
%total = phi i64 [0, %entry], [%total.next, %checked]
%p = load ptr, ptr %cursor
%is.inside = icmp ult ptr %p, %end
br i1 %is.inside, label %read, label %done
read:
%key = call i64 @key(ptr %cursor, ptr %end)
%q = load ptr, ptr %cursor
%is.key = icmp ne ptr %q, null
br i1 %is.key, label %ask, label %wrong
ask:
%is.bytes = icmp eq i64 %key, 10
br i1 %is.bytes, label %sized, label %single
sized:
%size = call i64 @size(ptr %cursor, ptr %end)
%content = load ptr, ptr %cursor
%is.sized = icmp ne ptr %content, null
br i1 %is.sized, label %which, label %wrong
which:
%behind = getelementptr i8, ptr %content, i64 %size
store ptr %behind, ptr %cursor
switch i64 %kind, label %text [
i64 2, label %floats
i64 3, label %integers
]
text:
br label %checked
floats:
%some = lshr i64 %size, 2
%rest = and i64 %size, 3
%is.whole = icmp eq i64 %rest, 0
br i1 %is.whole, label %checked, label %wrong
integers:
%has.some = icmp ne i64 %size, 0
br i1 %has.some, label %byte, label %checked
byte:
%i = phi i64 [0, %integers], [%i.next, %byte]
%ends = phi i64 [0, %integers], [%ends.next, %byte]
%byte.p = getelementptr i8, ptr %content, i64 %i
%b = load i8, ptr %byte.p
%is.end = icmp sge i8 %b, 0
%is.end.wide = zext i1 %is.end to i64
%ends.next = add i64 %ends, %is.end.wide
%i.next = add i64 %i, 1
%has.more = icmp ult i64 %i.next, %size
br i1 %has.more, label %byte, label %counted
counted:
%last.p = getelementptr i8, ptr %behind, i64 -1
%last = load i8, ptr %last.p
%is.closed = icmp sge i8 %last, 0
br i1 %is.closed, label %checked, label %wrong
single:
%is.float = icmp eq i64 %kind, 2
%is.integer = icmp eq i64 %kind, 3
%is.fixed = icmp eq i64 %key, 13
%is.varint = icmp eq i64 %key, 8
%one.float = and i1 %is.float, %is.fixed
%one.integer = and i1 %is.integer, %is.varint
%is.value = or i1 %one.float, %one.integer
%is.value.wide = zext i1 %is.value to i64
%skipped = call ptr @skip(ptr %q, ptr %end, i64 %key)
store ptr %skipped, ptr %cursor
br label %checked
checked:
%found = phi i64 [1, %text], [%some, %floats], [0, %integers], [%ends.next, %counted],
 [%is.value.wide, %single]
%total.next = add i64 %total, %found
%r = load ptr, ptr %cursor
%is.fine = icmp ne ptr %r, null
br i1 %is.fine, label %field, label %wrong
done:
ret i64 %total
wrong:
ret i64 -1
}
"""

# Writes the values of a list, never behind `stop`, and tells where the next ones go; null if it is
# unusual after all. Bytes become new objects.
COPY = """
define internal ptr @copy(ptr %job, ptr %begin, ptr %end, i64 %kind, ptr %to, ptr %stop) {
entry:
<ptr new bytes>
<ptr decref>
%cursor = alloca ptr
store ptr %begin, ptr %cursor
br label %field
field:
%at = phi ptr [%to, %entry], [%at, %skipped], [%at.text, %stored], [%at.floats, %copied],
 [%at.float, %float], [%at.number, %write.number], [%at.packed, %packed]
%p = load ptr, ptr %cursor
%is.inside = icmp ult ptr %p, %end
br i1 %is.inside, label %read, label %done
read:
%key = call i64 @key(ptr %cursor, ptr %end)
%q = load ptr, ptr %cursor
%is.key = icmp ne ptr %q, null
br i1 %is.key, label %ask, label %wrong
ask:
%at.word = ptrtoint ptr %at to i64
%stop.word = ptrtoint ptr %stop to i64
%room = sub i64 %stop.word, %at.word
%is.bytes = icmp eq i64 %key, 10
br i1 %is.bytes, label %sized, label %single
sized:
%size = call i64 @size(ptr %cursor, ptr %end)
%content = load ptr, ptr %cursor
%is.sized = icmp ne ptr %content, null
br i1 %is.sized, label %which, label %wrong
which:
%behind = getelementptr i8, ptr %content, i64 %size
switch i64 %kind, label %text [
i64 2, label %floats
i64 3, label %packed
]
text:
store ptr %behind, ptr %cursor
%has.room = icmp uge i64 %room, 8
br i1 %has.room, label %make, label %wrong
make:
%made = call ptr %new.bytes(ptr %content, i64 %size)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %stored, label %wrong
stored:
%old = load ptr, ptr %at
store ptr %made, ptr %at
call void %decref(ptr %old)
%at.text = getelementptr i8, ptr %at, i64 8
br label %field
floats:
store ptr %behind, ptr %cursor
%fit = icmp uge i64 %room, %size
br i1 %fit, label %copied, label %wrong
copied:
call void @llvm.memcpy.p0.p0.i64(ptr %at, ptr %content, i64 %size, i1 false)
%at.floats = getelementptr i8, ptr %at, i64 %size
br label %field
packed:
%at.packed = phi ptr [%at, %which], [%at.next, %write.packed]
%r = load ptr, ptr %cursor
%has.more = icmp ult ptr %r, %behind
br i1 %has.more, label %number, label %field
number:
%n = call i64 @number(ptr %cursor, ptr %behind, i64 70)
%r.next = load ptr, ptr %cursor
%is.number = icmp ne ptr %r.next, null
%is.before = icmp ult ptr %at.packed, %stop
%is.fine = and i1 %is.number, %is.before
br i1 %is.fine, label %write.packed, label %wrong
write.packed:
store i64 %n, ptr %at.packed
%at.next = getelementptr i8, ptr %at.packed, i64 8
br label %packed
single:
%is.float = icmp eq i64 %kind, 2
%is.fixed = icmp eq i64 %key, 13
%one.float = and i1 %is.float, %is.fixed
br i1 %one.float, label %fixed, label %not.fixed
fixed:
call void @advance(ptr %cursor, ptr %end, i64 4)
%s = load ptr, ptr %cursor
%is.advanced = icmp ne ptr %s, null
%has.room.4 = icmp uge i64 %room, 4
%float.fine = and i1 %is.advanced, %has.room.4
br i1 %float.fine, label %float, label %wrong
float:
%float.value = load i32, ptr %q, align 1
store i32 %float.value, ptr %at
%at.float = getelementptr i8, ptr %at, i64 4
br label %field
not.fixed:
%is.integer = icmp eq i64 %kind, 3
%is.varint = icmp eq i64 %key, 8
%one.integer = and i1 %is.integer, %is.varint
br i1 %one.integer, label %varint, label %other
varint:
%m = call i64 @number(ptr %cursor, ptr %end, i64 70)
%t = load ptr, ptr %cursor
%is.read = icmp ne ptr %t, null
%has.room.8 = icmp uge i64 %room, 8
%number.fine = and i1 %is.read, %has.room.8
br i1 %number.fine, label %write.number, label %wrong
write.number:
store i64 %m, ptr %at
%at.number = getelementptr i8, ptr %at, i64 8
br label %field
other:
%u = call ptr @skip(ptr %q, ptr %end, i64 %key)
store ptr %u, ptr %cursor
%is.skipped = icmp ne ptr %u, null
br i1 %is.skipped, label %skipped, label %wrong
skipped:
br label %field
done:
ret ptr %at
wrong:
ret ptr null
}
"""
