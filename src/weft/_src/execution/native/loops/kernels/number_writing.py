"""Numbers as text, as LLVM IR: what C's printf writes for "%d", "%f", "%e" and "%g".

A double is a whole number times a power of two. Times or divided by a power of ten it is a whole
number divided by another, as long as 128 bits hold it; that is rounded as it is, to even if it lies
in the middle. Places of those that do not fit, of infinities and of what is no number are noted,
and counted: Python writes them. `ops/strings/packed.py` tells the rest.
"""

from __future__ import annotations

MOST_DIGITS = 15  # behind the point, or in all: 10**15 times a mantissa has less than 104 bits
_ROOM = 48  # bytes: a point, twenty digits, fifteen zeros before those, an exponent, a sign
_TENS = ", ".join(f"i128 {10**n}" for n in range(23))  # times a mantissa less than 2**127

# The nearest whole number to one divided by a power of two, or by another one.
_ROUND = f"""
declare i64 @llvm.ctlz.i64(i64, i1)
@tens = internal constant [23 x i128] [{_TENS}]

define internal i128 @power_of_ten(i64 %n) alwaysinline {{
%power.p = getelementptr i128, ptr @tens, i64 %n
%power = load i128, ptr %power.p
ret i128 %power
}}

; What stands before is the result without the rest, of which this is twice.
define internal i128 @nearest(i128 %down, i128 %twice, i128 %unit) alwaysinline {{
%is.above = icmp ugt i128 %twice, %unit
%is.middle = icmp eq i128 %twice, %unit
%low = trunc i128 %down to i1
%is.odd = and i1 %is.middle, %low
%goes.up = or i1 %is.above, %is.odd
%more = zext i1 %goes.up to i128
%out = add i128 %down, %more
ret i128 %out
}}

define internal i128 @shifted(i128 %number, i64 %places) alwaysinline {{
; With 126 places or more nothing is left but zeros.
%is.less = icmp ult i64 %places, 126
%count = select i1 %is.less, i64 %places, i64 126
%by = zext i64 %count to i128
%down = lshr i128 %number, %by
%up = shl i128 %down, %by
%rest = sub i128 %number, %up
%twice = shl i128 %rest, 1
%unit = shl i128 1, %by
%out = call i128 @nearest(i128 %down, i128 %twice, i128 %unit)
ret i128 %out
}}

define internal i128 @divided(i64 %number, i64 %by) alwaysinline {{
%down = udiv i64 %number, %by
%up = mul i64 %down, %by
%rest = sub i64 %number, %up
%wide = zext i64 %down to i128
%rest.wide = zext i64 %rest to i128
%twice = shl i128 %rest.wide, 1
%unit = zext i64 %by to i128
%out = call i128 @nearest(i128 %wide, i128 %twice, i128 %unit)
ret i128 %out
}}
"""

