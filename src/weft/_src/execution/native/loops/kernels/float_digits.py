"""Floats as text with so many digits behind the point, as LLVM IR: what C's "%.6f" writes.

A double is a whole number times a power of two, so what is asked for is a whole number divided by
a power of two: 128 bits hold it, and it is rounded as it is, to even if it lies in the middle.
Places of those that have too many digits, of infinities and of what is no number are noted, and
counted: Python writes them. `ops/strings/packed.py` tells the rest.
"""

from __future__ import annotations

MOST_DIGITS = 15  # behind the point: 10**15 times a mantissa has less than 104 bits
_ROOM = 40  # bytes: a sign, a point, twenty digits, and fifteen zeros before those

# "data" are the doubles, "step" the digits behind the point, "room" ten to their power.
_FIXED = f"""
define internal i64 @fixed_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr data>
<i64 step>
<i64 room>
%buffer = alloca [{_ROOM} x i8]
%value.p = getelementptr i64, ptr %data, i64 %k
%bits = load i64, ptr %value.p
%shifted = lshr i64 %bits, 52
%exponent = and i64 %shifted, 2047
%fraction = and i64 %bits, {(1 << 52) - 1}
; Up to 2**53; very small ones have no leading one, and the exponent of the smallest that have.
%is.large = icmp ugt i64 %exponent, 1075
br i1 %is.large, label %later, label %scale
scale:
%is.tiny = icmp eq i64 %exponent, 0
%one = select i1 %is.tiny, i64 0, i64 {1 << 52}
%mantissa = or i64 %fraction, %one
%lift = zext i1 %is.tiny to i64
%power = add i64 %exponent, %lift
%places = sub i64 1075, %power
; With 126 places or more nothing is left but zeros.
%is.less = icmp ult i64 %places, 126
%count = select i1 %is.less, i64 %places, i64 126
%wide = zext i64 %mantissa to i128
%ten = zext i64 %room to i128
%product = mul nuw i128 %wide, %ten
%by = zext i64 %count to i128
%down = lshr i128 %product, %by
%up = shl i128 %down, %by
%rest = sub i128 %product, %up
%twice = shl i128 %rest, 1
%unit = shl i128 1, %by
%is.above = icmp ugt i128 %twice, %unit
%is.middle = icmp eq i128 %twice, %unit
%low = trunc i128 %down to i1
%is.odd = and i1 %is.middle, %low
%goes.up = or i1 %is.above, %is.odd
%more = zext i1 %goes.up to i128
%rounded = add i128 %down, %more
%high = lshr i128 %rounded, 64
%fits = icmp eq i128 %high, 0
br i1 %fits, label %write, label %later
write:
%number = trunc i128 %rounded to i64
br label %digit
digit:
%place = phi i64 [{_ROOM}, %write], [%put.place, %next]
%left = phi i64 [%number, %write], [%tenth, %next]
%written = phi i64 [0, %write], [%written.next, %next]
%digit.place = sub i64 %place, 1
%tenth = udiv i64 %left, 10
%tenfold = mul i64 %tenth, 10
%last = sub i64 %left, %tenfold
%last.byte = trunc i64 %last to i8
%letter = add i8 %last.byte, 48
%letter.p = getelementptr i8, ptr %buffer, i64 %digit.place
store i8 %letter, ptr %letter.p
%written.next = add i64 %written, 1
%at.point = icmp eq i64 %written.next, %step
br i1 %at.point, label %point, label %next
point:
%point.place = sub i64 %digit.place, 1
%point.p = getelementptr i8, ptr %buffer, i64 %point.place
store i8 46, ptr %point.p
br label %next
next:
%put.place = phi i64 [%digit.place, %digit], [%point.place, %point]
%has.more = icmp ne i64 %tenth, 0
%is.short = icmp ule i64 %written.next, %step
%goes.on = or i1 %has.more, %is.short
br i1 %goes.on, label %digit, label %sign
sign:
%is.negative = icmp slt i64 %bits, 0
br i1 %is.negative, label %minus, label %made
minus:
%minus.place = sub i64 %put.place, 1
%minus.p = getelementptr i8, ptr %buffer, i64 %minus.place
store i8 45, ptr %minus.p
br label %made
made:
%begin = phi i64 [%put.place, %sign], [%minus.place, %minus]
%from = getelementptr i8, ptr %buffer, i64 %begin
%size = sub i64 {_ROOM}, %begin
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
later:
<ptr long places>
<i64 long count>
%long.p = getelementptr i64, ptr %long.places, i64 %long.count
store i64 %k, ptr %long.p
%long.next = add i64 %long.count, 1
%count.p = getelementptr i64, ptr %job, i64 <word long count>
store i64 %long.next, ptr %count.p
ret i64 0
}}
"""

NAMES = ("fixed",)
TEXT = _FIXED
