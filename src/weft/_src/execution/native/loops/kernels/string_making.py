"""Strings made of strings one by one, as LLVM IR: parts of them, other letters, several joined.

In the text `<ptr name>` loads a word of the job (see `ops/strings/packed.py`), and loops are
written as in `native/written_loops.py`. A function that meets what is no bytes object, or a place
that does not exist, leaves with 1: Python does the same, and tells what is wrong.
"""

from __future__ import annotations

# The part from "starts" on of "sizes" bytes, both for each string or, with a step of 0, for all.
# A negative start counts from the end, a negative size means all that is left.
_CUT = """
define internal i64 @asked(ptr %numbers, i64 %k, i64 %step) alwaysinline {
%place = mul i64 %k, %step
%number.p = getelementptr i64, ptr %numbers, i64 %place
%number = load i64, ptr %number.p
ret i64 %number
}

; The bytes from %begin to %end; the same object if these are all.
define internal i64 @keep_part(ptr %job, i64 %k, ptr %data, i64 %begin, i64 %end) alwaysinline {
entry:
%whole = call i64 @size_of(ptr %job, i64 %k)
%size = sub i64 %end, %begin
%is.whole = icmp eq i64 %size, %whole
br i1 %is.whole, label %same, label %part
same:
%kept = call i64 @keep_same(ptr %job, i64 %k)
ret i64 %kept
part:
%from = getelementptr i8, ptr %data, i64 %begin
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
}

define internal i64 @cut_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
<ptr starts>
<ptr sizes>
<i64 step>
%start = call i64 @asked(ptr %starts, i64 %k, i64 %step)
%length = call i64 @asked(ptr %sizes, i64 %k, i64 %step)
%is.back = icmp slt i64 %start, 0
%from.end = add i64 %start, %size
%begin = select i1 %is.back, i64 %from.end, i64 %start
%is.inside = icmp ule i64 %begin, %size
br i1 %is.inside, label %part, label %other
part:
%left = sub i64 %size, %begin
; A negative length is a very large one here.
%is.less = icmp ult i64 %length, %left
%count = select i1 %is.less, i64 %length, i64 %left
%end = add i64 %begin, %count
%status = call i64 @keep_part(ptr %job, i64 %k, ptr %data, i64 %begin, i64 %end)
ret i64 %status
other:
ret i64 1
}
"""

# The same, counted in characters of UTF-8: bytes that are none of 0x80 to 0xbf begin one.
_CUT_CHARACTERS = """
define internal i1 @begins(ptr %data, i64 %place) alwaysinline {
%byte.p = getelementptr i8, ptr %data, i64 %place
%byte = load i8, ptr %byte.p
%top = and i8 %byte, 192
%begins = icmp ne i8 %top, 128
ret i1 %begins
}

; Where the character of a number begins, counted from a place on; the end for the one behind the
; last, -1 for those after it.
define internal i64 @place_of(ptr %data, i64 %size, i64 %from, i64 %number) {
entry:
br label %next
next:
%i = phi i64 [%from, %entry], [%i.next, %pass]
%left = phi i64 [%number, %entry], [%left.next, %pass]
%more = icmp slt i64 %i, %size
br i1 %more, label %look, label %end
look:
%begins = call i1 @begins(ptr %data, i64 %i)
%is.last = icmp eq i64 %left, 0
%is.it = and i1 %begins, %is.last
br i1 %is.it, label %found, label %pass
pass:
%one = zext i1 %begins to i64
%left.next = sub i64 %left, %one
%i.next = add i64 %i, 1
br label %next
found:
ret i64 %i
end:
%is.end = icmp eq i64 %left, 0
%out = select i1 %is.end, i64 %size, i64 -1
ret i64 %out
}

define internal i64 @cut_characters_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
<ptr starts>
<ptr sizes>
<i64 step>
var i64 %number = 0
var i64 %end = 0
%start = call i64 @asked(ptr %starts, i64 %k, i64 %step)
%length = call i64 @asked(ptr %sizes, i64 %k, i64 %step)
store i64 %start, ptr %number
%is.back = icmp slt i64 %start, 0
br i1 %is.back, label %count, label %counted
count:
for %i < %size
  %begins = call i1 @begins(ptr %data, i64 %i)
  %one = zext i1 %begins to i64
  %so.far = load i64, ptr %number
  %sum = add i64 %so.far, %one
  store i64 %sum, ptr %number
end
br label %counted
counted:
%first = load i64, ptr %number
%is.some = icmp sge i64 %first, 0
br i1 %is.some, label %find, label %other
find:
%begin = call i64 @place_of(ptr %data, i64 %size, i64 0, i64 %first)
%is.inside = icmp sge i64 %begin, 0
br i1 %is.inside, label %find.end, label %other
find.end:
store i64 %size, ptr %end
%is.part = icmp sge i64 %length, 0
br i1 %is.part, label %limit, label %part
limit:
%found = call i64 @place_of(ptr %data, i64 %size, i64 %begin, i64 %length)
%is.found = icmp sge i64 %found, 0
%last = select i1 %is.found, i64 %found, i64 %size
store i64 %last, ptr %end
br label %part
part:
%behind = load i64, ptr %end
%status = call i64 @keep_part(ptr %job, i64 %k, ptr %data, i64 %begin, i64 %behind)
ret i64 %status
other:
ret i64 1
}
"""

