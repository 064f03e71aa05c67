"""Strings to base64 and back, one by one, as LLVM IR.

The letters are a table of the job, "data": 64 of them, or a number for each byte, 255 for those
that are no letters. `ops/strings/packed.py` tells the rest.
"""

from __future__ import annotations

# Four letters for three bytes; at the end two or three, filled up with "=" if "step" is 1.
_ENCODE = """
define internal void @put_letter(ptr %table, ptr %to, i64 %place, i64 %bits) alwaysinline {
%number = and i64 %bits, 63
%letter.p = getelementptr i8, ptr %table, i64 %number
%letter = load i8, ptr %letter.p
%to.p = getelementptr i8, ptr %to, i64 %place
store i8 %letter, ptr %to.p
ret void
}

define internal i64 @byte_up_to(ptr %text, i64 %place, i64 %size) alwaysinline {
entry:
%is.there = icmp slt i64 %place, %size
br i1 %is.there, label %read, label %done
read:
%byte.p = getelementptr i8, ptr %text, i64 %place
%byte = load i8, ptr %byte.p
%number = zext i8 %byte to i64
br label %done
done:
%out = phi i64 [0, %entry], [%number, %read]
ret i64 %out
}

; The 24 bits of three bytes; 0 for those behind the end.
define internal i64 @three_bytes(ptr %text, i64 %place, i64 %size) alwaysinline {
%place.1 = add i64 %place, 1
%place.2 = add i64 %place, 2
%b0 = call i64 @byte_up_to(ptr %text, i64 %place, i64 %size)
%b1 = call i64 @byte_up_to(ptr %text, i64 %place.1, i64 %size)
%b2 = call i64 @byte_up_to(ptr %text, i64 %place.2, i64 %size)
%high = shl i64 %b0, 16
%middle = shl i64 %b1, 8
%two = or i64 %high, %middle
%out = or i64 %two, %b2
ret i64 %out
}

define internal i64 @encode_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {
entry:
<ptr data>
<i64 step>
%groups = udiv i64 %size, 3
%grouped = mul i64 %groups, 3
%rest = sub i64 %size, %grouped
%has.rest = icmp ne i64 %rest, 0
%rest.letters = add i64 %rest, 1
%is.padded = icmp ne i64 %step, 0
%last = select i1 %is.padded, i64 4, i64 %rest.letters
%end = select i1 %has.rest, i64 %last, i64 0
%full = shl i64 %groups, 2
%room = add i64 %full, %end
%new = call ptr @new_string(ptr %job, i64 %room)
%is.made = icmp ne ptr %new, null
br i1 %is.made, label %fill, label %done
fill:
%to = getelementptr i8, ptr %new, i64 <offset bytes data>
for %g < %groups
  %place = mul i64 %g, 3
  %bits = call i64 @three_bytes(ptr %text, i64 %place, i64 %size)
  %at = shl i64 %g, 2
  %at.1 = or i64 %at, 1
  %at.2 = or i64 %at, 2
  %at.3 = or i64 %at, 3
  %bits.0 = lshr i64 %bits, 18
  %bits.1 = lshr i64 %bits, 12
  %bits.2 = lshr i64 %bits, 6
  call void @put_letter(ptr %data, ptr %to, i64 %at, i64 %bits.0)
  call void @put_letter(ptr %data, ptr %to, i64 %at.1, i64 %bits.1)
  call void @put_letter(ptr %data, ptr %to, i64 %at.2, i64 %bits.2)
  call void @put_letter(ptr %data, ptr %to, i64 %at.3, i64 %bits)
end
%tail = call i64 @three_bytes(ptr %text, i64 %grouped, i64 %size)
for %e < %end
  %shift.6 = mul i64 %e, 6
  %shift = sub i64 18, %shift.6
  %part = lshr i64 %tail, %shift
  %e.at = add i64 %full, %e
  call void @put_letter(ptr %data, ptr %to, i64 %e.at, i64 %part)
  %is.fill = icmp sgt i64 %e, %rest
  br i1 %is.fill, label %put.fill, label %put
  put.fill:
  %fill.p = getelementptr i8, ptr %to, i64 %e.at
  store i8 61, ptr %fill.p
  br label %put
  put:
end
br label %done
done:
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
}
"""

