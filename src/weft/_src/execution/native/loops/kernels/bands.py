"""Sums of neighbours along an axis times the weights of a band: see `ops/image/resampling.py`.

The axis lies in the middle: `lead` lines of `size` pieces of `inner` numbers become lines of `rows`
pieces. Terms are rounded and added one after the other, as NumPy does it, so that both give the
same bits. Images are resized along both axes at once, a row after the other: see
`ops/image/pixel_resizing.py`.
"""

from __future__ import annotations

import functools

from weft._src.execution.native.machine.builder import filled

# By the name of the numbers that are read: the type in memory, and how it becomes a float.
_READ = {"float32": ("float", ""), "uint8": ("i8", "uitofp")}

_AS_FLOAT = """
define internal <floats> @as<scaled>_<lanes>(<numbers> %x<parameter>) alwaysinline {
entry:
<convert>
}
"""

# A piece of any length, as many times as there are weights; two, the usual number, at once. The
# terms lie `step` numbers apart.
_PIECE = """
define internal void @<piece>(ptr noalias %x, ptr noalias %out, ptr noalias %weights, i64 %inner,
                              i64 %width, i64 %step, float %by) {
entry:
%w0 = load float, ptr %weights
%is.two = icmp eq i64 %width, 2
br i1 %is.two, label %two, label %first
two:
%w1.p = getelementptr float, ptr %weights, i64 1
%w1 = load float, ptr %w1.p
%next = getelementptr <kind>, ptr %x, i64 %step
for %i < %inner
%a.p = getelementptr <kind>, ptr %x, i64 %i
%a.x = load <kind>, ptr %a.p
%a = call float @as<scaled>_1(<kind> %a.x<by>)
%b.p = getelementptr <kind>, ptr %next, i64 %i
%b.x = load <kind>, ptr %b.p
%b = call float @as<scaled>_1(<kind> %b.x<by>)
%a.w = fmul float %a, %w0
%a.s = fadd float 0.0, %a.w
%b.w = fmul float %b, %w1
%s = fadd float %a.s, %b.w
%o.p = getelementptr float, ptr %out, i64 %i
store float %s, ptr %o.p
end
ret void
first:
for %j < %inner
%c.p = getelementptr <kind>, ptr %x, i64 %j
%c.x = load <kind>, ptr %c.p
%c = call float @as<scaled>_1(<kind> %c.x<by>)
%c.w = fmul float %c, %w0
%c.s = fadd float 0.0, %c.w
%co.p = getelementptr float, ptr %out, i64 %j
store float %c.s, ptr %co.p
end
%others = sub i64 %width, 1
for %k < %others
%place = add i64 %k, 1
%w.p = getelementptr float, ptr %weights, i64 %place
%w = load float, ptr %w.p
%from = mul i64 %place, %step
%piece = getelementptr <kind>, ptr %x, i64 %from
for %l < %inner
%d.p = getelementptr <kind>, ptr %piece, i64 %l
%d.x = load <kind>, ptr %d.p
%d = call float @as<scaled>_1(<kind> %d.x<by>)
%d.w = fmul float %d, %w
%do.p = getelementptr float, ptr %out, i64 %l
%before = load float, ptr %do.p
%d.s = fadd float %before, %d.w
store float %d.s, ptr %do.p
end
end
ret void
}
"""

# Pieces of three or four numbers, as pixels have them: four are read and written, the fourth of
# three belongs to the next piece, which overwrites it. So there must be one, of the next line, and
# it must be this thread that writes it.
_PIXELS = """
define internal void @pixels_<terms>(ptr noalias %x, ptr noalias %out, ptr noalias %starts,
                                     ptr noalias %weights, i64 %inner, i64 %rows, i64 %width) {
entry:
for %r < %rows
%start.p = getelementptr i32, ptr %starts, i64 %r
%start.32 = load i32, ptr %start.p
%start = sext i32 %start.32 to i64
%at = mul i64 %start, %inner
%from = getelementptr <kind>, ptr %x, i64 %at
%w.at = mul i64 %r, <terms>
%w.row = getelementptr float, ptr %weights, i64 %w.at
var <4 x float> %sum = zeroinitializer
for %k < <terms>
%k.at = mul i64 %k, %inner
%v.p = getelementptr <kind>, ptr %from, i64 %k.at
%v.x = load <4 x <kind>>, ptr %v.p, align <bytes>
%v = call <4 x float> @as_4(<4 x <kind>> %v.x)
%w.p = getelementptr float, ptr %w.row, i64 %k
%w = load float, ptr %w.p
%w.one = insertelement <4 x float> poison, float %w, i64 0
%w.all = shufflevector <4 x float> %w.one, <4 x float> poison, <4 x i32> zeroinitializer
%term = fmul <4 x float> %v, %w.all
%before = load <4 x float>, ptr %sum
%after = fadd <4 x float> %before, %term
store <4 x float> %after, ptr %sum
end
%all = load <4 x float>, ptr %sum
%to = mul i64 %r, %inner
%o.p = getelementptr float, ptr %out, i64 %to
store <4 x float> %all, ptr %o.p, align 4
end
ret void
}
"""