# The strings without white space at both ends.
_STRIP = """
define internal i1 @is_space(ptr %data, i64 %place) alwaysinline {
%byte.p = getelementptr i8, ptr %data, i64 %place
%byte = load i8, ptr %byte.p
%is.blank = icmp eq i8 %byte, 32
%from.tab = sub i8 %byte, 9
%is.control = icmp ule i8 %from.tab, 4
%is.space = or i1 %is.blank, %is.control
ret i1 %is.space
}

define internal i64 @strip_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
br label %front
front:
%begin = phi i64 [0, %entry], [%begin.next, %front.space]
%is.left = icmp slt i64 %begin, %size
br i1 %is.left, label %front.look, label %back
front.look:
%is.front = call i1 @is_space(ptr %data, i64 %begin)
br i1 %is.front, label %front.space, label %back
front.space:
%begin.next = add i64 %begin, 1
br label %front
back:
%end = phi i64 [%size, %front], [%size, %front.look], [%last, %back.look]
%last = sub i64 %end, 1
%is.more = icmp sgt i64 %end, %begin
br i1 %is.more, label %back.look, label %part
back.look:
%is.back = call i1 @is_space(ptr %data, i64 %last)
br i1 %is.back, label %back, label %part
part:
%status = call i64 @keep_part(ptr %job, i64 %k, ptr %data, i64 %begin, i64 %end)
ret i64 %status
}
"""

# The strings with every byte looked up in the table "data"; the same object if none changes.
_TRANSLATE = """
define internal i8 @translated(ptr %table, i8 %byte) alwaysinline {
%number = zext i8 %byte to i64
%entry.p = getelementptr i8, ptr %table, i64 %number
%out = load i8, ptr %entry.p
ret i8 %out
}

define internal i64 @translate_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {
entry:
<ptr data>
br label %next
next:
%n = phi i64 [0, %entry], [%n.next, %look]
%more = icmp slt i64 %n, %size
br i1 %more, label %look, label %same
look:
%letter.p = getelementptr i8, ptr %text, i64 %n
%letter = load i8, ptr %letter.p
%instead = call i8 @translated(ptr %data, i8 %letter)
%n.next = add i64 %n, 1
%is.same = icmp eq i8 %letter, %instead
br i1 %is.same, label %next, label %make
same:
%kept = call i64 @keep_same(ptr %job, i64 %k)
ret i64 %kept
make:
%new = call ptr @new_string(ptr %job, i64 %size)
%is.made = icmp ne ptr %new, null
br i1 %is.made, label %fill, label %done
fill:
%to = getelementptr i8, ptr %new, i64 <offset bytes data>
for %i < %size
  %old.p = getelementptr i8, ptr %text, i64 %i
  %old = load i8, ptr %old.p
  %put = call i8 @translated(ptr %data, i8 %old)
  %put.p = getelementptr i8, ptr %to, i64 %i
  store i8 %put, ptr %put.p
end
br label %done
done:
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
}
"""

_MOST = 1 << 62  # bytes, so that sums are numbers; Python refuses fewer

