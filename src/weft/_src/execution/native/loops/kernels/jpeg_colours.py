"""Rows of JPEG files from luminance and colours to RGB, as LLVM IR: see `media/jpeg_colours.py`.

Colours are known for every second column, and maybe every second row. For a row of pixels they are
blended from two rows of samples (`near` and `far`), then from neighbours within the row, in whole
numbers as libjpeg does it. `room` holds, for both colours: samples with one more at each end, and
colours of pixels.
"""

from __future__ import annotations

# The words of a job, which is all that machine code is given. A sample is `near times` the nearer
# row and `far times` the other; a pixel is three times a sample, its neighbour, and a number for
# pixels at the left or right of their sample, shifted by `shift`. `halves` is 1 if there are
# colours for every second row only.
RULE = ("halves", "near times", "far times", "left", "right", "shift")
JOB = ("given", "out", "room", "height", "width", "first", "count", "samples", *RULE)

_ONE = 1 << 16
_HALF = _ONE // 2
_RED, _BLUE, _GREEN_RED, _GREEN_BLUE = [
    int(factor * _ONE + 0.5) for factor in (1.402, 1.772, 0.71414, 0.34414)
]

# Samples of one colour: `%channel` is 1 or 2, `%sums` where they go, one further for the first.
_SAMPLE = """
define internal void @sample(ptr noalias %near, ptr noalias %far, ptr noalias %sums, i64 %samples,
                             i64 %channel, i64 %near.times, i64 %far.times) {
entry:
%n.times = trunc i64 %near.times to i32
%f.times = trunc i64 %far.times to i32
%inside = getelementptr i32, ptr %sums, i64 1
br label %next
next:
%i = phi i64 [0, %entry], [%i.next, %work]
%more = icmp slt i64 %i, %samples
br i1 %more, label %work, label %ends
work:
%six = mul i64 %i, 6
%at = add i64 %six, %channel
%n.p = getelementptr i8, ptr %near, i64 %at
%n.8 = load i8, ptr %n.p
%n = zext i8 %n.8 to i32
%f.p = getelementptr i8, ptr %far, i64 %at
%f.8 = load i8, ptr %f.p
%f = zext i8 %f.8 to i32
%n.part = mul i32 %n, %n.times
%f.part = mul i32 %f, %f.times
%sum = add i32 %n.part, %f.part
%sum.p = getelementptr i32, ptr %inside, i64 %i
store i32 %sum, ptr %sum.p
%i.next = add i64 %i, 1
br label %next
ends:
%lowest = load i32, ptr %inside
store i32 %lowest, ptr %sums
%after = add i64 %samples, 1
%end.p = getelementptr i32, ptr %sums, i64 %after
%last.p = getelementptr i32, ptr %sums, i64 %samples
%highest = load i32, ptr %last.p
store i32 %highest, ptr %end.p
ret void
}
"""

# Colours of pixels, two for each sample, less 128.
_BLEND = """
define internal void @blend(ptr noalias %sums, ptr noalias %colours, i64 %samples, i64 %left,
                            i64 %right, i64 %shift) {
entry:
%l = trunc i64 %left to i32
%r = trunc i64 %right to i32
%s = trunc i64 %shift to i32
br label %next
next:
%i = phi i64 [0, %entry], [%here, %work]
%more = icmp slt i64 %i, %samples
br i1 %more, label %work, label %done
work:
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
br label %next
done:
ret void
}
"""

