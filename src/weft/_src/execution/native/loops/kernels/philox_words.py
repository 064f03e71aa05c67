"""Words of Philox blocks, and permutations made of them: see `core/random_numbers`."""

from __future__ import annotations

import functools

from weft._src.core.random_numbers.philox import KEY_STEPS, MULTIPLIERS, ROUNDS
from weft._src.execution.native.machine.builder import filled

# The counter of a block is 128 bits wide; `low` and `high` are that of the first.
_WORDS = """
define void @weft_<name>(ptr %job, i64 %from, i64 %to) {
entry:
<words>
%key.0 = trunc i64 %key to i32
%key.upper = lshr i64 %key, 32
%key.1 = trunc i64 %key.upper to i32
<keys>
for %i from %from < %to
<step>
%at = add i64 %low, %distance
%wraps = icmp ult i64 %at, %distance
%carry = zext i1 %wraps to i64
%above = add i64 %high, %carry
%c0.0 = trunc i64 %at to i32
%at.upper = lshr i64 %at, 32
%c1.0 = trunc i64 %at.upper to i32
%c2.0 = trunc i64 %above to i32
%above.upper = lshr i64 %above, 32
%c3.0 = trunc i64 %above.upper to i32
<rounds>
%place = mul nuw nsw i64 %i, 4
%p0 = getelementptr i32, ptr %out, i64 %place
%p1 = getelementptr i32, ptr %p0, i64 1
%p2 = getelementptr i32, ptr %p0, i64 2
%p3 = getelementptr i32, ptr %p0, i64 3
store i32 %c0.<last>, ptr %p0
store i32 %c1.<last>, ptr %p1
store i32 %c2.<last>, ptr %p2
store i32 %c3.<last>, ptr %p3
end
ret void
}
"""
_ROUND = """
%a.<r> = zext i32 %c0.<r> to i64
%b.<r> = zext i32 %c2.<r> to i64
%m0.<r> = mul nuw i64 %a.<r>, <first>
%m1.<r> = mul nuw i64 %b.<r>, <second>
%m0.h.<r> = lshr i64 %m0.<r>, 32
%m1.h.<r> = lshr i64 %m1.<r>, 32
%m0.u.<r> = trunc i64 %m0.h.<r> to i32
%m1.u.<r> = trunc i64 %m1.h.<r> to i32
%x0.<r> = xor i32 %m1.u.<r>, %c1.<r>
%c0.<next> = xor i32 %x0.<r>, %k0.<r>
%c1.<next> = trunc i64 %m1.<r> to i32
%x2.<r> = xor i32 %m0.u.<r>, %c3.<r>
%c2.<next> = xor i32 %x2.<r>, %k1.<r>
%c3.<next> = trunc i64 %m0.<r> to i32
"""
_KEYS = """
%k0.<r> = add i32 %key.0, <first>
%k1.<r> = add i32 %key.1, <second>
"""
# By name: the words of the job, and how far a block is from the first one.
_FORMS = {
    "philox_words": (
        "<array out>\n<i64 low>\n<i64 high>\n<i64 key>",
        "%distance = add i64 %i, 0",
    ),
    "philox_at": (
        "<array out>\n<array offsets>\n<i64 low>\n<i64 high>\n<i64 key>",
        "%offset.p = getelementptr i64, ptr %offsets, i64 %i\n%distance = load i64, ptr %offset.p",
    ),
}

# Each place in turn changes its number with one of those from there on, which a word chooses.
_SWAP = """
define void @weft_<name>(ptr %job, i64 %from, i64 %to) {
entry:
<array out>
<array words>
<i64 size>
for %i from %from < %to
%word.p = getelementptr i32, ptr %words, i64 %i
%word.32 = load i32, ptr %word.p
%left = sub i64 %size, %i
%is.short = icmp ult i64 %left, 4294967296
br i1 %is.short, label %short, label %long
short:
%left.32 = trunc i64 %left to i32
%rest.32 = urem i32 %word.32, %left.32
br label %go
long:
br label %go
go:
%chosen = phi i32 [%rest.32, %short], [%word.32, %long]
%distance = zext i32 %chosen to i64
%partner = add i64 %i, %distance
%a.p = getelementptr <kind>, ptr %out, i64 %i
%b.p = getelementptr <kind>, ptr %out, i64 %partner
%a = load <kind>, ptr %a.p
%b = load <kind>, ptr %b.p
store <kind> %b, ptr %a.p
store <kind> %a, ptr %b.p
end
ret void
}
"""


def _words(name: str) -> str:
    words, step = _FORMS[name]
    keys, rounds = "", ""
    for r in range(ROUNDS):
        steps = [str(r * number & 0xFFFFFFFF) for number in KEY_STEPS]
        keys += filled(_KEYS, {"r": r, "first": steps[0], "second": steps[1]})
        numbers = {"first": MULTIPLIERS[0], "second": MULTIPLIERS[1]}
        rounds += filled(_ROUND, {"r": r, "next": r + 1, **numbers})
    return filled(_WORDS, {
        "name": name, "words": words, "keys": keys, "step": step, "rounds": rounds, "last": ROUNDS,
    })  # fmt: skip


TEXTS = {
    **{name: functools.partial(_words, name) for name in _FORMS},
    **{
        f"swaps_{size}": functools.partial(
            filled, _SWAP, {"name": f"swaps_{size}", "kind": f"i{8 * size}"}
        )
        for size in (1, 2, 4, 8)
    },
}
