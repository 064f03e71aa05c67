"""Rows of JPEG files from luminance and colours to RGB, as LLVM IR: see `media/jpeg_colours.py`.

Colours are known for every second column, and maybe every second row. They are first taken out of
the pixels, into planes with one sample more at each end of a row. For a row of pixels, two rows of
samples are added up, each sum is blended with its neighbours, and the colours become RGB: in whole
numbers, as libjpeg does it.
"""

from __future__ import annotations

from weft._src.execution.native.written_loops import with_loops

# The words of a job, which is all that machine code is given. `planes` has room for two planes of
# bytes, [rows, samples + 2] each; `room` for rows of i32: samples + 2 sums, and two pixels for each
# sample, of either colour. A sum is `near times` the sample of the nearer row and `far times`
# that of the other; a pixel is three times a sum, its neighbour, and a number for pixels at the
# left or right of their sample, shifted by `shift`. `halves` is 1 if there are colours for every
# second row only.
RULE = ("halves", "near times", "far times", "left", "right", "shift")
JOB = ("given", "out", "planes", "room", "height", "width", "first", "count", "samples", *RULE)
# Where luminance and colours are planes of their own, with rows of `line` and `wide` bytes. In
# front of a row of colours, and behind it, is a byte that nobody has filled yet.
PLANES = (
    "luminance", "out", "blue", "red", "room", "height", "width", "samples", "line", "wide", *RULE,
)  # fmt: skip

_ONE = 1 << 16
_HALF = _ONE // 2
_RED, _BLUE, _GREEN_RED, _GREEN_BLUE = [
    int(factor * _ONE + 0.5) for factor in (1.402, 1.772, 0.71414, 0.34414)
]

# The samples of one colour, a byte of every second pixel of some rows. `step` is how far the rows
# are apart, `wide` a row of the plane. All but the last are found in eight bytes of two pixels, if
# pixels have four.
_TAKE = """
define internal void @take_<bytes>(ptr noalias %given, ptr noalias %plane, i64 %rows, i64 %samples,
                             i64 %step, i64 %wide, i64 %colour) {
entry:
%last = sub i64 %samples, 1
%shift = mul i64 %colour, 8
br label %rows.next
rows.next:
%y = phi i64 [0, %entry], [%y.next, %ends]
%rows.more = icmp slt i64 %y, %rows
br i1 %rows.more, label %row, label %done
row:
%from = mul i64 %y, %step
%pixels = getelementptr i8, ptr %given, i64 %from
%to = mul i64 %y, %wide
%line = getelementptr i8, ptr %plane, i64 %to
%inside = getelementptr i8, ptr %line, i64 1
br label %next
next:
%i = phi i64 [0, %row], [%i.next, %work]
%more = icmp slt i64 %i, %last
br i1 %more, label %work, label %ends
work:
<sample>
%q = getelementptr i8, ptr %inside, i64 %i
store i8 %x, ptr %q
%i.next = add i64 %i, 1
br label %next
ends:
%final.at = mul i64 %last, <two pixels>
%final.p = getelementptr i8, ptr %pixels, i64 %final.at
%final.colour.p = getelementptr i8, ptr %final.p, i64 %colour
%final = load i8, ptr %final.colour.p
%final.q = getelementptr i8, ptr %inside, i64 %last
store i8 %final, ptr %final.q
%lowest = load i8, ptr %inside
store i8 %lowest, ptr %line
%end.p = getelementptr i8, ptr %inside, i64 %samples
store i8 %final, ptr %end.p
%y.next = add i64 %y, 1
br label %rows.next
done:
ret void
}
"""

_SAMPLES = {
    3: """
%at = mul i64 %i, 6
%p = getelementptr i8, ptr %pixels, i64 %at
%colour.p = getelementptr i8, ptr %p, i64 %colour
%x = load i8, ptr %colour.p
""",
    4: """
%p = getelementptr i64, ptr %pixels, i64 %i
%two = load i64, ptr %p, align 1
%two.colour = lshr i64 %two, %shift
%x = trunc i64 %two.colour to i8
""",
}

