"""Rows of PNG files restored from their differences, as LLVM IR: see `media/png_rows.py`.

A row is worked on pixel by pixel. What a byte is predicted from are those of the pixel to the left
(`a`) and of the one above that (`c`), which stay in registers, and of the one above (`b`). To the
left of the first pixel are zeros. Filters that do not look to the left go byte by byte, which
becomes vectors.
"""

from __future__ import annotations

# The words of a job, which is all that machine code is given.
JOB = ("filtered", "out", "nothing", "start", "stop", "size")
STEPS = (1, 2, 3, 4, 6, 8)  # bytes of a pixel

_NEAREST = """
%b.c@ = sub i32 %b@, %c@
%a.c@ = sub i32 %a@, %c@
%both@ = add i32 %b.c@, %a.c@
%p@ = call i32 @llvm.abs.i32(i32 %b.c@, i1 true)
%q@ = call i32 @llvm.abs.i32(i32 %a.c@, i1 true)
%r@ = call i32 @llvm.abs.i32(i32 %both@, i1 true)
%qr@ = icmp sle i32 %q@, %r@
%other@ = select i1 %qr@, i32 %b@, i32 %c@
%pq@ = icmp sle i32 %p@, %q@
%pr@ = icmp sle i32 %p@, %r@
%is.a@ = and i1 %pq@, %pr@
%guess@ = select i1 %is.a@, i32 %a@, i32 %other@
"""
# What a byte was predicted from, in the order of their numbers. The bytes of a pixel put theirs for
# the `@` behind a name.
_FILTERS = {
    "none": "%guess@ = add i32 0, 0",
    "sub": "%guess@ = add i32 %a@, 0",
    "up": "%guess@ = add i32 %b@, 0",
    "average": "%both@ = add i32 %a@, %b@\n%guess@ = lshr i32 %both@, 1",
    "paeth": _NEAREST,
}
_LEFT = """
%a@ = phi i32 [0, %entry], [%x@, %work]
%c@ = phi i32 [0, %entry], [%b@, %work]
"""
_BYTE = """
%i@ = add i64 %i, @number
%b.p@ = getelementptr i8, ptr %above, i64 %i@
%b.8@ = load i8, ptr %b.p@
%b@ = zext i8 %b.8@ to i32
<guess>
%given.p@ = getelementptr i8, ptr %given, i64 %i@
%given.8@ = load i8, ptr %given.p@
%guess.8@ = trunc i32 %guess@ to i8
%x.8@ = add i8 %given.8@, %guess.8@
%row.p@ = getelementptr i8, ptr %row, i64 %i@
store i8 %x.8@, ptr %row.p@
%x@ = zext i8 %x.8@ to i32
"""
_ROW = """
define internal void @row_<name>_<step>(ptr noalias %given, ptr noalias %row, ptr noalias %above,
                                        i64 %size) {
entry:
br label %next
next:
%i = phi i64 [0, %entry], [%i.next, %work]
<left>
%more = icmp slt i64 %i, %size
br i1 %more, label %work, label %done
work:
<bytes>
%i.next = add i64 %i, <step>
br label %next
done:
ret void
}
"""
_CASE = """
<name>:
call void @row_<name>_<step>(ptr %given, ptr %row, ptr %above, i64 %size)
br label %end
"""
_ROWS = """
define void @weft_png_rows_<step>(ptr %job) {
entry:
<ptr filtered>
<ptr out>
<ptr nothing>
<i64 start>
<i64 stop>
<i64 size>
%longer = add i64 %size, 1
br label %next
next:
%y = phi i64 [%start, %entry], [%y.next, %end]
%more = icmp slt i64 %y, %stop
br i1 %more, label %work, label %done
work:
%place = mul i64 %y, %longer
%number.p = getelementptr i8, ptr %filtered, i64 %place
%number = load i8, ptr %number.p
%given = getelementptr i8, ptr %number.p, i64 1
%row.place = mul i64 %y, %size
%row = getelementptr i8, ptr %out, i64 %row.place
%back = sub i64 0, %size
%last = getelementptr i8, ptr %row, i64 %back
%is.first = icmp eq i64 %y, 0
%above = select i1 %is.first, ptr %nothing, ptr %last
switch i8 %number, label %none [<numbers>]
<cases>
end:
%y.next = add i64 %y, 1
br label %next
done:
ret void
}
"""


def _text(template: str, **parts: str) -> str:
    for name, part in parts.items():
        template = template.replace(f"<{name}>", part)
    return template


def _of_byte(template: str, number: int) -> str:
    numbered = template.replace("@number", str(number)).replace("@llvm", "<llvm>")
    return numbered.replace("@", f".{number}").replace("<llvm>", "@llvm")


def _step(name: str, step: int) -> int:
    return step if "%a@" in _FILTERS[name] else 1


def _row(name: str, step: int) -> str:
    byte = _text(_BYTE, guess=_FILTERS[name])
    return _text(
        _ROW,
        name=name,
        step=str(step),
        left="".join([_of_byte(_LEFT, number) for number in range(step)]),
        bytes="".join([_of_byte(byte, number) for number in range(step)]),
    )


def _rows(step: int) -> str:
    cases = [_text(_CASE, name=name, step=str(_step(name, step))) for name in _FILTERS]
    numbers = [f"i8 {i}, label %{name}" for i, name in enumerate(_FILTERS) if i]
    return _text(_ROWS, step=str(step), cases="".join(cases), numbers=" ".join(numbers))


_USED = sorted({(name, _step(name, step)) for name in _FILTERS for step in STEPS})
ROWS = "declare i32 @llvm.abs.i32(i32, i1)\n"
ROWS += "".join([_row(name, step) for name, step in _USED])
ROWS += "".join([_rows(step) for step in STEPS])