_LINES = """
define void @weft_banded_sum_<name>(ptr %job, i64 %from, i64 %to) {
entry:
<array x>
<array out>
<array starts>
<array weights>
<i64 lead>
<i64 size>
<i64 inner>
<i64 rows>
<i64 width>
%line = mul i64 %size, %inner
%new.line = mul i64 %rows, %inner
%is.three = icmp eq i64 %inner, 3
%is.four = icmp eq i64 %inner, 4
%is.pixel = or i1 %is.three, %is.four
%others = sub i64 %to, 1
for %l from %from < %to
%l.at = mul i64 %l, %line
%x.line = getelementptr <kind>, ptr %x, i64 %l.at
%o.at = mul i64 %l, %new.line
%o.line = getelementptr float, ptr %out, i64 %o.at
%is.before = icmp slt i64 %l, %others
%by.pixels = and i1 %is.before, %is.pixel
br i1 %by.pixels, label %pixels, label %pieces
pixels:
%is.two = icmp eq i64 %width, 2
br i1 %is.two, label %pixels.two, label %pixels.any
pixels.two:
call void @pixels_2(ptr %x.line, ptr %o.line, ptr %starts, ptr %weights, i64 %inner, i64 %rows,
                    i64 %width)
br label %line.end
pixels.any:
call void @pixels_any(ptr %x.line, ptr %o.line, ptr %starts, ptr %weights, i64 %inner, i64 %rows,
                      i64 %width)
br label %line.end
pieces:
for %r < %rows
%start.p = getelementptr i32, ptr %starts, i64 %r
%start.32 = load i32, ptr %start.p
%start = sext i32 %start.32 to i64
%x.at = mul i64 %start, %inner
%old = getelementptr <kind>, ptr %x.line, i64 %x.at
%r.at = mul i64 %r, %inner
%new = getelementptr float, ptr %o.line, i64 %r.at
%w.at = mul i64 %r, %width
%w.row = getelementptr float, ptr %weights, i64 %w.at
call void @piece(ptr %old, ptr %new, ptr %w.row, i64 %inner, i64 %width, i64 %inner, float 1.0)
end
br label %line.end
line.end:
end
ret void
}
"""