_SUM = """
define internal void @sum(ptr noalias %near, ptr noalias %far, ptr noalias %sums, i64 %wide,
                          i32 %n.times, i32 %f.times) {
entry:
br label %next
next:
%i = phi i64 [0, %entry], [%i.next, %next]
%n.p = getelementptr i8, ptr %near, i64 %i
%n.8 = load i8, ptr %n.p
%n = zext i8 %n.8 to i32
%f.p = getelementptr i8, ptr %far, i64 %i
%f.8 = load i8, ptr %f.p
%f = zext i8 %f.8 to i32
%n.part = mul i32 %n, %n.times
%f.part = mul i32 %f, %f.times
%sum = add i32 %n.part, %f.part
%sum.p = getelementptr i32, ptr %sums, i64 %i
store i32 %sum, ptr %sum.p
%i.next = add i64 %i, 1
%more = icmp slt i64 %i.next, %wide
br i1 %more, label %next, label %done
done:
ret void
}
"""

# Colours of pixels, two for each sample, less 128.
_BLEND = """
define internal void @blend(ptr noalias %sums, ptr noalias %colours, i64 %samples, i32 %l, i32 %r,
                            i32 %s) {
entry:
br label %next
next:
%i = phi i64 [0, %entry], [%here, %next]
%here = add i64 %i, 1
%there = add i64 %i, 2
%before.p = getelementptr i32, ptr %sums, i64 %i
%before = load i32, ptr %before.p
%this.p = getelementptr i32, ptr %sums, i64 %here
%this = load i32, ptr %this.p
%after.p = getelementptr i32, ptr %sums, i64 %there
%after = load i32, ptr %after.p
%thrice = mul i32 %this, 3
%a = add i32 %thrice, %before
%a.l = add i32 %a, %l
%a.s = lshr i32 %a.l, %s
%a.c = sub i32 %a.s, 128
%b = add i32 %thrice, %after
%b.r = add i32 %b, %r
%b.s = lshr i32 %b.r, %s
%b.c = sub i32 %b.s, 128
%two = mul i64 %i, 2
%even.p = getelementptr i32, ptr %colours, i64 %two
store i32 %a.c, ptr %even.p
%odd.p = getelementptr i32, ptr %even.p, i64 1
store i32 %b.c, ptr %odd.p
%more = icmp slt i64 %here, %samples
br i1 %more, label %next, label %done
done:
ret void
}
"""

# So many pixels at once; the rest one by one.
_LANES = 16
_PIXELS = """
%@cb.p = getelementptr i32, ptr %blue, i64 %@x
%@cb = load <i32s>, ptr %@cb.p, align 4
%@cr.p = getelementptr i32, ptr %red, i64 %@x
%@cr = load <i32s>, ptr %@cr.p, align 4
%@from = mul i64 %@x, <bytes>
%@y.p = getelementptr i8, ptr %given, i64 %@from
<load>
%@y = zext <i8s> %@y.8 to <i32s>
%@r.1 = mul <i32s> %@cr, <red>
%@r.2 = add <i32s> %@r.1, <half>
%@r.3 = ashr <i32s> %@r.2, <16>
%@r = add <i32s> %@y, %@r.3
%@g.1 = mul <i32s> %@cb, <green blue>
%@g.2 = mul <i32s> %@cr, <green red>
%@g.3 = add <i32s> %@g.1, <half>
%@g.4 = add <i32s> %@g.3, %@g.2
%@g.5 = ashr <i32s> %@g.4, <16>
%@g = add <i32s> %@y, %@g.5
%@b.1 = mul <i32s> %@cb, <blue>
%@b.2 = add <i32s> %@b.1, <half>
%@b.3 = ashr <i32s> %@b.2, <16>
%@b = add <i32s> %@y, %@b.3
<clamped>
%@three = mul i64 %@x, 3
%@p = getelementptr i8, ptr %out, i64 %@three
<store>
"""
_CLAMPED = """
%@<c>.low = call <i32s> @llvm.smax.<short>(<i32s> %@<c>, <i32s> <0>)
%@<c>.in = call <i32s> @llvm.smin.<short>(<i32s> %@<c>.low, <i32s> <255>)
%@<c>.8 = trunc <i32s> %@<c>.in to <i8s>
"""
_NUMBERS = {
    "red": _RED, "half": _HALF, "16": 16, "green blue": -_GREEN_BLUE, "green red": -_GREEN_RED,
    "blue": _BLUE, "0": 0, "255": 255,
}  # fmt: skip