# The mantissa of a double and the power of two, and numbers of so many digits with a power of ten.
_SCALE = """
%parts = type { i64, i64 }

define internal %parts @parts_of(i64 %bits) alwaysinline {
%shifted = lshr i64 %bits, 52
%exponent = and i64 %shifted, 2047
%fraction = and i64 %bits, 4503599627370495
; Very small ones have no leading one, and the exponent of the smallest that have.
%is.tiny = icmp eq i64 %exponent, 0
%one = select i1 %is.tiny, i64 0, i64 4503599627370496
%mantissa = or i64 %fraction, %one
%lift = zext i1 %is.tiny to i64
%lifted = add i64 %exponent, %lift
%power = sub i64 %lifted, 1075
%first = insertvalue %parts undef, i64 %mantissa, 0
%out = insertvalue %parts %first, i64 %power, 1
ret %parts %out
}

; m * 2**e * 10**s, for s below 0 divided by 10**-s; -1 if it is not known here.
define internal i64 @scaled(i64 %m, i64 %e, i64 %s) {
entry:
%is.times = icmp sge i64 %s, 0
br i1 %is.times, label %times, label %over
times:
%is.known = icmp sle i64 %s, 22
br i1 %is.known, label %multiply, label %unknown
multiply:
%ten = call i128 @power_of_ten(i64 %s)
%wide = zext i64 %m to i128
%product = mul nuw i128 %wide, %ten
; Whole numbers beyond mantissas have more digits than are asked for.
%is.fraction = icmp sle i64 %e, 0
br i1 %is.fraction, label %down, label %unknown
down:
%places = sub i64 0, %e
%rounded = call i128 @shifted(i128 %product, i64 %places)
br label %found
over:
%t = sub i64 0, %s
%is.divisor = icmp sle i64 %t, 19
%is.whole = icmp sgt i64 %e, 0
br i1 %is.divisor, label %divide, label %unknown
divide:
%tens = call i128 @power_of_ten(i64 %t)
%divisor = trunc i128 %tens to i64
br i1 %is.whole, label %whole, label %part
whole:
%fits = icmp sle i64 %e, 11
br i1 %fits, label %divide.whole, label %unknown
divide.whole:
%number = shl i64 %m, %e
%quotient = call i128 @divided(i64 %number, i64 %divisor)
br label %found
part:
; The divisor is less than the mantissa if there is a digit before the point at all.
%back = sub i64 0, %e
%is.near = icmp ult i64 %back, 63
br i1 %is.near, label %compare, label %unknown
compare:
%room = lshr i64 9223372036854775807, %back
%is.less = icmp ule i64 %divisor, %room
br i1 %is.less, label %divide.part, label %unknown
divide.part:
%larger = shl i64 %divisor, %back
%quotient.2 = call i128 @divided(i64 %m, i64 %larger)
br label %found
found:
%result = phi i128 [%rounded, %down], [%quotient, %divide.whole], [%quotient.2, %divide.part]
%high = lshr i128 %result, 63
%is.few = icmp eq i128 %high, 0
%low = trunc i128 %result to i64
%out = select i1 %is.few, i64 %low, i64 -1
ret i64 %out
unknown:
ret i64 -1
}

; So many digits of a number that is not zero, and the power of ten of the first; -1 if not known.
define internal %parts @significant(i64 %bits, i64 %count) {
entry:
%parts = call %parts @parts_of(i64 %bits)
%m = extractvalue %parts %parts, 0
%e = extractvalue %parts %parts, 1
%zeros = call i64 @llvm.ctlz.i64(i64 %m, i1 false)
%width = sub i64 63, %zeros
%log2 = add i64 %width, %e
%log10.scaled = mul i64 %log2, 78913
%guess = ashr i64 %log10.scaled, 18
%limit.wide = call i128 @power_of_ten(i64 %count)
%limit = trunc i128 %limit.wide to i64
%last = sub i64 %count, 1
br label %try
try:
; Too small a power by one gives a digit too many; rounded up, the next one is right.
%power = phi i64 [%guess, %entry], [%power.next, %again]
%scale = sub i64 %last, %power
%digits = call i64 @scaled(i64 %m, i64 %e, i64 %scale)
%is.many = icmp sge i64 %digits, %limit
br i1 %is.many, label %again, label %done
again:
%power.next = add i64 %power, 1
br label %try
done:
%first = insertvalue %parts undef, i64 %digits, 0
%out = insertvalue %parts %first, i64 %power, 1
ret %parts %out
}
"""

