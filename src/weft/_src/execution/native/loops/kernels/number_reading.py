"""Numbers that strings spell in plain decimals, as LLVM IR; `ops/strings/packed.py` calls it."""

from __future__ import annotations

# The number without its point, of at most 18 digits, and one more than the digits behind the point:
# 0 for a whole number, -1 for what is no such. The smallest integer stands for a negative zero.
TEXT = """
%spelled = type { i64, i64 }

define internal %spelled @spelled(ptr %text, i64 %size) alwaysinline {
entry:
%is.some = icmp sgt i64 %size, 0
br i1 %is.some, label %sign, label %other
sign:
%front = load i8, ptr %text
%is.minus = icmp eq i8 %front, 45
%is.plus = icmp eq i8 %front, 43
%is.sign = or i1 %is.minus, %is.plus
%from = zext i1 %is.sign to i64
br label %next
next:
%i = phi i64 [%from, %sign], [%i.next, %digit], [%i.next, %point]
%value = phi i64 [0, %sign], [%value.next, %digit], [%value, %point]
%digits = phi i64 [0, %sign], [%digits.next, %digit], [%digits, %point]
%behind = phi i64 [0, %sign], [%behind.next, %digit], [1, %point]
%is.more = icmp slt i64 %i, %size
br i1 %is.more, label %look, label %done
look:
%byte.p = getelementptr i8, ptr %text, i64 %i
%byte = load i8, ptr %byte.p
%i.next = add i64 %i, 1
%number = sub i8 %byte, 48
%is.digit = icmp ule i8 %number, 9
br i1 %is.digit, label %room.left, label %no.digit
room.left:
%is.few = icmp slt i64 %digits, 18
br i1 %is.few, label %digit, label %other
digit:
%wide = zext i8 %number to i64
%tenfold = mul i64 %value, 10
%value.next = add i64 %tenfold, %wide
%digits.next = add i64 %digits, 1
%has.point = icmp sgt i64 %behind, 0
%step = zext i1 %has.point to i64
%behind.next = add i64 %behind, %step
br label %next
no.digit:
%is.point = icmp eq i8 %byte, 46
%is.first = icmp eq i64 %behind, 0
%is.fine = and i1 %is.point, %is.first
br i1 %is.fine, label %point, label %other
point:
br label %next
done:
%has.digits = icmp sgt i64 %digits, 0
br i1 %has.digits, label %write, label %other
write:
%is.zero = icmp eq i64 %value, 0
%minus = sub i64 0, %value
%negative = select i1 %is.zero, i64 -9223372036854775808, i64 %minus
%signed = select i1 %is.minus, i64 %negative, i64 %value
%number.1 = insertvalue %spelled undef, i64 %signed, 0
%number.2 = insertvalue %spelled %number.1, i64 %behind, 1
ret %spelled %number.2
other:
%none.1 = insertvalue %spelled undef, i64 0, 0
%none.2 = insertvalue %spelled %none.1, i64 -1, 1
ret %spelled %none.2
}

define internal i64 @read_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {
<ptr targets>
<ptr out>
%number = call %spelled @spelled(ptr %text, i64 %size)
%value = extractvalue %spelled %number, 0
%point = extractvalue %spelled %number, 1
%value.p = getelementptr i64, ptr %out, i64 %k
%point.p = getelementptr i64, ptr %targets, i64 %k
store i64 %value, ptr %value.p
store i64 %point, ptr %point.p
ret i64 0
}

define internal i64 @parse_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {
%status = call i64 @read_of(ptr %job, i64 %k, ptr %text, i64 %size)
ret i64 %status
}
"""

OF_STRINGS, OF_PIECES = ("read",), ("parse",)