def _indices(numbers: list[int]) -> str:
    return f"<{len(numbers)} x i32> <{', '.join([f'i32 {n}' for n in numbers])}>"


def _loads_and_stores(lanes: int, bytes_of_pixel: int) -> tuple[str, str]:
    """Of the first byte of each pixel, and of three bytes for each."""
    if lanes == 1:
        stores = [
            f"%@{c}.p = getelementptr i8, ptr %@p, i64 {i}\nstore i8 %@{c}.8, ptr %@{c}.p\n"
            for i, c in enumerate("rgb")
        ]
        return "%@y.8 = load i8, ptr %@y.p", "".join(stores)
    all_bytes, bytes_, two = f"<{3 * lanes} x i8>", f"<{lanes} x i8>", f"<{2 * lanes} x i8>"
    thirds = _indices([3 * i for i in range(lanes)])
    load = f"""
%@all = load {all_bytes}, ptr %@y.p, align 1
%@y.8 = shufflevector {all_bytes} %@all, {all_bytes} poison, {thirds}
"""
    if bytes_of_pixel == 1:
        load = f"%@y.8 = load {bytes_}, ptr %@y.p, align 1"
    elif bytes_of_pixel == 4:
        load = f"""
%@all = load <{lanes} x i32>, ptr %@y.p, align 1
%@y.8 = trunc <{lanes} x i32> %@all to {bytes_}
"""
    pairs = _indices(list(range(2 * lanes)))
    turns = _indices([i // 3 + i % 3 * lanes for i in range(3 * lanes)])
    store = f"""
%@rg = shufflevector {bytes_} %@r.8, {bytes_} %@g.8, {pairs}
%@bb = shufflevector {bytes_} %@b.8, {bytes_} poison, {pairs}
%@rgb = shufflevector {two} %@rg, {two} %@bb, {turns}
store {all_bytes} %@rgb, ptr %@p, align 1
"""
    return load, store


def _pixels(lanes: int, bytes_of_pixel: int) -> str:
    load, store = _loads_and_stores(lanes, bytes_of_pixel)
    texts = {
        "bytes": str(bytes_of_pixel),
        "load": load,
        "store": store,
        "clamped": "".join([_CLAMPED.replace("<c>", c) for c in "rgb"]),
        "i32s": "i32" if lanes == 1 else f"<{lanes} x i32>",
        "i8s": "i8" if lanes == 1 else f"<{lanes} x i8>",
        "short": "i32" if lanes == 1 else f"v{lanes}i32",
    }
    for name, number in _NUMBERS.items():
        texts[name] = str(number) if lanes == 1 else f"splat (i32 {number})"
    out = _PIXELS
    for name, text in texts.items():
        out = out.replace(f"<{name}>", text)
    return out.replace("%@", f"%l{lanes}.")


_DECLARATIONS = f"""
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare <{_LANES} x i32> @llvm.smax.v{_LANES}i32(<{_LANES} x i32>, <{_LANES} x i32>)
declare <{_LANES} x i32> @llvm.smin.v{_LANES}i32(<{_LANES} x i32>, <{_LANES} x i32>)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
"""

_CONVERT = f"""
define internal void @convert_<bytes>(ptr noalias %given, ptr noalias %out, ptr noalias %blue,
                                      ptr noalias %red, i64 %count) {{
entry:
br label %many
many:
%l{_LANES}.x = phi i64 [0, %entry], [%many.end, %many.work]
%many.end = add i64 %l{_LANES}.x, {_LANES}
%many.more = icmp sle i64 %many.end, %count
br i1 %many.more, label %many.work, label %one
many.work:
<many>
br label %many
one:
%l1.x = phi i64 [%l{_LANES}.x, %many], [%one.end, %one.work]
%one.more = icmp slt i64 %l1.x, %count
br i1 %one.more, label %one.work, label %done
one.work:
<single>
%one.end = add i64 %l1.x, 1
br label %one
done:
ret void
}}
"""

_POINTERS = {"given", "out", "planes", "room", "luminance", "blue", "red"}


def _words(job: tuple[str, ...]) -> str:
    return "\n".join([f"<{'ptr' if word in _POINTERS else 'i64'} {word}>" for word in job])


# All rows of pixels: `line` and `out.line` are how far they are apart, `wide` that of colours.
_EACH_ROW = """
define internal void @each_row_<bytes>(ptr noalias %given, ptr noalias %out, ptr noalias %planes,
    ptr noalias %planes.red, ptr noalias %room, i64 %line, i64 %out.line, i64 %wide, i64 %height,
    i64 %count, i64 %samples, i64 %halves, i64 %near.times, i64 %far.times, i64 %left, i64 %right,
    i64 %shift) {
entry:
%sums = add i64 %samples, 2
%taller = add i64 %height, %halves
%rows = lshr i64 %taller, %halves
%pixels = mul i64 %samples, 2
%blue = getelementptr i32, ptr %room, i64 %sums
%red = getelementptr i32, ptr %blue, i64 %pixels
%final = sub i64 %rows, 1
%n.times = trunc i64 %near.times to i32
%f.times = trunc i64 %far.times to i32
%l = trunc i64 %left to i32
%r = trunc i64 %right to i32
%s = trunc i64 %shift to i32
br label %next
next:
%y = phi i64 [0, %entry], [%y.next, %work]
%more = icmp slt i64 %y, %height
br i1 %more, label %work, label %done
work:
; the nearer row of samples, and the one above or below
%near.y = lshr i64 %y, %halves
%odd = and i64 %y, 1
%twice = mul i64 %odd, 2
%way = sub i64 %twice, 1
%wanted = add i64 %near.y, %way
%low = call i64 @llvm.smax.i64(i64 %wanted, i64 0)
%far.y = call i64 @llvm.smin.i64(i64 %low, i64 %final)
%near.at = mul i64 %near.y, %wide
%far.at = mul i64 %far.y, %wide
%near.blue = getelementptr i8, ptr %planes, i64 %near.at
%far.blue = getelementptr i8, ptr %planes, i64 %far.at
%near.red = getelementptr i8, ptr %planes.red, i64 %near.at
%far.red = getelementptr i8, ptr %planes.red, i64 %far.at
call void @sum(ptr %near.blue, ptr %far.blue, ptr %room, i64 %sums, i32 %n.times, i32 %f.times)
call void @blend(ptr %room, ptr %blue, i64 %samples, i32 %l, i32 %r, i32 %s)
call void @sum(ptr %near.red, ptr %far.red, ptr %room, i64 %sums, i32 %n.times, i32 %f.times)
call void @blend(ptr %room, ptr %red, i64 %samples, i32 %l, i32 %r, i32 %s)
%at = mul i64 %y, %line
%row = getelementptr i8, ptr %given, i64 %at
%out.at = mul i64 %y, %out.line
%out.row = getelementptr i8, ptr %out, i64 %out.at
call void @convert_<bytes>(ptr %row, ptr %out.row, ptr %blue, ptr %red, i64 %count)
%y.next = add i64 %y, 1
br label %next
done:
ret void
}
"""
_RULE = ", ".join([f"i64 %{word.replace(' ', '.')}" for word in RULE])

_ROWS = f"""
define void @weft_jpeg_rows_<bytes>(ptr %job) {{
entry:
{_words(JOB)}
%line = mul i64 %width, <bytes>
%out.line = mul i64 %width, 3
%skipped = mul i64 %first, <bytes>
%out.skipped = mul i64 %first, 3
%wide = add i64 %samples, 2
%taller = add i64 %height, %halves
%rows = lshr i64 %taller, %halves
%step = shl i64 %line, %halves
%size = mul i64 %rows, %wide
%planes.red = getelementptr i8, ptr %planes, i64 %size
%wanted.given = getelementptr i8, ptr %given, i64 %skipped
%wanted.out = getelementptr i8, ptr %out, i64 %out.skipped
call void @take_<bytes>(ptr %wanted.given, ptr %planes, i64 %rows, i64 %samples, i64 %step,
                        i64 %wide, i64 1)
call void @take_<bytes>(ptr %wanted.given, ptr %planes.red, i64 %rows, i64 %samples, i64 %step,
                        i64 %wide, i64 2)
call void @each_row_<bytes>(ptr %wanted.given, ptr %wanted.out, ptr %planes, ptr %planes.red,
    ptr %room, i64 %line, i64 %out.line, i64 %wide, i64 %height, i64 %count, i64 %samples, {_RULE})
ret void
}}
"""

_ENDS = """
define internal void @fill_ends(ptr %plane, i64 %rows, i64 %samples, i64 %wide) {
entry:
for %y < %rows
%at = mul i64 %y, %wide
%line = getelementptr i8, ptr %plane, i64 %at
%inside = getelementptr i8, ptr %line, i64 1
%lowest = load i8, ptr %inside
store i8 %lowest, ptr %line
%final.p = getelementptr i8, ptr %line, i64 %samples
%final = load i8, ptr %final.p
%end.p = getelementptr i8, ptr %inside, i64 %samples
store i8 %final, ptr %end.p
end
ret void
}
"""
_FROM_PLANES = f"""
define void @weft_jpeg_planes(ptr %job) {{
entry:
{_words(PLANES)}
%out.line = mul i64 %width, 3
%taller = add i64 %height, %halves
%rows = lshr i64 %taller, %halves
call void @fill_ends(ptr %blue, i64 %rows, i64 %samples, i64 %wide)
call void @fill_ends(ptr %red, i64 %rows, i64 %samples, i64 %wide)
call void @each_row_1(ptr %luminance, ptr %out, ptr %blue, ptr %red, ptr %room, i64 %line,
    i64 %out.line, i64 %wide, i64 %height, i64 %width, i64 %samples, {_RULE})
ret void
}}
"""


def _written(template: str, bytes_of_pixel: int) -> str:
    texts = {
        "sample": _SAMPLES.get(bytes_of_pixel, ""),
        "two pixels": str(2 * bytes_of_pixel),
        "many": _pixels(_LANES, bytes_of_pixel),
        "single": _pixels(1, bytes_of_pixel),
        "bytes": str(bytes_of_pixel),
    }
    for name, text in texts.items():
        template = template.replace(f"<{name}>", text)
    return template


# Pixels that are given have so many bytes, the fourth of which means nothing.
BYTES = tuple(_SAMPLES)
ROWS = (
    _DECLARATIONS
    + _SUM
    + _BLEND
    + "".join([_written(_TAKE + _CONVERT + _EACH_ROW + _ROWS, number) for number in BYTES])
)
FROM_PLANES = _written(_CONVERT + _EACH_ROW, 1) + with_loops(_ENDS) + _FROM_PLANES