# Text is written from its end to its front; functions give the place of what they wrote last.
_PUT = f"""
define internal i64 @put(ptr %buffer, i64 %place, i64 %letter) alwaysinline {{
%before = sub i64 %place, 1
%letter.p = getelementptr i8, ptr %buffer, i64 %before
%byte = trunc i64 %letter to i8
store i8 %byte, ptr %letter.p
ret i64 %before
}}

; A number with so many digits behind the point, at least one before it.
define internal i64 @put_number(ptr %buffer, i64 %place, i64 %number, i64 %decimals) {{
entry:
br label %digit
digit:
%at = phi i64 [%place, %entry], [%at.next, %next]
%left = phi i64 [%number, %entry], [%tenth, %next]
%written = phi i64 [0, %entry], [%written.next, %next]
%tenth = udiv i64 %left, 10
%tenfold = mul i64 %tenth, 10
%last = sub i64 %left, %tenfold
%letter = add i64 %last, 48
%put = call i64 @put(ptr %buffer, i64 %at, i64 %letter)
%written.next = add i64 %written, 1
%at.point = icmp eq i64 %written.next, %decimals
br i1 %at.point, label %point, label %next
point:
%put.point = call i64 @put(ptr %buffer, i64 %put, i64 46)
br label %next
next:
%at.next = phi i64 [%put, %digit], [%put.point, %point]
%has.more = icmp ne i64 %tenth, 0
%is.short = icmp ule i64 %written.next, %decimals
%goes.on = or i1 %has.more, %is.short
br i1 %goes.on, label %digit, label %done
done:
ret i64 %at.next
}}

; e+05, of less than a hundred.
define internal i64 @put_exponent(ptr %buffer, i64 %place, i64 %power) {{
%is.negative = icmp slt i64 %power, 0
%opposite = sub i64 0, %power
%size = select i1 %is.negative, i64 %opposite, i64 %power
%tens = udiv i64 %size, 10
%tenfold = mul i64 %tens, 10
%ones = sub i64 %size, %tenfold
%ones.letter = add i64 %ones, 48
%tens.letter = add i64 %tens, 48
%sign = select i1 %is.negative, i64 45, i64 43
%at.1 = call i64 @put(ptr %buffer, i64 %place, i64 %ones.letter)
%at.2 = call i64 @put(ptr %buffer, i64 %at.1, i64 %tens.letter)
%at.3 = call i64 @put(ptr %buffer, i64 %at.2, i64 %sign)
%at.4 = call i64 @put(ptr %buffer, i64 %at.3, i64 101)
ret i64 %at.4
}}

; The text with its sign, filled up to the width: in front, behind, or with zeros after the sign.
define internal i64 @keep_number(
  ptr %job, i64 %k, ptr %buffer, i64 %place, i1 %is.negative) alwaysinline {{
entry:
<i64 plus>
<i64 width>
<i64 fill>
var i64 %begin = %place
%sign = select i1 %is.negative, i64 45, i64 %plus
%has.sign = icmp ne i64 %sign, 0
%signs = zext i1 %has.sign to i64
%digits = sub i64 {_ROOM}, %place
%size = add i64 %digits, %signs
%is.wide = icmp sge i64 %size, %width
br i1 %is.wide, label %plain, label %filled
plain:
br i1 %has.sign, label %signed, label %made
signed:
%with.sign = call i64 @put(ptr %buffer, i64 %place, i64 %sign)
store i64 %with.sign, ptr %begin
br label %made
made:
%from.place = load i64, ptr %begin
%from = getelementptr i8, ptr %buffer, i64 %from.place
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
filled:
%wide = call ptr @new_string(ptr %job, i64 %width)
%is.made = icmp ne ptr %wide, null
br i1 %is.made, label %write, label %kept
write:
%to = getelementptr i8, ptr %wide, i64 <offset bytes data>
%is.zeros = icmp eq i64 %fill, 48
%filler = select i1 %is.zeros, i8 48, i8 32
for %i < %width
  %filled.p = getelementptr i8, ptr %to, i64 %i
  store i8 %filler, ptr %filled.p
end
%is.left = icmp eq i64 %fill, 45
%gap = sub i64 %width, %size
%first = select i1 %is.left, i64 0, i64 %gap
%digits.at = add i64 %first, %signs
%digits.to = getelementptr i8, ptr %to, i64 %digits.at
%digits.from = getelementptr i8, ptr %buffer, i64 %place
call void @copy(ptr %digits.to, ptr %digits.from, i64 %digits)
br i1 %has.sign, label %put.sign, label %kept
put.sign:
%sign.at = select i1 %is.zeros, i64 0, i64 %first
%sign.p = getelementptr i8, ptr %to, i64 %sign.at
%sign.byte = trunc i64 %sign to i8
store i8 %sign.byte, ptr %sign.p
br label %kept
kept:
%wide.status = call i64 @keep(ptr %job, i64 %k, ptr %wide)
ret i64 %wide.status
}}

define internal i64 @leave(ptr %job, i64 %k) noinline {{
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

# "data" are the numbers, of 64 bits each; "step" the digits behind the point, or in all for "%g".
_WRITE = f"""
define internal i64 @write_int_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr data>
%buffer = alloca [{_ROOM} x i8]
%value.p = getelementptr i64, ptr %data, i64 %k
%value = load i64, ptr %value.p
<i64 signed>
%may = icmp ne i64 %signed, 0
%is.below = icmp slt i64 %value, 0
%is.negative = and i1 %may, %is.below
%opposite = sub i64 0, %value
%size = select i1 %is.negative, i64 %opposite, i64 %value
%place = call i64 @put_number(ptr %buffer, i64 {_ROOM}, i64 %size, i64 0)
%status = call i64 @keep_number(ptr %job, i64 %k, ptr %buffer, i64 %place, i1 %is.negative)
ret i64 %status
}}

