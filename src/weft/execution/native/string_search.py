"""Machine code that searches strings: it reads bytes objects and follows the tables of automata.

One module serves all patterns, see `ops/strings/pattern_search.py` for the job it is given. Python
holds its lock all the time, so objects stay what they are. In the text `<ptr name>` loads a word of
the job, and `<stop n, place>` leaves it with a status. A search never reads outside of a string:
behind the last byte, and before the first, an automaton is asked about the border.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

from weft.execution.native import compiler, support
from weft.execution.native.support import LAYOUT
from weft.ops.strings import pattern_search
from weft.ops.strings.pattern_search import JOB, Searchers

_loaded: list[compiler.MachineCode] = []  # code lives as long as this


def load() -> Searchers | None:
    """The functions, from disk or compiled now; None if machine code cannot run here."""
    if support.reason_off() is not None:
        return None
    code = compiler.compile_text(_text())
    _loaded.append(code)
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    return Searchers(
        full_match=prototype(code.address("weft_full_match")),
        replace=prototype(code.address("weft_replace")),
    )


def _text() -> str:
    text = _LOOK + _FULL_MATCH + _FIND_END + _FIND_START + _FIND_GROUPS + _CHARACTER + _REPLACE
    text = re.sub(r"<(ptr|i64) ([a-z ]+)>", _load_word, text)
    text = re.sub(r"<stop (\w+), ([%\w.]+)>", _stop, text)
    for field in ("type", "bytes size", "bytes data"):
        text = text.replace(f"<offset {field}>", str(LAYOUT[field]))
    return text.replace("<slots>", str(pattern_search.SLOTS))


def _load_word(found: re.Match[str]) -> str:
    name = found[2].replace(" ", ".")
    place = f"%{name}.p = getelementptr i64, ptr %job, i64 {JOB.index(found[2])}"
    return f"{place}\n%{name} = load {found[1]}, ptr %{name}.p"


def _stop(found: re.Match[str]) -> str:
    status = getattr(pattern_search, found[1])
    at = f"i64 {JOB.index('status')}", f"i64 {JOB.index('place')}"
    return (
        f"%stop.status.{status} = getelementptr i64, ptr %job, {at[0]}\n"
        f"store i64 {status}, ptr %stop.status.{status}\n"
        f"%stop.place.{status} = getelementptr i64, ptr %job, {at[1]}\n"
        f"store i64 {found[2]}, ptr %stop.place.{status}"
    )


# Where the bytes of a string lie; null if it is none.
_LOOK = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.cttz.i64(i64, i1)

define internal ptr @look(ptr %job, ptr %object) {
entry:
<ptr bytes type>
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %none
ask:
%type.at = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.at
%is.bytes = icmp eq ptr %type, %bytes.type
br i1 %is.bytes, label %bytes, label %none
bytes:
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
ret ptr %data
none:
<stop NOT_BYTES, 0>
ret ptr null
}

define internal i64 @kind_of(ptr %kinds, ptr %data, i64 %i) {
%byte.p = getelementptr i8, ptr %data, i64 %i
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%kind.p = getelementptr i8, ptr %kinds, i64 %wide
%kind = load i8, ptr %kind.p
%out = zext i8 %kind to i64
ret i64 %out
}

define internal i64 @class_of(ptr %classes, ptr %data, i64 %i) {
%byte.p = getelementptr i8, ptr %data, i64 %i
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%class.p = getelementptr i8, ptr %classes, i64 %wide
%class = load i8, ptr %class.p
%out = zext i8 %class to i64
ret i64 %out
}
"""

