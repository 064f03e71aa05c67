"""MurmurHash64A and SipHash-2-4 of strings, as LLVM IR: what `core/string_hashes.py` computes."""

from __future__ import annotations

import itertools

from weft._src.core.string_hashes import MAGIC, MULTIPLIER, SEED

_FACTOR = int(MULTIPLIER)


def _round(before: str, after: str) -> str:
    """Mixes four numbers, %v0.before and so on."""

    def v(number: int) -> str:
        return f"%v{number}.{before}"

    def turned(name: str, value: str, bits: int) -> str:
        call = "call i64 @llvm.fshl.i64"
        return f"%{name}.{after} = {call}(i64 {value}, i64 {value}, i64 {bits})"

    def of(name: str) -> str:
        return f"%{name}.{after}"

    return "\n".join(
        [
            f"{of('a0')} = add i64 {v(0)}, {v(1)}",
            f"{of('a2')} = add i64 {v(2)}, {v(3)}",
            turned("t1", v(1), 13),
            f"{of('a1')} = xor i64 {of('t1')}, {of('a0')}",
            turned("t3", v(3), 16),
            f"{of('a3')} = xor i64 {of('t3')}, {of('a2')}",
            turned("t0", of("a0"), 32),
            f"{of('v0')} = add i64 {of('t0')}, {of('a3')}",
            f"{of('b2')} = add i64 {of('a2')}, {of('a1')}",
            turned("u3", of("a3"), 21),
            f"{of('v3')} = xor i64 {of('u3')}, {of('v0')}",
            turned("u1", of("a1"), 17),
            f"{of('v1')} = xor i64 {of('u1')}, {of('b2')}",
            turned("v2", of("b2"), 32),
        ]
    )


def _rounds(names: list[str]) -> str:
    """Rounds one after the other; names of the numbers before, between and after."""
    return "\n".join([_round(a, b) for a, b in itertools.pairwise(names)])


# The last bytes of a string, fewer than 8, as a number.
_REST = """
declare i64 @llvm.fshl.i64(i64, i64, i64)

define internal i64 @rest_of(ptr %data, i64 %from, i64 %size) alwaysinline {
entry:
br label %next
next:
%k = phi i64 [%from, %entry], [%k.next, %more]
%sum = phi i64 [0, %entry], [%sum.next, %more]
%shift = phi i64 [0, %entry], [%shift.next, %more]
%is.more = icmp slt i64 %k, %size
br i1 %is.more, label %more, label %done
more:
%byte.p = getelementptr i8, ptr %data, i64 %k
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%shifted = shl i64 %wide, %shift
%sum.next = or i64 %sum, %shifted
%shift.next = add i64 %shift, 8
%k.next = add i64 %k, 1
br label %next
done:
ret i64 %sum
}
"""

_MURMUR = f"""
define internal i64 @murmur_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {{
entry:
<ptr out>
%length = mul i64 %size, {_FACTOR}
%start = xor i64 %length, {SEED}
%whole = and i64 %size, -8
br label %next
next:
%at = phi i64 [0, %entry], [%at.next, %word]
%h = phi i64 [%start, %entry], [%h.next, %word]
%is.word = icmp slt i64 %at, %whole
br i1 %is.word, label %word, label %tail
word:
%word.p = getelementptr i8, ptr %data, i64 %at
%w = load i64, ptr %word.p, align 1
%w1 = mul i64 %w, {_FACTOR}
%w2 = lshr i64 %w1, 47
%w3 = xor i64 %w1, %w2
%w4 = mul i64 %w3, {_FACTOR}
%h1 = xor i64 %h, %w4
%h.next = mul i64 %h1, {_FACTOR}
%at.next = add i64 %at, 8
br label %next
tail:
%has.rest = icmp slt i64 %whole, %size
br i1 %has.rest, label %rest, label %finish
rest:
%r = call i64 @rest_of(ptr %data, i64 %whole, i64 %size)
%h.r = xor i64 %h, %r
%h.rest = mul i64 %h.r, {_FACTOR}
br label %finish
finish:
%f = phi i64 [%h, %tail], [%h.rest, %rest]
%f1 = lshr i64 %f, 47
%f2 = xor i64 %f, %f1
%f3 = mul i64 %f2, {_FACTOR}
%f4 = lshr i64 %f3, 47
%f5 = xor i64 %f3, %f4
%out.p2 = getelementptr i64, ptr %out, i64 %k
store i64 %f5, ptr %out.p2
ret i64 0
}}
"""

_SIPHASH = f"""
define internal i64 @siphash_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {{
entry:
<ptr out>
<i64 first key>
<i64 second key>
%whole = and i64 %size, -8
%v0.0 = xor i64 %first.key, {MAGIC[0]}
%v1.0 = xor i64 %second.key, {MAGIC[1]}
%v2.0 = xor i64 %first.key, {MAGIC[2]}
%v3.0 = xor i64 %second.key, {MAGIC[3]}
br label %next
next:
%at = phi i64 [0, %entry], [%at.next, %mix]
%v0.in = phi i64 [%v0.0, %entry], [%v0.out, %mix]
%v1.in = phi i64 [%v1.0, %entry], [%v1.2, %mix]
%v2.in = phi i64 [%v2.0, %entry], [%v2.2, %mix]
%v3.in = phi i64 [%v3.0, %entry], [%v3.2, %mix]
%is.done = icmp sgt i64 %at, %whole
br i1 %is.done, label %finish, label %read
read:
%is.word = icmp slt i64 %at, %whole
br i1 %is.word, label %word, label %rest
word:
%word.p = getelementptr i8, ptr %data, i64 %at
%w.whole = load i64, ptr %word.p, align 1
br label %mix
rest:
%r = call i64 @rest_of(ptr %data, i64 %whole, i64 %size)
%length = shl i64 %size, 56
%w.rest = or i64 %r, %length
br label %mix
mix:
%w = phi i64 [%w.whole, %word], [%w.rest, %rest]
%v0.m = add i64 %v0.in, 0
%v1.m = add i64 %v1.in, 0
%v2.m = add i64 %v2.in, 0
%v3.m = xor i64 %v3.in, %w
{_rounds(["m", "1", "2"])}
%v0.out = xor i64 %v0.2, %w
%at.next = add i64 %at, 8
br label %next
finish:
%v0.f = add i64 %v0.in, 0
%v1.f = add i64 %v1.in, 0
%v2.f = xor i64 %v2.in, 255
%v3.f = add i64 %v3.in, 0
{_rounds(["f", "4", "5", "6", "7"])}
%x01 = xor i64 %v0.7, %v1.7
%x23 = xor i64 %v2.7, %v3.7
%x = xor i64 %x01, %x23
%out.p2 = getelementptr i64, ptr %out, i64 %k
store i64 %x, ptr %out.p2
ret i64 0
}}
"""

HASHES = _REST + _MURMUR + _SIPHASH