# Strings from several, with "data" of "room" bytes between them. Either from columns: for each the
# address of its objects, and how many further the next one is. Or from "sizes" objects that stand
# from "starts" on, of which there are "target room" in all.
_IN_COLUMNS = """
define internal i64 @join_count(ptr %job, i64 %k) alwaysinline {
<i64 column count>
ret i64 %column.count
}

define internal ptr @join_part(ptr %job, i64 %c, i64 %k) alwaysinline {
<ptr columns>
%pair = shl i64 %c, 1
%objects.p = getelementptr i64, ptr %columns, i64 %pair
%step.p = getelementptr i64, ptr %objects.p, i64 1
%objects = load ptr, ptr %objects.p
%step = load i64, ptr %step.p
%row = mul i64 %k, %step
%object.p = getelementptr ptr, ptr %objects, i64 %row
%object = load ptr, ptr %object.p
ret ptr %object
}
"""

_IN_RUNS = """
define internal i64 @join_runs_count(ptr %job, i64 %k) alwaysinline {
<ptr starts>
<ptr sizes>
<i64 target room>
%start.p = getelementptr i64, ptr %starts, i64 %k
%size.p = getelementptr i64, ptr %sizes, i64 %k
%start = load i64, ptr %start.p
%size = load i64, ptr %size.p
%fits = call i1 @fits(i64 %start, i64 %size, i64 %target.room)
%count = select i1 %fits, i64 %size, i64 -1
ret i64 %count
}

define internal ptr @join_runs_part(ptr %job, i64 %c, i64 %k) alwaysinline {
<ptr starts>
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%place = add i64 %start, %c
%object = call ptr @object_at(ptr %job, i64 %place)
ret ptr %object
}
"""

_JOIN = f"""
define internal i64 @NAME_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr data>
<i64 room>
%count = call i64 @NAME_count(ptr %job, i64 %k)
%is.none = icmp eq i64 %count, 0
%less = sub i64 %count, 1
%gaps = select i1 %is.none, i64 0, i64 %less
%between = mul i64 %gaps, %room
var i64 %total = %between
%is.run = icmp sge i64 %count, 0
br i1 %is.run, label %add, label %other
add:
for %c < %count
  %object = call ptr @NAME_part(ptr %job, i64 %c, i64 %k)
  %text = call ptr @text_of(ptr %job, ptr %object)
  %is.bytes = icmp ne ptr %text, null
  br i1 %is.bytes, label %measure, label %other
  measure:
  %size = call i64 @object_size(ptr %object)
  %so.far = load i64, ptr %total
  %sum = add i64 %so.far, %size
  %is.sane = icmp ult i64 %sum, {_MOST}
  br i1 %is.sane, label %measured, label %full
  measured:
  store i64 %sum, ptr %total
end
%all = load i64, ptr %total
%new = call ptr @new_string(ptr %job, i64 %all)
%is.made = icmp ne ptr %new, null
br i1 %is.made, label %fill, label %done
fill:
%begin = getelementptr i8, ptr %new, i64 <offset bytes data>
var ptr %at = %begin
for %d < %count
  %to = load ptr, ptr %at
  %is.first = icmp eq i64 %d, 0
  br i1 %is.first, label %put, label %separate
  separate:
  call void @copy(ptr %to, ptr %data, i64 %room)
  %further = getelementptr i8, ptr %to, i64 %room
  br label %put
  put:
  %here = phi ptr [%to, %d.body], [%further, %separate]
  %part = call ptr @NAME_part(ptr %job, i64 %d, i64 %k)
  %part.data = getelementptr i8, ptr %part, i64 <offset bytes data>
  %part.size = call i64 @object_size(ptr %part)
  call void @copy(ptr %here, ptr %part.data, i64 %part.size)
  %behind = getelementptr i8, ptr %here, i64 %part.size
  store ptr %behind, ptr %at
end
br label %done
done:
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
other:
ret i64 1
full:
ret i64 2
}}
"""