define internal i64 @write_fixed_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr data>
<i64 step>
%buffer = alloca [{_ROOM} x i8]
%value.p = getelementptr i64, ptr %data, i64 %k
%bits = load i64, ptr %value.p
%parts = call %parts @parts_of(i64 %bits)
%m = extractvalue %parts %parts, 0
%e = extractvalue %parts %parts, 1
%is.small = icmp sle i64 %e, 0
br i1 %is.small, label %scale, label %later
scale:
%ten = call i128 @power_of_ten(i64 %step)
%wide = zext i64 %m to i128
%product = mul nuw i128 %wide, %ten
%places = sub i64 0, %e
%rounded = call i128 @shifted(i128 %product, i64 %places)
%high = lshr i128 %rounded, 64
%fits = icmp eq i128 %high, 0
br i1 %fits, label %write, label %later
write:
%number = trunc i128 %rounded to i64
%place = call i64 @put_number(ptr %buffer, i64 {_ROOM}, i64 %number, i64 %step)
%is.negative = icmp slt i64 %bits, 0
%status = call i64 @keep_number(ptr %job, i64 %k, ptr %buffer, i64 %place, i1 %is.negative)
ret i64 %status
later:
%left = call i64 @leave(ptr %job, i64 %k)
ret i64 %left
}}

; With an exponent; where "general" is set, only if it is needed, and without zeros at the end.
define internal i64 @write_exponent_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr data>
<i64 step>
<i64 general>
%buffer = alloca [{_ROOM} x i8]
var i64 %number = 0
var i64 %decimals = 0
var i64 %power = 0
var i64 %place = {_ROOM}
%value.p = getelementptr i64, ptr %data, i64 %k
%bits = load i64, ptr %value.p
%size.bits = and i64 %bits, 9223372036854775807
%is.general = icmp ne i64 %general, 0
%fraction.digits = sub i64 %step, 1
store i64 %fraction.digits, ptr %decimals
%is.zero = icmp eq i64 %size.bits, 0
br i1 %is.zero, label %form, label %finite
finite:
%is.finite = icmp ult i64 %size.bits, 9218868437227405312
br i1 %is.finite, label %find, label %later
find:
%found = call %parts @significant(i64 %bits, i64 %step)
%digits = extractvalue %parts %found, 0
%ten.power = extractvalue %parts %found, 1
store i64 %digits, ptr %number
store i64 %ten.power, ptr %power
%is.known = icmp sge i64 %digits, 0
br i1 %is.known, label %form, label %later
form:
br i1 %is.general, label %choose, label %exponent
choose:
%x = load i64, ptr %power
%is.small = icmp slt i64 %x, -4
%is.large = icmp sge i64 %x, %step
%needs.exponent = or i1 %is.small, %is.large
%behind = sub i64 %fraction.digits, %x
%shown = select i1 %needs.exponent, i64 %fraction.digits, i64 %behind
br label %strip
strip:
%kept = phi i64 [%shown, %choose], [%kept.next, %drop]
%n = load i64, ptr %number
%has.decimals = icmp sgt i64 %kept, 0
br i1 %has.decimals, label %look, label %stripped
look:
%tenth = udiv i64 %n, 10
%tenfold = mul i64 %tenth, 10
%ends.in.zero = icmp eq i64 %tenfold, %n
br i1 %ends.in.zero, label %drop, label %stripped
drop:
store i64 %tenth, ptr %number
%kept.next = sub i64 %kept, 1
br label %strip
stripped:
store i64 %kept, ptr %decimals
br i1 %needs.exponent, label %exponent, label %write
exponent:
%p = load i64, ptr %power
%with.exponent = call i64 @put_exponent(ptr %buffer, i64 {_ROOM}, i64 %p)
store i64 %with.exponent, ptr %place
br label %write
write:
%at = load i64, ptr %place
%all = load i64, ptr %number
%count = load i64, ptr %decimals
%begin = call i64 @put_number(ptr %buffer, i64 %at, i64 %all, i64 %count)
%is.negative = icmp slt i64 %bits, 0
%status = call i64 @keep_number(ptr %job, i64 %k, ptr %buffer, i64 %begin, i1 %is.negative)
ret i64 %status
later:
%left = call i64 @leave(ptr %job, i64 %k)
ret i64 %left
}}
"""

OTHERS = ("write_int", "write_fixed", "write_exponent")
TEXT = _ROUND + _SCALE + _PUT + _WRITE