# Three bytes for four letters. "=" at the end must fill up the last four; 1 for what is no base64.
_DECODE = """
define internal i64 @number_of(ptr %table, ptr %text, i64 %place) alwaysinline {
%byte.p = getelementptr i8, ptr %text, i64 %place
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%number.p = getelementptr i8, ptr %table, i64 %wide
%number = load i8, ptr %number.p
%out = zext i8 %number to i64
ret i64 %out
}

define internal i64 @decode_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {
entry:
<ptr data>
<ptr decref>
var i64 %wrong = 0
var i64 %tail = 0
br label %back
back:
%bare = phi i64 [%size, %entry], [%last, %back.look]
%last = sub i64 %bare, 1
%is.more = icmp sgt i64 %bare, 0
br i1 %is.more, label %back.look, label %bared
back.look:
%end.p = getelementptr i8, ptr %text, i64 %last
%end.byte = load i8, ptr %end.p
%is.fill = icmp eq i8 %end.byte, 61
br i1 %is.fill, label %back, label %bared
bared:
%is.padded = icmp ne i64 %bare, %size
%rest = and i64 %bare, 3
%up = add i64 %bare, 3
%filled = and i64 %up, -4
%is.filled = icmp eq i64 %filled, %size
%is.bare = xor i1 %is.padded, true
%is.whole = or i1 %is.bare, %is.filled
%is.enough = icmp ne i64 %rest, 1
%is.fine = and i1 %is.whole, %is.enough
br i1 %is.fine, label %make, label %other
make:
%groups = lshr i64 %bare, 2
%grouped = shl i64 %groups, 2
%less = sub i64 %rest, 1
%has.rest = icmp ne i64 %rest, 0
%end = select i1 %has.rest, i64 %less, i64 0
%full = mul i64 %groups, 3
%room = add i64 %full, %end
%new = call ptr @new_string(ptr %job, i64 %room)
%is.made = icmp ne ptr %new, null
br i1 %is.made, label %fill, label %done
fill:
%to = getelementptr i8, ptr %new, i64 <offset bytes data>
for %g < %groups
  %at = shl i64 %g, 2
  %at.1 = or i64 %at, 1
  %at.2 = or i64 %at, 2
  %at.3 = or i64 %at, 3
  %n0 = call i64 @number_of(ptr %data, ptr %text, i64 %at)
  %n1 = call i64 @number_of(ptr %data, ptr %text, i64 %at.1)
  %n2 = call i64 @number_of(ptr %data, ptr %text, i64 %at.2)
  %n3 = call i64 @number_of(ptr %data, ptr %text, i64 %at.3)
  %or.1 = or i64 %n0, %n1
  %or.2 = or i64 %n2, %n3
  %or.3 = or i64 %or.1, %or.2
  %wrong.before = load i64, ptr %wrong
  %wrong.now = or i64 %wrong.before, %or.3
  store i64 %wrong.now, ptr %wrong
  %s0 = shl i64 %n0, 18
  %s1 = shl i64 %n1, 12
  %s2 = shl i64 %n2, 6
  %b.1 = or i64 %s0, %s1
  %b.2 = or i64 %s2, %n3
  %bits = or i64 %b.1, %b.2
  %high = lshr i64 %bits, 16
  %middle = lshr i64 %bits, 8
  %byte.0 = trunc i64 %high to i8
  %byte.1 = trunc i64 %middle to i8
  %byte.2 = trunc i64 %bits to i8
  %place = mul i64 %g, 3
  %to.0 = getelementptr i8, ptr %to, i64 %place
  %to.1 = getelementptr i8, ptr %to.0, i64 1
  %to.2 = getelementptr i8, ptr %to.0, i64 2
  store i8 %byte.0, ptr %to.0
  store i8 %byte.1, ptr %to.1
  store i8 %byte.2, ptr %to.2
end
for %t < %rest
  %t.at = add i64 %grouped, %t
  %t.number = call i64 @number_of(ptr %data, ptr %text, i64 %t.at)
  %t.wrong = load i64, ptr %wrong
  %t.wrong.now = or i64 %t.wrong, %t.number
  store i64 %t.wrong.now, ptr %wrong
  %t.shift.6 = mul i64 %t, 6
  %t.shift = sub i64 18, %t.shift.6
  %t.bits = shl i64 %t.number, %t.shift
  %t.before = load i64, ptr %tail
  %t.after = or i64 %t.before, %t.bits
  store i64 %t.after, ptr %tail
end
for %e < %end
  %e.shift.8 = shl i64 %e, 3
  %e.shift = sub i64 16, %e.shift.8
  %e.all = load i64, ptr %tail
  %e.bits = lshr i64 %e.all, %e.shift
  %e.byte = trunc i64 %e.bits to i8
  %e.at = add i64 %full, %e
  %e.p = getelementptr i8, ptr %to, i64 %e.at
  store i8 %e.byte, ptr %e.p
end
%numbers = load i64, ptr %wrong
%is.base64 = icmp ult i64 %numbers, 64
br i1 %is.base64, label %done, label %drop
drop:
call void %decref(ptr %new)
br label %other
done:
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
other:
ret i64 1
}
"""

OF_STRINGS = ("encode", "decode")
TEXT = _ENCODE + _DECODE