_STORES = "".join([
    f"""
%{c}.low = call i32 @llvm.smax.i32(i32 %{c}, i32 0)
%{c}.in = call i32 @llvm.smin.i32(i32 %{c}.low, i32 255)
%{c}.8 = trunc i32 %{c}.in to i8
%{c}.p = getelementptr i8, ptr %p, i64 {i}
store i8 %{c}.8, ptr %{c}.p
"""
    for i, c in enumerate("rgb")
])  # fmt: skip
_CONVERT = f"""
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

define internal void @convert(ptr noalias %given, ptr noalias %out, ptr noalias %blue,
                              ptr noalias %red, i64 %count) {{
entry:
br label %next
next:
%x = phi i64 [0, %entry], [%x.next, %work]
%more = icmp slt i64 %x, %count
br i1 %more, label %work, label %done
work:
%cb.p = getelementptr i32, ptr %blue, i64 %x
%cb = load i32, ptr %cb.p
%cr.p = getelementptr i32, ptr %red, i64 %x
%cr = load i32, ptr %cr.p
%three = mul i64 %x, 3
%y.p = getelementptr i8, ptr %given, i64 %three
%y.8 = load i8, ptr %y.p
%y = zext i8 %y.8 to i32
%r.1 = mul i32 %cr, {_RED}
%r.2 = add i32 %r.1, {_HALF}
%r.3 = ashr i32 %r.2, 16
%r = add i32 %y, %r.3
%g.1 = mul i32 %cb, {-_GREEN_BLUE}
%g.2 = mul i32 %cr, {-_GREEN_RED}
%g.3 = add i32 %g.1, {_HALF}
%g.4 = add i32 %g.3, %g.2
%g.5 = ashr i32 %g.4, 16
%g = add i32 %y, %g.5
%b.1 = mul i32 %cb, {_BLUE}
%b.2 = add i32 %b.1, {_HALF}
%b.3 = ashr i32 %b.2, 16
%b = add i32 %y, %b.3
%p = getelementptr i8, ptr %out, i64 %three
{_STORES}
%x.next = add i64 %x, 1
br label %next
done:
ret void
}}
"""

_WORDS = "\n".join([f"<ptr {word}>" for word in JOB[:3]] + [f"<i64 {word}>" for word in JOB[3:]])

ROWS = f"""
{_SAMPLE}
{_BLEND}
{_CONVERT}
define void @weft_jpeg_rows(ptr %job) {{
entry:
{_WORDS}
%line = mul i64 %width, 3
%skipped = mul i64 %first, 3
%ends = add i64 %samples, 2
%pixels = mul i64 %samples, 2
%sums.red = getelementptr i32, ptr %room, i64 %ends
%blue = getelementptr i32, ptr %sums.red, i64 %ends
%red = getelementptr i32, ptr %blue, i64 %pixels
%final = sub i64 %height, 1
br label %next
next:
%y = phi i64 [0, %entry], [%y.next, %work]
%more = icmp slt i64 %y, %height
br i1 %more, label %work, label %done
work:
%odd = and i64 %y, 1
; the nearer row of samples stands at an even row, the other one two above or below
%back = and i64 %odd, %halves
%near.y = sub i64 %y, %back
%twice = mul i64 %back, 4
%way = sub i64 %twice, 2
%step = mul i64 %way, %halves
%far.wanted = add i64 %near.y, %step
%far.low = call i64 @llvm.smax.i64(i64 %far.wanted, i64 0)
%is.below = icmp sgt i64 %far.low, %final
%far.y = select i1 %is.below, i64 %near.y, i64 %far.low
%near.place = mul i64 %near.y, %line
%near.at = add i64 %near.place, %skipped
%near = getelementptr i8, ptr %given, i64 %near.at
%far.place = mul i64 %far.y, %line
%far.at = add i64 %far.place, %skipped
%far = getelementptr i8, ptr %given, i64 %far.at
call void @sample(ptr %near, ptr %far, ptr %room, i64 %samples, i64 1, i64 %near.times,
                  i64 %far.times)
call void @sample(ptr %near, ptr %far, ptr %sums.red, i64 %samples, i64 2, i64 %near.times,
                  i64 %far.times)
call void @blend(ptr %room, ptr %blue, i64 %samples, i64 %left, i64 %right, i64 %shift)
call void @blend(ptr %sums.red, ptr %red, i64 %samples, i64 %left, i64 %right, i64 %shift)
%place = mul i64 %y, %line
%at = add i64 %place, %skipped
%row = getelementptr i8, ptr %given, i64 %at
%out.row = getelementptr i8, ptr %out, i64 %at
call void @convert(ptr %row, ptr %out.row, ptr %blue, ptr %red, i64 %count)
%y.next = add i64 %y, 1
br label %next
done:
ret void
}}
declare i64 @llvm.smax.i64(i64, i64)
"""
