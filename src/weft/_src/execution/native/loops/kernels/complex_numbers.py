"""exp of complex numbers: see `ops/elementwise/complex_exp.py`.

As many numbers at once as a vector holds real ones, by the functions that vectors have; the rest
one by one.
"""

from __future__ import annotations

import functools

from weft._src.execution.native.loops.elementary.library import variants_of
from weft._src.execution.native.machine.builder import filled

_NUMBERS = """
%@place = mul nuw nsw i64 %@i, <step>
%@x.p = getelementptr <kind>, ptr <x>, i64 %@place
%@x = load <both>, ptr %@x.p, align <bytes>
%@re = shufflevector <both> %@x, <both> poison, <even>
%@im = shufflevector <both> %@x, <both> poison, <odd>
%@size = call <one> @<exp>(<one> %@re)
%@cos = call <one> @<cos>(<one> %@im)
%@sin = call <one> @<sin>(<one> %@im)
%@re.new = fmul <one> %@size, %@cos
%@im.new = fmul <one> %@size, %@sin
%@new = shufflevector <one> %@re.new, <one> %@im.new, <turns>
%@out.p = getelementptr <kind>, ptr <out>, i64 %@place
store <both> %@new, ptr %@out.p, align <bytes>
"""
_ONE = """
%re.p = getelementptr <kind>, ptr %x.rest, i64 %twice
%im.p = getelementptr <kind>, ptr %re.p, i64 1
%re = load <kind>, ptr %re.p
%im = load <kind>, ptr %im.p
%size = call <kind> @<exp>(<kind> %re)
%cos = call <kind> @<cos>(<kind> %im)
%sin = call <kind> @<sin>(<kind> %im)
%re.new = fmul <kind> %size, %cos
%im.new = fmul <kind> %size, %sin
%re.out = getelementptr <kind>, ptr %out.rest, i64 %twice
%im.out = getelementptr <kind>, ptr %re.out, i64 1
store <kind> %re.new, ptr %re.out
store <kind> %im.new, ptr %im.out
"""
_EXP = """
<declarations>
define void @weft_complex_exp_<kind>(ptr %job, i64 %from, i64 %to) {
entry:
<array all x>
<array all out>
%from.twice = mul i64 %from, 2
%x = getelementptr <kind>, ptr %all.x, i64 %from.twice
%out = getelementptr <kind>, ptr %all.out, i64 %from.twice
%count = sub i64 %to, %from
%groups = udiv i64 %count, <lanes>
for %v.i < %groups
<many>
end
%done = mul i64 %groups, <lanes>
%rest = sub i64 %count, %done
%done.twice = mul i64 %done, 2
%x.rest = getelementptr <kind>, ptr %x, i64 %done.twice
%out.rest = getelementptr <kind>, ptr %out, i64 %done.twice
for %i < %rest
%twice = mul i64 %i, 2
<single>
end
ret void
}
"""


def _places(numbers: list[int]) -> str:
    return f"<{len(numbers)} x i32> <{', '.join([f'i32 {n}' for n in numbers])}>"


def _exp(kind: str) -> str:
    functions = {name: variants_of(name, kind) for name in ("exp", "cos", "sin")}
    lanes = functions["exp"].widths[0]
    declarations = [line for v in functions.values() for line in v.declarations()]
    words = {
        "step": 2 * lanes,
        "x": "%x",
        "out": "%out",
        "both": f"<{2 * lanes} x {kind}>",
        "one": f"<{lanes} x {kind}>",
        "even": _places([2 * i for i in range(lanes)]),
        "odd": _places([2 * i + 1 for i in range(lanes)]),
        "turns": _places([i // 2 + i % 2 * lanes for i in range(2 * lanes)]),
        "bytes": 4 if kind == "float" else 8,
        "kind": kind,
    }
    many = filled(_NUMBERS, words | {name: v.symbol(lanes) for name, v in functions.items()})
    single = filled(_ONE, {"kind": kind} | {name: v.symbol(1) for name, v in functions.items()})
    return filled(_EXP, {
        "declarations": "\n".join(declarations),
        "many": many.replace("%@", "%v."),
        "single": single,
        "lanes": lanes,
        "kind": kind,
    })  # fmt: skip


TEXTS = {f"complex_exp_{kind}": functools.partial(_exp, kind) for kind in ("float", "double")}