# Strings of segments, one behind the other, in three steps: how large the result of each is (-1 as
# long as there is nothing in it), objects of these sizes, and their bytes. "targets" tells the
# segment of each string, there are "target room"; empty strings at the front leave no trace.
_SEGMENTS = f"""
define internal i64 @measure_segments_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {{
entry:
<ptr targets>
<ptr sizes>
<i64 room>
<i64 target room>
%segment.p = getelementptr i64, ptr %targets, i64 %k
%segment = load i64, ptr %segment.p
%is.inside = icmp ult i64 %segment, %target.room
br i1 %is.inside, label %measure, label %other
measure:
%total.p = getelementptr i64, ptr %sizes, i64 %segment
%total = load i64, ptr %total.p
%is.first = icmp slt i64 %total, 0
%is.empty = icmp eq i64 %size, 0
%leaves.none = and i1 %is.first, %is.empty
br i1 %leaves.none, label %done, label %add
add:
%separated = add i64 %total, %room
%before = select i1 %is.first, i64 0, i64 %separated
%sum = add i64 %before, %size
%is.sane = icmp ult i64 %sum, {_MOST}
br i1 %is.sane, label %note, label %full
note:
store i64 %sum, ptr %total.p
br label %done
done:
ret i64 0
other:
ret i64 1
full:
ret i64 2
}}

define internal i64 @make_segments_one(ptr %job, i64 %k) alwaysinline {{
entry:
<ptr sizes>
%size.p = getelementptr i64, ptr %sizes, i64 %k
%noted = load i64, ptr %size.p
%is.some = icmp sgt i64 %noted, 0
%size = select i1 %is.some, i64 %noted, i64 0
%new = call ptr @new_string(ptr %job, i64 %size)
%status = call i64 @keep(ptr %job, i64 %k, ptr %new)
ret i64 %status
}}

; "starts" is how far each has been written, -1 at first, and "target" the array of them.
define internal i64 @fill_segments_of(ptr %job, i64 %k, ptr %text, i64 %size) alwaysinline {{
entry:
<ptr targets>
<ptr target>
<ptr starts>
<ptr data>
<i64 room>
<i64 target room>
%segment.p = getelementptr i64, ptr %targets, i64 %k
%segment = load i64, ptr %segment.p
%is.inside = icmp ult i64 %segment, %target.room
br i1 %is.inside, label %measure, label %other
measure:
%start.p = getelementptr i64, ptr %starts, i64 %segment
%start = load i64, ptr %start.p
%is.first = icmp slt i64 %start, 0
%is.empty = icmp eq i64 %size, 0
%leaves.none = and i1 %is.first, %is.empty
br i1 %leaves.none, label %done, label %check
check:
%gap = select i1 %is.first, i64 0, i64 %room
%from = select i1 %is.first, i64 0, i64 %start
%place = add i64 %from, %gap
%end = add i64 %place, %size
%object.p = getelementptr ptr, ptr %target, i64 %segment
%object = load ptr, ptr %object.p
%whole = call i64 @object_size(ptr %object)
%fits = icmp ule i64 %end, %whole
br i1 %fits, label %write, label %other
write:
%bytes = getelementptr i8, ptr %object, i64 <offset bytes data>
%gap.to = getelementptr i8, ptr %bytes, i64 %from
call void @copy(ptr %gap.to, ptr %data, i64 %gap)
%to = getelementptr i8, ptr %bytes, i64 %place
call void @copy(ptr %to, ptr %text, i64 %size)
store i64 %end, ptr %start.p
br label %done
done:
ret i64 0
other:
ret i64 1
}}
"""

# How many characters of UTF-8 each string has: bytes that begin one.
_COUNT = """
define internal i64 @count_characters_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
<ptr sizes>
var i64 %count = 0
for %i < %size
  %begins = call i1 @begins(ptr %data, i64 %i)
  %one = zext i1 %begins to i64
  %so.far = load i64, ptr %count
  %sum = add i64 %so.far, %one
  store i64 %sum, ptr %count
end
%all = load i64, ptr %count
%out.p = getelementptr i64, ptr %sizes, i64 %k
store i64 %all, ptr %out.p
ret i64 0
}
"""

OF_STRINGS = (
    "cut", "cut_characters", "strip", "translate", "count_characters", "measure_segments",
    "fill_segments",
)  # fmt: skip
OTHERS = ("join", "join_runs", "make_segments")
TEXT = "".join(
    [
        *[_CUT, _CUT_CHARACTERS, _STRIP, _TRANSLATE, _COUNT, _SEGMENTS],
        *[_IN_COLUMNS, _JOIN.replace("NAME", "join")],
        *[_IN_RUNS, _JOIN.replace("NAME", "join_runs")],
    ]
)