_FULL_MATCH = """
define void @weft_full_match(ptr %job) {
entry:
<ptr objects>
<i64 at>
<i64 stop>
<ptr results>
<ptr classes>
<i64 border>
<ptr forward>
<ptr forward starts>
%begin.p = getelementptr i32, ptr %forward.starts, i64 3
%begin.row = load i32, ptr %begin.p
%begin = zext i32 %begin.row to i64
br label %string
string:
%k = phi i64 [%at, %entry], [%k.next, %answer]
%more = icmp slt i64 %k, %stop
br i1 %more, label %look, label %done
look:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%data = call ptr @look(ptr %job, ptr %object)
%is.string = icmp ne ptr %data, null
br i1 %is.string, label %start, label %leave
start:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
br label %byte
byte:
%i = phi i64 [0, %start], [%i.next, %live]
%row = phi i64 [%begin, %start], [%row.next, %live]
%inside = icmp slt i64 %i, %size
br i1 %inside, label %step, label %end
step:
%class = call i64 @class_of(ptr %classes, ptr %data, i64 %i)
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %forward, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %live, label %special
live:
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
%i.next = add i64 %i, 1
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %answer, label %missing
end:
%last = add i64 %row, %border
%last.p = getelementptr i32, ptr %forward, i64 %last
%last.v = load i32, ptr %last.p
%found = icmp eq i32 %last.v, -2
%known = icmp ne i32 %last.v, 0
br i1 %known, label %answer, label %missing
answer:
%out = phi i1 [false, %special], [%found, %end]
%out.byte = zext i1 %out to i8
%out.p = getelementptr i8, ptr %results, i64 %k
store i8 %out.byte, ptr %out.p
%k.next = add i64 %k, 1
br label %string
missing:
%needed = phi i64 [%e, %special], [%last, %end]
<stop NEEDS_FORWARD, %needed>
br label %leave
done:
<stop DONE, 0>
br label %leave
leave:
store i64 %k, ptr %at.p
ret void
}
"""

# Where the first match at or behind a place ends: -1 if there is none, -2 if the job has stopped.
_FIND_END = """
define internal i64 @find_end(ptr %job, ptr %data, i64 %size, i64 %from) {
entry:
<ptr classes>
<ptr kinds>
<i64 border>
<ptr forward>
<ptr forward starts>
%is.first = icmp eq i64 %from, 0
br i1 %is.first, label %begin, label %look
look:
%before = sub i64 %from, 1
%kind.before = call i64 @kind_of(ptr %kinds, ptr %data, i64 %before)
br label %begin
begin:
%kind = phi i64 [3, %entry], [%kind.before, %look]
%begin.p = getelementptr i32, ptr %forward.starts, i64 %kind
%begin.row = load i32, ptr %begin.p
%first = zext i32 %begin.row to i64
br label %byte
byte:
%i = phi i64 [%from, %begin], [%i.next, %live]
%row = phi i64 [%first, %begin], [%row.next, %live]
%end = phi i64 [-1, %begin], [%end.next, %live]
%inside = icmp slt i64 %i, %size
br i1 %inside, label %inner, label %step
inner:
%class.inner = call i64 @class_of(ptr %classes, ptr %data, i64 %i)
br label %step
step:
%class = phi i64 [%border, %byte], [%class.inner, %inner]
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %forward, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %live, label %special
live:
%bit = and i32 %v, 1
%is.found = icmp ne i32 %bit, 0
%end.next = select i1 %is.found, i64 %i, i64 %end
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
%i.next = add i64 %i, 1
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %dead, label %missing
dead:
%ends.here = icmp eq i32 %v, -2
%out = select i1 %ends.here, i64 %i, i64 %end
ret i64 %out
missing:
<stop NEEDS_FORWARD, %e>
ret i64 -2
}
"""

# Where the match that ends at a place begins, not before another; -2 if the job has stopped. The
# states that are met are left in `trace`.
_FIND_START = """
define internal i64 @find_start(ptr %job, ptr %data, i64 %size, i64 %from, i64 %end) {
entry:
<ptr classes>
<ptr kinds>
<i64 border>
<ptr back>
<ptr back starts>
<ptr trace>
%is.last = icmp eq i64 %end, %size
br i1 %is.last, label %begin, label %look
look:
%kind.behind = call i64 @kind_of(ptr %kinds, ptr %data, i64 %end)
br label %begin
begin:
%kind = phi i64 [3, %entry], [%kind.behind, %look]
%begin.p = getelementptr i32, ptr %back.starts, i64 %kind
%begin.row = load i32, ptr %begin.p
%first = zext i32 %begin.row to i64
br label %byte
byte:
%i = phi i64 [%end, %begin], [%i.next, %live]
%row = phi i64 [%first, %begin], [%row.next, %live]
%start = phi i64 [-1, %begin], [%start.next, %live]
%trace.at = getelementptr i32, ptr %trace, i64 %i
%row.narrow = trunc i64 %row to i32
store i32 %row.narrow, ptr %trace.at
%i.next = sub i64 %i, 1
%inside = icmp sgt i64 %i, 0
br i1 %inside, label %inner, label %step
inner:
%class.inner = call i64 @class_of(ptr %classes, ptr %data, i64 %i.next)
br label %step
step:
%class = phi i64 [%border, %byte], [%class.inner, %inner]
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %back, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %alive, label %special
alive:
%bit = and i32 %v, 1
%is.found = icmp ne i32 %bit, 0
%start.next = select i1 %is.found, i64 %i, i64 %start
%goes.on = icmp sgt i64 %i, %from
br i1 %goes.on, label %live, label %finish
live:
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %dead, label %missing
dead:
%begins.here = icmp eq i32 %v, -2
%start.dead = select i1 %begins.here, i64 %i, i64 %start
br label %finish
finish:
%out = phi i64 [%start.next, %alive], [%start.dead, %dead]
%is.known = icmp sge i64 %out, %from
br i1 %is.known, label %fine, label %wrong
fine:
ret i64 %out
missing:
<stop NEEDS_BACK, %e>
ret i64 -2
wrong:
<stop FAILED, %end>
ret i64 -2
}
"""