# A row of the result is the sum of some rows, of which only the columns that are wanted are made,
# in `room`; then the sums of neighbours in it. The parts of the work are the rows of all images.
_IMAGES = """
define void @weft_resized_<name>(ptr %job, i64 %from, i64 %to) {
entry:
<array x>
<array out>
<array row starts>
<array row weights>
<array column starts>
<array column weights>
<array room>
<array by>
<i64 rows>
<i64 columns>
<i64 image>
<i64 line>
<i64 skip>
<i64 length>
<i64 inner>
<i64 row terms>
<i64 column terms>
<i64 room step>
%by.1 = load float, ptr %by
%new.line = mul i64 %columns, %inner
%is.three = icmp eq i64 %inner, 3
%is.four = icmp eq i64 %inner, 4
%is.pixel = or i1 %is.three, %is.four
%others = sub i64 %to, 1
for %l from %from < %to
%n = udiv i64 %l, %rows
%r = urem i64 %l, %rows
%image.at = mul i64 %n, %image
%start.p = getelementptr i32, ptr %row.starts, i64 %r
%start.32 = load i32, ptr %start.p
%start = sext i32 %start.32 to i64
%start.at = mul i64 %start, %line
%line.at = add i64 %image.at, %start.at
%x.at = add i64 %line.at, %skip
%old = getelementptr <kind>, ptr %x, i64 %x.at
%w.at = mul i64 %r, %row.terms
%w.row = getelementptr float, ptr %row.weights, i64 %w.at
%room.at = mul i64 %l, %room.step
%room.line = getelementptr float, ptr %room, i64 %room.at
call void @summed_rows(ptr %old, ptr %room.line, ptr %w.row, i64 %length, i64 %row.terms, i64 %line,
                       float %by.1)
%o.at = mul i64 %l, %new.line
%o.line = getelementptr float, ptr %out, i64 %o.at
%is.before = icmp slt i64 %l, %others
%by.pixels = and i1 %is.before, %is.pixel
br i1 %by.pixels, label %pixels, label %pieces
pixels:
%is.two = icmp eq i64 %column.terms, 2
br i1 %is.two, label %pixels.two, label %pixels.any
pixels.two:
call void @pixels_2(ptr %room.line, ptr %o.line, ptr %column.starts, ptr %column.weights,
                    i64 %inner, i64 %columns, i64 %column.terms)
br label %line.end
pixels.any:
call void @pixels_any(ptr %room.line, ptr %o.line, ptr %column.starts, ptr %column.weights,
                      i64 %inner, i64 %columns, i64 %column.terms)
br label %line.end
pieces:
for %c < %columns
%c.start.p = getelementptr i32, ptr %column.starts, i64 %c
%c.start.32 = load i32, ptr %c.start.p
%c.start = sext i32 %c.start.32 to i64
%c.at = mul i64 %c.start, %inner
%c.old = getelementptr float, ptr %room.line, i64 %c.at
%c.new.at = mul i64 %c, %inner
%c.new = getelementptr float, ptr %o.line, i64 %c.new.at
%c.w.at = mul i64 %c, %column.terms
%c.w = getelementptr float, ptr %column.weights, i64 %c.w.at
call void @piece(ptr %c.old, ptr %c.new, ptr %c.w, i64 %inner, i64 %column.terms, i64 %inner,
                 float 1.0)
end
br label %line.end
line.end:
end
ret void
}
"""
_SCALED = {"divided": "fdiv", "multiplied": "fmul"}


def _as_floats(kind: str, convert: str, scale: str = "") -> str:
    """How numbers become floats, one or four at once; one of them may be divided by something."""
    parts = []
    for lanes in (1,) if scale else (1, 4):
        floats, numbers = [t if lanes == 1 else f"<{lanes} x {t}>" for t in ("float", kind)]
        lines = [f"%y = {convert} {numbers} %x to {floats}"] if convert else []
        result = "%y" if convert else "%x"
        if scale:
            lines.append(f"%z = {scale} float {result}, %by")
            result = "%z"
        words = {"lanes": lanes, "floats": floats, "numbers": numbers}
        words["scaled"], words["parameter"] = ("_scaled", ", float %by") if scale else ("", "")
        words["convert"] = "\n".join([*lines, f"ret {floats} {result}"])
        parts.append(filled(_AS_FLOAT, words))
    return "".join(parts)


def _piece(name: str, kind: str, is_scaled: bool = False) -> str:
    words = {"piece": name, "kind": kind}
    words["scaled"], words["by"] = ("_scaled", ", float %by") if is_scaled else ("", "")
    return filled(_PIECE, words)


def _pixels(kind: str) -> str:
    text = _PIXELS.replace("<terms>", "2") + _PIXELS.replace("_<terms>", "_any").replace(
        "<terms>", "%width"
    )
    return filled(text, {"kind": kind, "bytes": 4 if kind == "float" else 1})


def _text(name: str, kind: str, convert: str) -> str:
    functions = _as_floats(kind, convert) + _piece("piece", kind) + _pixels(kind)
    return functions + filled(_LINES, {"name": name, "kind": kind})


def _images(name: str, kind: str, convert: str, scale: str) -> str:
    """Rows are summed up as they are stored, or scaled; what comes out of that are floats."""
    scaled = _as_floats(kind, convert, scale or "fmul") + _piece("summed_rows", kind, True)
    floats = _as_floats("float", "") + _piece("piece", "float") + _pixels("float")
    return scaled + floats + filled(_IMAGES, {"name": name, "kind": kind})


TEXTS = {
    f"banded_sum_{name}": functools.partial(_text, name, *read) for name, read in _READ.items()
} | {
    f"resized_{name}_{how}": functools.partial(_images, f"{name}_{how}", *read, scale)
    for name, read in _READ.items()
    for how, scale in _SCALED.items()
}
