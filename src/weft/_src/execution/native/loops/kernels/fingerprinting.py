"""FarmHash's fingerprints of short strings, as LLVM IR: what `core/farmhash.py` computes.

Of strings of more than 32 bytes the places are noted, and counted.
"""

from __future__ import annotations

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F

_COMMON = f"""
declare i64 @llvm.fshr.i64(i64, i64, i64)

define internal i64 @at(ptr %data, i64 %place) alwaysinline {{
%p = getelementptr i8, ptr %data, i64 %place
%out = load i64, ptr %p, align 1
ret i64 %out
}}

define internal i64 @half_at(ptr %data, i64 %place) alwaysinline {{
%p = getelementptr i8, ptr %data, i64 %place
%half = load i32, ptr %p, align 1
%out = zext i32 %half to i64
ret i64 %out
}}

define internal i64 @byte_at(ptr %data, i64 %place) alwaysinline {{
%p = getelementptr i8, ptr %data, i64 %place
%byte = load i8, ptr %p
%out = zext i8 %byte to i64
ret i64 %out
}}

define internal i64 @rotated(i64 %x, i64 %bits) alwaysinline {{
%out = call i64 @llvm.fshr.i64(i64 %x, i64 %x, i64 %bits)
ret i64 %out
}}

define internal i64 @folded(i64 %x) alwaysinline {{
%top = lshr i64 %x, 47
%out = xor i64 %x, %top
ret i64 %out
}}

define internal i64 @finished(i64 %u, i64 %v, i64 %mul) alwaysinline {{
%a0 = xor i64 %u, %v
%a1 = mul i64 %a0, %mul
%a = call i64 @folded(i64 %a1)
%b0 = xor i64 %v, %a
%b1 = mul i64 %b0, %mul
%b = call i64 @folded(i64 %b1)
%out = mul i64 %b, %mul
ret i64 %out
}}

define internal i64 @up_to_3(ptr %data, i64 %n) alwaysinline {{
%middle.at = lshr i64 %n, 1
%end.at = sub i64 %n, 1
%begin = call i64 @byte_at(ptr %data, i64 0)
%middle = call i64 @byte_at(ptr %data, i64 %middle.at)
%end = call i64 @byte_at(ptr %data, i64 %end.at)
%middle.up = shl i64 %middle, 8
%end.up = shl i64 %end, 2
%y0 = add i64 %begin, %middle.up
%z0 = add i64 %n, %end.up
%y = mul i64 %y0, {_K2}
%z = mul i64 %z0, {_K0}
%both = xor i64 %y, %z
%folded = call i64 @folded(i64 %both)
%out = mul i64 %folded, {_K2}
ret i64 %out
}}

define internal i64 @up_to_7(ptr %data, i64 %n, i64 %mul) alwaysinline {{
%end.at = sub i64 %n, 4
%begin = call i64 @half_at(ptr %data, i64 0)
%end = call i64 @half_at(ptr %data, i64 %end.at)
%up = shl i64 %begin, 3
%u = add i64 %n, %up
%out = call i64 @finished(i64 %u, i64 %end, i64 %mul)
ret i64 %out
}}

define internal i64 @up_to_16(ptr %data, i64 %n, i64 %mul) alwaysinline {{
%end.at = sub i64 %n, 8
%begin = call i64 @at(ptr %data, i64 0)
%b = call i64 @at(ptr %data, i64 %end.at)
%a = add i64 %begin, {_K2}
%b.turned = call i64 @rotated(i64 %b, i64 37)
%c0 = mul i64 %b.turned, %mul
%c = add i64 %c0, %a
%a.turned = call i64 @rotated(i64 %a, i64 25)
%d0 = add i64 %a.turned, %b
%d = mul i64 %d0, %mul
%out = call i64 @finished(i64 %c, i64 %d, i64 %mul)
ret i64 %out
}}

define internal i64 @up_to_32(ptr %data, i64 %n, i64 %mul) alwaysinline {{
%c.at = sub i64 %n, 8
%d.at = sub i64 %n, 16
%a0 = call i64 @at(ptr %data, i64 0)
%b = call i64 @at(ptr %data, i64 8)
%c0 = call i64 @at(ptr %data, i64 %c.at)
%d0 = call i64 @at(ptr %data, i64 %d.at)
%a = mul i64 %a0, {_K1}
%c = mul i64 %c0, %mul
%d = mul i64 %d0, {_K2}
%ab = add i64 %a, %b
%ab.turned = call i64 @rotated(i64 %ab, i64 43)
%c.turned = call i64 @rotated(i64 %c, i64 30)
%u0 = add i64 %ab.turned, %c.turned
%u = add i64 %u0, %d
%b.more = add i64 %b, {_K2}
%b.turned = call i64 @rotated(i64 %b.more, i64 18)
%v0 = add i64 %a, %b.turned
%v = add i64 %v0, %c
%out = call i64 @finished(i64 %u, i64 %v, i64 %mul)
ret i64 %out
}}
"""

# The fingerprint of string %k of a job (see `packing.py`).
FINGERPRINTS = f"""{_COMMON}
define internal i64 @fingerprint_of(ptr %job, i64 %k, ptr %data, i64 %n) alwaysinline {{
entry:
<ptr out>
%n.twice = shl i64 %n, 1
%mul = add i64 %n.twice, {_K2}
%is.16 = icmp ule i64 %n, 16
br i1 %is.16, label %short, label %longer
short:
%is.8 = icmp uge i64 %n, 8
br i1 %is.8, label %of.16, label %shorter
shorter:
%is.4 = icmp uge i64 %n, 4
br i1 %is.4, label %of.7, label %shortest
shortest:
%is.some = icmp ne i64 %n, 0
br i1 %is.some, label %of.3, label %store
longer:
%is.32 = icmp ule i64 %n, 32
br i1 %is.32, label %of.32, label %long
of.3:
%hash.3 = call i64 @up_to_3(ptr %data, i64 %n)
br label %store
of.7:
%hash.7 = call i64 @up_to_7(ptr %data, i64 %n, i64 %mul)
br label %store
of.16:
%hash.16 = call i64 @up_to_16(ptr %data, i64 %n, i64 %mul)
br label %store
of.32:
%hash.32 = call i64 @up_to_32(ptr %data, i64 %n, i64 %mul)
br label %store
store:
%hash = phi i64 [{_K2}, %shortest], [%hash.3, %of.3], [%hash.7, %of.7],
  [%hash.16, %of.16], [%hash.32, %of.32]
%out.at = getelementptr i64, ptr %out, i64 %k
store i64 %hash, ptr %out.at
ret i64 0
long:
<ptr long places>
<i64 long count>
%long.p = getelementptr i64, ptr %long.places, i64 %long.count
store i64 %k, ptr %long.p
%count.next = add i64 %long.count, 1
store i64 %count.next, ptr %long.count.p
ret i64 0
}}
"""