# Where groups begin and end, along the states in `trace`; whether the job goes on.
_FIND_GROUPS = """
define internal i1 @find_groups(ptr %job, ptr %data, i64 %start, i64 %end, ptr %slots) {
entry:
<ptr kinds>
<i64 shift>
<ptr walk>
<i64 walk shift>
<ptr trace>
br label %clear
clear:
%s = phi i64 [0, %entry], [%s.next, %clear]
%s.p = getelementptr i64, ptr %slots, i64 %s
store i64 -1, ptr %s.p
%s.next = add i64 %s, 1
%s.more = icmp slt i64 %s.next, <slots>
br i1 %s.more, label %clear, label %cleared
cleared:
%is.first = icmp eq i64 %start, 0
br i1 %is.first, label %begin, label %look
look:
%before = sub i64 %start, 1
%kind.before = call i64 @kind_of(ptr %kinds, ptr %data, i64 %before)
br label %begin
begin:
%kind = phi i64 [3, %cleared], [%kind.before, %look]
%first = add i64 %kind, 2
br label %place
place:
%i = phi i64 [%start, %begin], [%i.next, %go.on]
%state = phi i64 [%first, %begin], [%following, %go.on]
%inside = icmp sle i64 %i, %end
br i1 %inside, label %step, label %wrong
step:
%met.p = getelementptr i32, ptr %trace, i64 %i
%met.row = load i32, ptr %met.p
%met.wide = zext i32 %met.row to i64
%met = lshr i64 %met.wide, %shift
%row = shl i64 %state, %walk.shift
%e = add i64 %row, %met
%e.p = getelementptr i64, ptr %walk, i64 %e
%v = load i64, ptr %e.p
%is.known = icmp ne i64 %v, 0
br i1 %is.known, label %note, label %missing
note:
%following = and i64 %v, 4294967295
%all = lshr i64 %v, 32
br label %slot
slot:
%left = phi i64 [%all, %note], [%left.next, %noted]
%some = icmp ne i64 %left, 0
br i1 %some, label %noted, label %moved
noted:
%lowest = call i64 @llvm.cttz.i64(i64 %left, i1 true)
%slot.p = getelementptr i64, ptr %slots, i64 %lowest
store i64 %i, ptr %slot.p
%less = sub i64 %left, 1
%left.next = and i64 %left, %less
br label %slot
moved:
%is.end = icmp eq i64 %following, 1
br i1 %is.end, label %done, label %go.on
go.on:
%i.next = add i64 %i, 1
br label %place
done:
ret i1 true
missing:
<stop NEEDS_WALK, %e>
ret i1 false
wrong:
<stop FAILED, %i>
ret i1 false
}
"""

# How many bytes the character at the front of some has; one if it is none. As for RE2, half a
# surrogate is a character here.
_CHARACTER = """
define internal i64 @character(ptr %data, i64 %left) {
entry:
%is.some = icmp sgt i64 %left, 1
br i1 %is.some, label %look, label %one
look:
%b0 = load i8, ptr %data
%is.lead = icmp uge i8 %b0, 194
%is.valid = icmp ule i8 %b0, 244
%is.long = and i1 %is.lead, %is.valid
br i1 %is.long, label %count, label %one
count:
%is.three = icmp uge i8 %b0, 224
%is.four = icmp uge i8 %b0, 240
%three = zext i1 %is.three to i64
%four = zext i1 %is.four to i64
%size.2 = add i64 2, %three
%size = add i64 %size.2, %four
%fits = icmp sle i64 %size, %left
br i1 %fits, label %second, label %one
second:
%b1.p = getelementptr i8, ptr %data, i64 1
%b1 = load i8, ptr %b1.p
%is.e0 = icmp eq i8 %b0, 224
%is.f0 = icmp eq i8 %b0, 240
%is.f4 = icmp eq i8 %b0, 244
%low.e0 = select i1 %is.e0, i8 160, i8 128
%low = select i1 %is.f0, i8 144, i8 %low.e0
%high = select i1 %is.f4, i8 143, i8 191
%b1.low = icmp uge i8 %b1, %low
%b1.high = icmp ule i8 %b1, %high
%b1.fine = and i1 %b1.low, %b1.high
br i1 %b1.fine, label %rest, label %one
rest:
%i = phi i64 [2, %second], [%i.next, %another]
%is.more = icmp slt i64 %i, %size
br i1 %is.more, label %another, label %whole
another:
%b.p = getelementptr i8, ptr %data, i64 %i
%b = load i8, ptr %b.p
%top = and i8 %b, 192
%b.fine = icmp eq i8 %top, 128
%i.next = add i64 %i, 1
br i1 %b.fine, label %rest, label %one
whole:
ret i64 %size
one:
ret i64 1
}
"""

_REPLACE = """
define internal i64 @append(ptr %job, i64 %at, ptr %text, i64 %size) {
entry:
<ptr buffer>
<i64 capacity>
%end = add i64 %at, %size
%fits = icmp sle i64 %end, %capacity
br i1 %fits, label %copy, label %full
copy:
%place = getelementptr i8, ptr %buffer, i64 %at
call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %text, i64 %size, i1 false)
ret i64 %end
full:
<stop NEEDS_BUFFER, %end>
ret i64 -1
}

; Appends what stands for a match; -1 if the job has stopped.
define internal i64 @append_parts(ptr %job, i64 %at, ptr %data, ptr %slots) {
entry:
<ptr parts>
<i64 part count>
br label %part
part:
%k = phi i64 [0, %entry], [%k.next, %appended]
%out = phi i64 [%at, %entry], [%out.next, %appended]
%more = icmp slt i64 %k, %part.count
br i1 %more, label %look, label %done
look:
%k.two = shl i64 %k, 1
%what.p = getelementptr i64, ptr %parts, i64 %k.two
%size.p = getelementptr i64, ptr %what.p, i64 1
%text = load ptr, ptr %what.p
%text.size = load i64, ptr %size.p
%is.text = icmp sge i64 %text.size, 0
br i1 %is.text, label %append, label %group
group:
%number = load i64, ptr %what.p
%number.two = shl i64 %number, 1
%first.p = getelementptr i64, ptr %slots, i64 %number.two
%last.p = getelementptr i64, ptr %first.p, i64 1
%first = load i64, ptr %first.p
%last = load i64, ptr %last.p
%has.first = icmp sge i64 %first, 0
%has.last = icmp sge i64 %last, %first
%has.group = and i1 %has.first, %has.last
%length = sub i64 %last, %first
%group.size = select i1 %has.group, i64 %length, i64 0
%group.first = select i1 %has.group, i64 %first, i64 0
%group.text = getelementptr i8, ptr %data, i64 %group.first
br label %append
append:
%source = phi ptr [%text, %look], [%group.text, %group]
%size = phi i64 [%text.size, %look], [%group.size, %group]
%out.next = call i64 @append(ptr %job, i64 %out, ptr %source, i64 %size)
%fits = icmp sge i64 %out.next, 0
br i1 %fits, label %appended, label %failed
appended:
%k.next = add i64 %k, 1
br label %part
done:
ret i64 %out
failed:
ret i64 -1
}

; A string with its matches replaced, or itself; null if the job has stopped.
define internal ptr @replaced(ptr %job, ptr %object, ptr %data, i64 %size, ptr %slots) {
entry:
<i64 trace capacity>
<i64 has groups>
<i64 all matches>
%wants.groups = icmp ne i64 %has.groups, 0
%wants.all = icmp ne i64 %all.matches, 0
%slot.end = getelementptr i64, ptr %slots, i64 1
%trace.size = add i64 %size, 1
%traced = icmp sle i64 %trace.size, %trace.capacity
br i1 %traced, label %search, label %longer
longer:
<stop NEEDS_TRACE, %trace.size>
ret ptr null

search:
%p = phi i64 [0, %entry], [%p.skipped, %skipped], [%end, %again]
%out = phi i64 [0, %entry], [%out.skipped, %skipped], [%out.parts, %again]
%last = phi i64 [-1, %entry], [%last, %skipped], [%end, %again]
%inside = icmp sle i64 %p, %size
br i1 %inside, label %find, label %finish
find:
%end = call i64 @find_end(ptr %job, ptr %data, i64 %size, i64 %p)
%is.match = icmp sge i64 %end, 0
br i1 %is.match, label %found, label %not.found
not.found:
%is.stopped = icmp eq i64 %end, -2
br i1 %is.stopped, label %failed, label %finish
found:
%start = call i64 @find_start(ptr %job, ptr %data, i64 %size, i64 %p, i64 %end)
%has.start = icmp sge i64 %start, 0
br i1 %has.start, label %choose, label %failed
choose:
%is.empty = icmp eq i64 %start, %end
%is.behind = icmp eq i64 %end, %last
%is.skipped = and i1 %is.empty, %is.behind
%here = getelementptr i8, ptr %data, i64 %p
br i1 %is.skipped, label %skip, label %take

skip:
%rest = sub i64 %size, %p
%width = call i64 @character(ptr %here, i64 %rest)
%is.short = icmp slt i64 %rest, %width
%skip.size = select i1 %is.short, i64 %rest, i64 %width
%out.skipped = call i64 @append(ptr %job, i64 %out, ptr %here, i64 %skip.size)
%p.skipped = add i64 %p, %width
%skip.fits = icmp sge i64 %out.skipped, 0
br i1 %skip.fits, label %skipped, label %failed
skipped:
br label %search

take:
%between = sub i64 %start, %p
%out.between = call i64 @append(ptr %job, i64 %out, ptr %here, i64 %between)
%between.fits = icmp sge i64 %out.between, 0
br i1 %between.fits, label %match, label %failed
match:
br i1 %wants.groups, label %groups, label %parts
groups:
%has.all = call i1 @find_groups(ptr %job, ptr %data, i64 %start, i64 %end, ptr %slots)
br i1 %has.all, label %parts, label %failed
parts:
store i64 %start, ptr %slots
store i64 %end, ptr %slot.end
%out.parts = call i64 @append_parts(ptr %job, i64 %out.between, ptr %data, ptr %slots)
%parts.fit = icmp sge i64 %out.parts, 0
br i1 %parts.fit, label %replaced, label %failed
replaced:
br i1 %wants.all, label %again, label %finish
again:
br label %search

finish:
%p.last = phi i64 [%p, %search], [%p, %not.found], [%end, %replaced]
%out.last = phi i64 [%out, %search], [%out, %not.found], [%out.parts, %replaced]
%matched = phi i64 [%last, %search], [%last, %not.found], [%end, %replaced]
%is.changed = icmp sge i64 %matched, 0
br i1 %is.changed, label %tail, label %same
same:
<ptr incref>
call void %incref(ptr %object)
ret ptr %object
tail:
%tail.size = sub i64 %size, %p.last
%is.tail = icmp sgt i64 %tail.size, 0
%tail.bytes = select i1 %is.tail, i64 %tail.size, i64 0
%tail.at = getelementptr i8, ptr %data, i64 %p.last
%total = call i64 @append(ptr %job, i64 %out.last, ptr %tail.at, i64 %tail.bytes)
%tail.fits = icmp sge i64 %total, 0
br i1 %tail.fits, label %make, label %failed
make:
<ptr new bytes>
<ptr buffer>
%made = call ptr %new.bytes(ptr %buffer, i64 %total)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %ready, label %no.memory
ready:
ret ptr %made
no.memory:
<stop FAILED, %total>
br label %failed
failed:
ret ptr null
}

define void @weft_replace(ptr %job) {
entry:
%slots = alloca [<slots> x i64], align 16
<ptr objects>
<i64 at>
<i64 stop>
<ptr results>
<ptr decref>
br label %string
string:
%k = phi i64 [%at, %entry], [%k.next, %store]
%more = icmp slt i64 %k, %stop
br i1 %more, label %look, label %done
look:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%data = call ptr @look(ptr %job, ptr %object)
%is.string = icmp ne ptr %data, null
br i1 %is.string, label %replace, label %leave
replace:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
%new = call ptr @replaced(ptr %job, ptr %object, ptr %data, i64 %size, ptr %slots)
%is.new = icmp ne ptr %new, null
br i1 %is.new, label %store, label %leave
store:
%result.p = getelementptr ptr, ptr %results, i64 %k
%old = load ptr, ptr %result.p
store ptr %new, ptr %result.p
call void %decref(ptr %old)
%k.next = add i64 %k, 1
br label %string
done:
<stop DONE, 0>
br label %leave
leave:
store i64 %k, ptr %at.p
ret void
}
"""
